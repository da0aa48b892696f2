# SPDX-License-Identifier: MIT
"""Every form of SOURCE: cache folder, bare cubins, ptxas:, triton:, and what each refuses."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "apps"))
import fake_triton  # noqa: E402
from whole_tool import DATA, FAMILIES, Tool  # noqa: E402

PTXAS = next((p for p in (shutil.which("ptxas"), "/usr/local/cuda/bin/ptxas",
                          os.path.join(sys.argv[2], "cuda/bin/ptxas")) if p and os.path.exists(p)),
             None)
tool = Tool(sys.argv[1])

# ptxas as it was before PTX 8.5: refuses newer text in ptxas's own words.
OLD_PTXAS = """#!/bin/sh
case "$*" in --version) exec "{ptxas}" --version ;; esac
for last; do :; done
if ! grep -q '^.version 8.0' "$last"; then
	echo "ptxas $last, line 5; fatal   : Unsupported .version 8.7; current version is '8.0'"
	exit 255
fi
exec "{ptxas}" "$@"
"""
# Fails for one kernel only.
PICKY_PTXAS = """#!/bin/sh
for last; do :; done
if [ -e "$last" ] && grep -q 'entry transpose' "$last"; then
	echo "ptxas fatal   : no transposing today"
	exit 3
fi
exec "{ptxas}" "$@"
"""


def script(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.format(ptxas=PTXAS))
    os.chmod(path, 0o755)
    return path


def replay(a, source, *options, status=0):
    return tool.run([tool.kernelab, "replay", a, "--b", source, *options], status)


def show_b(done):
    """Side B as the terminal report has it."""
    return next((line for line in done.stdout.splitlines() if line.startswith("B: ")), "")


def check_tested(families):
    """Every launch was replayed. (Equal PTX with other machine code is unproven without a GPU.)"""
    for name, family in families.items():
        c = family["coverage"]
        tool.expect(c["configs_tested"] == c["configs"] > 0 and c["faithful"] == c["launches"] > 0,
                    f"{name}: {c}")


def check_folders(tmp, a):
    report, families, _ = tool.diff(a, os.path.join(DATA, "a"), f"{tmp}/same.json", 0)
    tool.check_proved(families)
    tool.expect(set(families) == FAMILIES, f"cache folder: families {sorted(families)}")
    tool.expect(all(f["bucket"] == 1 for f in families.values()), "same folder: not bitwise")

    # 3.7.1 prints other IR for some: of those the geometry is not known, the others are tested.
    report, families, done = tool.diff(a, os.path.join(DATA, "b"), f"{tmp}/b.json", 1)
    untested = {n for n, f in families.items() if not f["coverage"]["configs_tested"]}
    text = json.dumps(report)
    tool.expect(0 < len(untested) < len(families), f"other folder: untested {untested}")
    tool.expect("B geometry unknown: its source differs" in text, "no reason for an unknown geometry")

    # Cubins without anything beside them: their recovered PTX tells the configs of matmul apart.
    bare = f"{tmp}/bare"
    os.mkdir(bare)
    for i, (folder, _, names) in enumerate(os.walk(os.path.join(DATA, "a"))):
        for name in names:
            if name.endswith(".cubin"):
                shutil.copy(os.path.join(folder, name), f"{bare}/{i}-{name}")
    _, families, _ = tool.diff(a, bare, f"{tmp}/bare.json", 0)
    tool.check_proved(families)

    done = tool.run([tool.kernelab, "import", bare, "-o", f"{tmp}/bare.klab"], 0)
    tool.expect("18 cubins, 0 with metadata" in done.stderr, done.stderr)
    tool.run([tool.kernelab, "verify", f"{tmp}/bare.klab"], 0)
    listed = tool.run([tool.kernelab, "ls", "--json", f"{tmp}/bare.klab"], 0)
    names = {f["name"] for f in json.loads(listed.stdout)["families"]}
    tool.expect(names == FAMILIES, f"imported: {sorted(names)}")
    _, families, _ = tool.diff(a, f"{tmp}/bare.klab", f"{tmp}/imported.json", 0)
    tool.check_proved(families)

    with open(f"{bare}/junk.cubin", "wb") as f:
        f.write(b"\x7fELF junk")
    done = tool.run([tool.kernelab, "import", bare, "-o", f"{tmp}/junk.klab"], 2)
    tool.expect("junk.cubin" in done.stderr, done.stderr)
    tool.run([tool.kernelab, "import", bare, "-o", f"{tmp}/junk.klab"], 2)  # exists
    os.mkdir(f"{tmp}/empty")
    done = tool.run([tool.kernelab, "import", f"{tmp}/empty", "-o", f"{tmp}/none.klab"], 2)
    tool.expect("no readable .cubin" in done.stderr and not os.path.exists(f"{tmp}/none.klab"),
                done.stderr)


def check_ptxas(tmp, a):
    done = replay(a, "ptxas:/nonexistent/ptxas", "--dry-run", status=2)
    tool.expect("/nonexistent/ptxas" in done.stderr, done.stderr)
    done = replay(a, "ptxas:", "--dry-run", status=2)
    tool.expect("ptxas:PATH" in done.stderr, done.stderr)
    if not PTXAS:
        print("no ptxas: what needs one is left out")
        return
    done = replay(a, f"ptxas:{PTXAS},--bogus", "--dry-run", status=2)
    tool.expect("none of" in done.stderr and "bogus" in done.stderr, done.stderr)

    # The same PTX on the software device: nothing may differ, and the flags are on record.
    result = f"{tmp}/ptxas.klab"
    replay(a, f"ptxas:{PTXAS},-O1,--fmad=false", "-o", result, "--device", "soft")
    done = tool.run([tool.kernelab, "analyze", result, "--json", f"{tmp}/ptxas.json"], 1)
    tool.expect("-O1 --fmad=false" in show_b(done), done.stdout)
    with open(f"{tmp}/ptxas.json", encoding="utf-8") as f:
        report = json.load(f)
    check_tested({f["name"]: f for f in report["families"]})
    configs = [c for f in report["families"] for c in f["configs"]]
    tool.expect(all(c["pairing"] == "exact" and c["same_ptx"] for c in configs), "not the same PTX")
    tool.expect(not all(c["same_code"] for c in configs), "-O1 changed no machine code")

    # A ptxas that reads older PTX only.
    old = script(f"{tmp}/old-ptxas", OLD_PTXAS)
    result = f"{tmp}/old.klab"
    replay(a, f"ptxas:{old}", "-o", result, "--device", "soft", "--family", "^(adam|transpose)$")
    tool.run([tool.kernelab, "analyze", result, "--json", f"{tmp}/old.json"], 1)
    with open(f"{tmp}/old.json", encoding="utf-8") as f:
        families = {f["name"]: f for f in json.load(f)["families"]}
    check_tested(families)
    tool.expect(set(families) == {"adam", "transpose"}, f"--family: {sorted(families)}")

    # What it refuses is untested with its words; the rest is tested.
    picky = script(f"{tmp}/picky-ptxas", PICKY_PTXAS)
    done = replay(a, f"ptxas:{picky}", "--dry-run")
    lines = [line for line in done.stdout.splitlines() if "no transposing today" in line]
    tool.expect(len(lines) == 1 and lines[0].startswith("transpose"), done.stdout)
    tool.expect("A and B" in done.stdout, done.stdout)


def check_triton(tmp, a):
    done = replay(a, "triton:/nonexistent/python", "--dry-run", status=2)
    tool.expect("/nonexistent/python" in done.stderr, done.stderr)
    done = replay(a, "triton:", "--dry-run", status=2)
    tool.expect("triton:PYTHON" in done.stderr, done.stderr)
    os.environ.update(fake_triton.make(f"{tmp}/fake", os.path.join(DATA, "a")))
    result = f"{tmp}/triton.klab"
    replay(a, f"triton:{sys.executable}", "-o", result, "--device", "soft")
    done = tool.run([tool.kernelab, "analyze", result, "--json", f"{tmp}/triton.json"], 1)
    tool.expect("triton 9.9.0+git0123456789ab, commit 0123456789ab" in show_b(done), done.stdout)
    with open(f"{tmp}/triton.json", encoding="utf-8") as f:
        text = f.read()
    families = {f["name"]: f for f in json.loads(text)["families"]}
    for name, words in ("adam", "the compiler ended by signal 6"), ("transpose", "no transposing in"):
        family = families.pop(name)
        tool.expect(family["coverage"]["configs_tested"] == 0 and words in json.dumps(family),
                    f"{name}: {family}")
    tool.check_proved(families)
    tool.expect(all(f["bucket"] == 1 for f in families.values()), "equal cubins: not bitwise")


with tempfile.TemporaryDirectory(prefix="kernelab-sides-") as scratch:
    os.environ["TMPDIR"] = f"{scratch}/tmp"
    os.mkdir(f"{scratch}/tmp")
    tool.capture(f"{scratch}/a", "a", steps=1)
    check_folders(scratch, f"{scratch}/a")
    check_ptxas(scratch, f"{scratch}/a")
    check_triton(scratch, f"{scratch}/a")
    tool.expect(not os.listdir(f"{scratch}/tmp"), f"left over: {os.listdir(f'{scratch}/tmp')}")
tool.finish()
