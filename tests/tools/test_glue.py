# SPDX-License-Identifier: MIT
"""The Python glue with a real Triton on the software device: test_glue.py KERNELAB SHIM SOFTGPU_FOLDER.

Skipped where no Python has Triton 3.4 or later. KERNELAB_TEST_PYTHON names Pythons to use, colon-separated;
default: the one that runs this.
"""
import json
import os
import subprocess
import sys
import tempfile

kernelab, shim, softgpu = sys.argv[1:4]
here = os.path.dirname(os.path.abspath(__file__))
problems, versions = [], []


def version_of(python):
    asked = subprocess.run([python, "-c", "import triton; print(triton.__version__)"], capture_output=True, text=True)
    return tuple(int(part) for part in asked.stdout.strip().split(".")[:2]) if asked.stdout.startswith("3.") else (0, 0)


def capture(python, out, program, *options, **environment):
    done = subprocess.run([kernelab, "capture", "-o", out, "--device", "soft", "--fresh-cache", *options, "--",
                           python, os.path.join(here, program)], capture_output=True, text=True,
                          env={**os.environ, "TRITON_LIBCUDA_PATH": softgpu, **environment})
    if done.returncode:
        problems.append(f"{program} {options}: status {done.returncode}: {done.stderr[-1500:]}")
    return done


def suite(out):
    shown = subprocess.run([kernelab, "ls", "--json", out], capture_output=True, text=True)
    return {family["name"]: family for family in json.loads(shown.stdout)["families"]}


def images(family):
    return [image for config in family["configs"] for image in config["images"]]


def expect(condition, said):
    if not condition:
        problems.append(said)


def check_notes(python, top):
    out = os.path.join(top, "out")
    done = capture(python, out, "jit_program.py")
    expect(done.stdout == "20.5 700.5 2475.0 35025.0\n", f"printed {done.stdout!r}")
    expect("kernelab: glue" not in done.stderr, done.stderr)
    families = suite(out)
    scale = images(families["scale_k"])[0]
    expect(scale["constexprs"] == {"BLOCK": 128, "ACT": "clamp"}, f"constexprs {scale['constexprs']}")
    expect(scale["tensors"]["X"] == {"shape": [20, 50], "stride": [50, 1], "dtype": "torch.float32"},
           f"tensors {scale['tensors']}")
    expect(len(scale["python_sha256"]) == 64, "no hash of the source")
    rows = {image["constexprs"]["ROWS"] for image in images(families["row_sum_k"])}
    expect(rows == {1, 2, 4}, f"ROWS {rows}: 8 was pruned")
    shown = subprocess.run([kernelab, "show", out], capture_output=True, text=True).stdout
    for text in ("autotuner: 4 configs, 1 left out by its pruning", "left out: ROWS=8 num_ctas=1 num_stages=3 num_warps=4",
                 "autotuner's winner: ROWS=4 num_ctas=1 num_stages=3 num_warps=1 for 50, torch.float32, torch.float32",
                 "constexprs: BLOCK=128 ACT=clamp", "BLOCK=128 ACT=clamp ("):
        expect(text in shown, f"show does not say {text!r}:\n{shown}")
    note = next(os.path.join(out, "glue", name) for name in os.listdir(os.path.join(out, "glue"))
                if name.startswith(scale["image"]))
    functions = json.load(open(note, encoding="utf-8"))["functions"]
    expect([f["name"] for f in functions] == ["scale_k", "clamp", "shifted"], "helpers of two modules")
    expect(functions[2]["globals"]["SHIFT"] == {"constexpr": 0.5}, f"globals {functions[2]['globals']}")


def check_without(python, top):
    out = os.path.join(top, "without")
    done = capture(python, out, "jit_program.py", "--no-glue")
    expect(done.stdout == "20.5 700.5 2475.0 35025.0\n", f"without glue: {done.stdout!r}")
    expect(not os.path.exists(os.path.join(out, "glue")), "a folder glue without the glue")
    expect(images(suite(out)["scale_k"])[0]["constexprs"] is None, "constexprs out of nowhere")


def check_children(python, top):
    """Compiled by worker processes, which launch nothing; launched by their parent from the cache."""
    out = os.path.join(top, "children")
    done = capture(python, out, "jit_workers.py")
    expect(done.stdout == "20.5\nworkers compiled 2\n", f"workers: {done.stdout!r}")
    expect(len([name for name in os.listdir(out) if name.endswith(".klab")]) == 1, "a worker left a bundle")
    expect(images(suite(out)["scale_k"])[0]["constexprs"] == {"BLOCK": 128, "ACT": "clamp"}, "a worker's note")


for test_python in os.environ.get("KERNELAB_TEST_PYTHON", sys.executable).split(":"):
    found = version_of(test_python)
    instrumented = "__asan" in subprocess.run(["nm", "-D", shim], capture_output=True, text=True).stdout
    if found < (3, 4) or instrumented:
        continue
    versions.append(found)
    with tempfile.TemporaryDirectory() as folder:
        check_notes(test_python, folder)
        check_without(test_python, folder)
        check_children(test_python, folder)
if not versions:
    sys.exit(77)
print("\n".join(problems))
print("Triton", versions)
sys.exit(bool(problems))
