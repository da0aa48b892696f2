# SPDX-License-Identifier: MIT
"""diff --cross: which stage a fault comes from, with programs that stand in for two ptxas.

    test_cross.py BUILD_DIR

The software device executes the PTX of a cubin, so a "ptxas" that gives back the other side's cubin
is one with a fault of its own, and one that gives back its own side's has none.
"""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "apps"))
from whole_tool import DATA, Tool  # noqa: E402

if len(sys.argv) != 2:
    sys.exit(__doc__)
tool = Tool(sys.argv[1])
KERNEL, EDIT = "softmax_xent", "bug-softmax-tail-mask"
GIVES = """#!/bin/sh
if [ "$*" = --version ]; then
	echo "Cuda compilation tools, release 12.8, V12.8.{minor}"
	exit
fi
while [ "$1" != -o ]; do shift; done
exec cp "{cubin}" "$2"
"""
REFUSES = """#!/bin/sh
if [ "$*" = --version ]; then echo "Cuda compilation tools, release 12.8, V12.8.9"; exit; fi
echo "ptxas fatal   : not today"
exit 1
"""


def find(folder):
    for at, _, names in os.walk(folder):
        for name in names:
            if name == KERNEL + ".cubin":
                return os.path.join(at, name)
    sys.exit(f"no {KERNEL}.cubin in {folder}")


def program(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, 0o755)
    return path


def stage(a, b, name, *options, status=1):
    result, verdict = f"{tmp}/{name}.klab", f"{tmp}/{name}.json"
    done = tool.run([tool.kernelab, "diff", a, "--b", b, "--device", "soft", "--family",
                     f"^{KERNEL}$", "-o", result, "--json", verdict, *options], status)
    if status == 2:
        return done.stderr, None
    tool.run([tool.kernelab, "verify", result], 0)
    again = tool.run([tool.kernelab, "analyze", result, "--json", "-"], 1)
    with open(verdict, encoding="utf-8") as f:
        family = json.load(f)["families"][0]
    tool.expect(json.loads(again.stdout)["families"][0]["stage"] == family["stage"],
                f"{name}: the kept result tells another stage")
    tool.expect(not [n for n in os.listdir(tmp) if n.endswith(".tmp")], f"{name}: files are left")
    return family["stage"], done


with tempfile.TemporaryDirectory(prefix="kernelab-cross-") as tmp:
    a, b = f"{tmp}/a", f"{tmp}/b"
    tool.capture(a, "a", steps=1)
    tool.capture(b, "a", edits=[EDIT], options=["--no-data"], steps=1)
    of_a, of_b = find(os.path.join(DATA, "a")), find(os.path.join(DATA, "edits", EDIT))
    right = program(f"{tmp}/right", GIVES.format(cubin=of_a, minor=93))
    wrong = program(f"{tmp}/wrong", GIVES.format(cubin=of_b, minor=94))
    refuses = program(f"{tmp}/refuses", REFUSES)
    CASES = {  # ptxas of A (gets B's PTX), of B (gets A's PTX): kind, words
        "ptxas": (right, wrong, "ptxas", "A's PTX by B's ptxas is in bucket 3 (rule 5: "),
        "before": (wrong, right, "before ptxas", "B's PTX by A's ptxas is in bucket 3 (rule 5: "),
        "either": (wrong, wrong, "either", "each alone"),
        "together": (right, right, "together", "A's PTX by B's ptxas is in bucket 1"),
    }
    for name, (x, y, kind, words) in CASES.items():
        told, _ = stage(a, b, name, "--cross", "--a-ptxas", x, "--b-ptxas", y)
        tool.expect(told["kind"] == kind and told["crossed"] and words in told["text"],
                    f"{name}: {told}")
        # A ptxas that gives back its own side's cubin for its own PTX did what it did then.
        for side, own in (("A", x == right), ("B", y == wrong)):
            tool.expect((f"{side}'s PTX by {side}'s ptxas gives {side}'s machine code in 0 of 1 images"
                         in told["text"]) == (not own), f"{name}: {told}")
    # The programs that the runs themselves were told to use.
    for folder, path, options in (("a2", right, []), ("b2", wrong, ["--no-data"])):
        os.environ["TRITON_PTXAS_PATH"] = path
        tool.capture(f"{tmp}/{folder}", "a", edits=[EDIT] if folder == "b2" else [], options=options,
                     steps=1)
    del os.environ["TRITON_PTXAS_PATH"]
    told, done = stage(f"{tmp}/a2", f"{tmp}/b2", "recorded", "--cross")
    tool.expect(told["kind"] == "ptxas" and told["crossed"], f"recorded programs: {told}\n{done.stderr}")
    # Without crossing the software device itself tells: it has no ptxas.
    for name, options in (("static", ()), ("off", ("--no-cross",)), ("unknown", ("--cross",)),
                          ("refused", ("--cross", "--a-ptxas", refuses, "--b-ptxas", refuses))):
        told, done = stage(a, b, name, *options)
        tool.expect(told["kind"] == "before ptxas" and not told["crossed"]
                    and "executes the PTX" in told["text"], f"{name}: {told}")
        tool.expect("crossing stages" not in done.stderr or name == "refused", done.stderr)
    told, _ = stage(a, b, "bad", "--a-ptxas", f"{tmp}/none", status=2)
    tool.expect("--a-ptxas" in told and "none" in told, told)
    told, _ = stage(a, b, "bad", "--a-ptxas", "ptxas", status=2)
    tool.expect("--a-ptxas ptxas" in told and "/" in told, told)
    told, _ = stage(a, b, "bad", "--cross", "--no-cross", status=2)
    tool.expect("--no-cross" in told, told)
tool.finish()
