# SPDX-License-Identifier: MIT
"""kernelab export: what it writes runs alone, and finds what the verdict found.

    test_export.py BUILD_DIR
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "apps"))
from whole_tool import Tool  # noqa: E402

if len(sys.argv) != 2:
    sys.exit(__doc__)
tool = Tool(sys.argv[1])
if tool.instrumented():
    sys.exit(77)  # a sanitizer's software device cannot be loaded into Python
EDIT, KERNEL = "bug-cast-truncates", "cast_bf16"


def reproduce(folder, status, *options):
    """Runs the script where nothing of kernelab is at hand but the software device."""
    done = subprocess.run([sys.executable, os.path.join(folder, "repro.py"), *options],
                          capture_output=True, text=True, cwd="/", timeout=300,
                          env={"PATH": os.environ["PATH"],
                               "LD_LIBRARY_PATH": os.path.join(os.path.abspath(tool.build), "softgpu")})
    tool.expect(done.returncode == status, f"{folder}: status {done.returncode}, expected {status}\n"
                f"{done.stdout}{done.stderr}")
    return done


def export(*options, status=0):
    done = tool.run([tool.kernelab, "export", *options], status)
    tool.expect(status == 0 or done.stderr.count("\n") == 1, f"{options}: {done.stderr!r}")
    return done.stderr


REFERENCE = """
@reference("transpose")
def _(x, rows, cols, ldx, ldy, y, **_):
    out = [None] * len(y)
    for r in range(rows):
        for c in range(cols):
            out[c * ldy + r] = x[r * ldx + c]%s
    return {"y": out}
"""


def run_tests(path, status):
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, cwd="/", timeout=600,
                          env={"PATH": os.environ["PATH"],
                               "LD_LIBRARY_PATH": os.path.join(os.path.abspath(tool.build), "softgpu")})
    tool.expect(done.returncode == status, f"{path}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.splitlines()


def check_tests(tmp, a):
    """A case a config and class; it runs, and is judged by the reference that somebody fills in."""
    path = f"{tmp}/cases.py"
    said = export(a, "--pytest", "--family", "^(transpose|matmul|cast_bf16|loss_sum)$", "-o", path)
    listed = tool.run([tool.kernelab, "ls", "--json", a], 0)
    classes = {f["name"]: sum(len({c["key"] for i in g["images"] for c in i["classes"] if c["recorded"]})
                              for g in f["configs"]) for f in json.loads(listed.stdout)["families"]}
    lines = run_tests(path, 0)
    for name in ("transpose", "matmul", "cast_bf16", "loss_sum"):
        count = sum(line.startswith(name + "-") for line in lines)
        tool.expect(count == classes[name] > 0, f"{count} cases of {name}, {classes[name]} classes")
    tool.expect(all("skipped: ran (recorded cubin: no Python source is known)" in line
                    for line in lines), f"{lines}")
    tool.expect(f"{len(lines)} cases of 4 kernels" in said, said)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    tool.expect('# @reference("transpose")\n# def _(x, y, rows, cols, ldx, ldy, **_):\n'
                '#     return {"y": [...], }' in text, "no stub of transpose")
    end = "# ---- end of what"
    nothing = REFERENCE.replace('{"y": out}', '{"y": [None]}')
    for reference, status, word in ((REFERENCE % "", 0, "passed"),
                                    (REFERENCE % " + (r == 3 and c == 5)", 1, "FAILED: y["),
                                    (nothing % "", 1, "FAILED: the reference gives nothing"),
                                    (nothing.replace('"y"', '"z"') % "", 1, "FAILED: z: the reference")):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace(end, reference + end))
        lines = [line for line in run_tests(path, status) if line.startswith("transpose-")]
        tool.expect(lines and all(word in line for line in lines), f"{word}: {lines}")
    # What existing tests launch is left out; nothing left is said so.
    said = export(a, "--pytest", "--tests", a, "-o", f"{tmp}/none.py", status=2)
    tool.expect("no case to write" in said and not os.path.exists(f"{tmp}/none_cubins"), said)
    for options, words in (((a, "--pytest", "-o", path), "cases.py"), ((a, "--pytest", "-o", f"{tmp}/x"),
                                                                     "FILE.py"),
                           ((a, "--pytest", "--launch", "1", "-o", f"{tmp}/x.py"), "either"),
                           ((a, "--launch", "1", "--tests", a, "-o", f"{tmp}/x"), "--tests"),
                           ((a, "--pytest", "--b", a, "-o", f"{tmp}/x.py"), "--b")):
        said = export(*options, status=2)
        tool.expect(words in said and not os.path.exists(f"{tmp}/x.py"), f"{options}: {said}")


with tempfile.TemporaryDirectory(prefix="kernelab-export-") as tmp:
    a, b, bare = f"{tmp}/a", f"{tmp}/b", f"{tmp}/bare"
    tool.capture(a, "a", steps=1)
    tool.capture(b, "a", edits=[EDIT], options=["--no-data"], steps=1)
    tool.capture(bare, "a", options=["--no-data"], steps=1)
    _, families, _ = tool.diff(a, b, f"{tmp}/v.json", 1, options=["--trials", "none"])
    cases = [c for config in families[KERNEL]["configs"] for c in config["cases"]]
    tool.expect(len(cases) > 1, "too few launches")
    for case in cases:
        launch, (output,) = str(case["launch"]), case["outputs"]
        folder = f"{tmp}/{launch}"
        said = export(a, "--launch", launch, "--b", b, "-o", folder)
        tool.expect(f"{folder}/repro.py" in said, said)
        names = sorted(os.listdir(folder))
        tool.expect(names == ["a.cubin", "b.cubin", "memory.bin", "repro.json", "repro.py"], f"{names}")
        tool.expect(os.stat(folder).st_mode & 0o077 == 0, "others may read the model's data")
        done = reproduce(folder, 1)
        found = re.search(r"^y \(bf16\): (\d+) elements differ\n  \[(\d+)\] A (\S+) \(0x(\S+)\), B",
                          done.stdout, re.M)
        first = output["metrics"]["first_difference"]
        tool.expect(found and int(found[1]) == output["metrics"]["differing"]
                    and int(found[2]) == first["index"] and "0x" + found[4] == first["bits_a"],
                    f"launch {launch}: {first}, {output['metrics']['differing']}\n{done.stdout}")
    # Other launches are equal; and one side alone.
    launch = str(families["softmax_xent"]["configs"][0]["cases"][0]["launch"])
    export(a, "--launch", launch, "--b", b, "-o", f"{tmp}/equal")
    tool.expect("A and B are equal" in reproduce(f"{tmp}/equal", 0).stdout, "not equal")
    export(a, "--launch", launch, "-o", f"{tmp}/alone")
    tool.expect("B:" not in reproduce(f"{tmp}/alone", 0, "--repeats", "2").stdout, "a side B")
    # In-place kernels: every run begins with the recorded memory.
    launch = str(families["adam"]["configs"][0]["cases"][0]["launch"])
    export(a, "--launch", launch, "--b", "recorded", "-o", f"{tmp}/adam")
    reproduce(f"{tmp}/adam", 0)
    with open(f"{tmp}/adam/repro.json", encoding="utf-8") as f:
        repro = json.load(f)
    repro["A"]["grid"] = [0, 1, 1]
    with open(f"{tmp}/adam/repro.json", "w", encoding="utf-8") as f:
        json.dump(repro, f)
    tool.expect("cuLaunchKernelEx" in reproduce(f"{tmp}/adam", 2).stderr, "a bad launch is not told")
    for options, words in (((a, "--launch", "999999"), "launch 999999"), ((a,), "--launch"),
                           ((bare, "--launch", launch), "--no-data"), (("--launch", "1"), "BUNDLE"),
                           ((f"{tmp}/none", "--launch", launch), "none")):
        said = export(*options, "-o", f"{tmp}/bad", status=2)
        tool.expect(words in said and not os.path.exists(f"{tmp}/bad"), f"{options}: {said}")
    check_tests(tmp, a)
    said = export(a, "--launch", launch, "-o", f"{tmp}/equal", status=2)
    tool.expect("equal" in said and os.path.exists(f"{tmp}/equal/repro.py"), said)
tool.finish()
