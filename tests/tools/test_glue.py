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
    expect(scale["ptxas"].count(".") == 2 and "?" not in scale["ptxas"], f"ptxas {scale['ptxas']}")
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


def check_pin(python, top):
    """Another run of check_notes's program, in which another config is the fastest."""
    first, pinned = os.path.join(top, "first"), os.path.join(top, "pinned")
    for out, options, wanted in ((first, (), "winner: ROWS=1 num_ctas=1 num_stages=3 num_warps=1 for"),
                                 (pinned, ("--pin-winners", os.path.join(top, "out")),
                                  "winner: ROWS=4 num_ctas=1 num_stages=3 num_warps=1 for 50, torch.float32, torch.float32 "
                                  "(pinned; the fastest was ROWS=1 num_ctas=1 num_stages=3 num_warps=1)")):
        done = capture(python, out, "jit_program.py", *options, SOFT_TRITON_FIRST="1")
        expect(done.stdout == "20.5 700.5 2475.0 35025.0\n", f"{options}: {done.stdout!r}")
        shown = subprocess.run([kernelab, "show", out], capture_output=True, text=True).stdout
        expect(wanted in shown, f"{options}: no {wanted!r} in\n{shown}")
        expect({i["constexprs"]["ROWS"] for i in images(suite(out)["row_sum_k"])} == {1, 2, 4}, "all are tried")
        seen = {i["constexprs"]["ROWS"]: sum(c["seen"] for c in i["classes"]) for i in images(suite(out)["row_sum_k"])}
        expect(seen == {1: 4, 2: 3, 4: 3} if not options else seen == {1: 3, 2: 3, 4: 4}, f"{options}: launches {seen}")


def replay(a, b, result):
    """The verdict, and the facts of side B."""
    done = subprocess.run([kernelab, "diff", a, "--b", b, "-o", result, "--device", "soft", "--json", result + ".json"],
                          capture_output=True, text=True)
    if done.returncode not in (0, 1):
        problems.append(f"{a} against {b}: {done.stderr}")
        return None
    return json.load(open(result + ".json", encoding="utf-8"))


def configs(verdict):
    return [c for family in verdict["families"] for c in family["configs"]]


def check_frontend(python, top, other):
    """Compiled anew from the noted source: the same by the same Triton, and tested with another one."""
    out = os.path.join(top, "out")
    same = replay(out, "triton:" + python, os.path.join(top, "same.klab"))
    command = same["sides"]["B"]["made_by"]
    expect("all stages from the recorded Python source on" in command and " of " not in command, command)
    for config in configs(same):
        expect(config["pairing"] == "exact" and config["same_ptx"], f"not the same: {config}")
    if other:
        found = replay(out, "triton:" + other, os.path.join(top, "other.klab"))
        expect(all(c["cases"] and not c["unproven"] or c["same_ptx"] for c in configs(found)), f"{other} from source: {found['families']}")


def check_grid(python, top):
    """A config that only B has, launched there with another size: its grid on A's launches follows from the others'."""
    out, b = os.path.join(top, "out"), os.path.join(top, "only")
    capture(python, b, "jit_program.py", "--no-data", JIT_ONLY_ROWS="8")
    found = replay(out, b, os.path.join(top, "grid.klab"))
    family = next(f for f in found["families"] if f["name"] == "row_sum_k")
    config = next(c for c in family["configs"] if c["pairing"] == "B only")
    expect("grid 3x1x1 = cdiv(m, ROWS) x 1 x 1, as in 4 launches" in json.dumps(family), f"grid: {family}")
    expect(config["bucket"] == 1 and [c["fidelity"] for c in config["cases"]] == ["faithful"],
           f"with that grid: {config}")


def check_pairs(python, top):
    """GROUP leaves no trace in the block shapes; Gluon is not compiled from source."""
    out, result = os.path.join(top, "pairs"), os.path.join(top, "pairs.klab")
    done = capture(python, out, "jit_pairs.py")
    gluon = done.stdout.count("\n") == 2
    same = replay(out, "triton:" + python, result)
    command = same["sides"]["B"]["made_by"]
    expect(("3 of 4 images" in command and "gluon_k" in command) == gluon, command)
    expect(all(c["same_ptx"] for c in configs(same)), "not the same PTX")
    # Another source, so that no config key is equal: block shapes alone would leave the three ambiguous.
    changed = os.path.join(top, "jit_pairs.py")
    with open(os.path.join(here, "jit_pairs.py"), encoding="utf-8") as f, open(changed, "w", encoding="utf-8") as g:
        g.write(f.read().replace("mask=o < n) + 1,", "mask=o < n) * 2 + 1,"))
    for options, wanted in ((), {"source changed"}), (("--no-glue",), {"ambiguous"}):
        b = os.path.join(top, "pairs-b" + "".join(options))
        capture(python, b, changed, "--no-data", *options, PYTHONPATH=here)
        found = replay(out, b, b + ".klab")
        grouped = [c for f in found["families"] if f["name"] == "grouped_k" for c in f["configs"]
                   if c["pairing"] != "B only"]
        expect(len(grouped) == 3 and {c["pairing"] for c in grouped} == wanted,
               f"GROUP {options}: {[(c['pairing'], c['options'], c['evidence']) for c in grouped]}")
        notes = " ".join(note for f in found["families"] for note in f["notes"])
        expect(("the Python source itself is another" in notes) == (not options), f"{options}: {notes}")


def has_tlx(python):
    return not subprocess.run([python, "-c", "import triton.language.extra.tlx"], capture_output=True).returncode


def check_tlx(python, top):
    """fbtriton: recognised, noted, and compiled anew from the source, a warp-specialised kernel too."""
    out = os.path.join(top, "tlx")
    done = capture(python, out, "jit_tlx.py")
    expect(done.stdout == "499500.0\n999000.0 500500.0\n", f"TLX: {done.stdout!r}")
    families = suite(out)
    expect({(name, f["origin"]) for name, f in families.items()} == {("tlx_cp", "tlx"), ("tlx_ws", "tlx")}, f"{families}")
    expect(all(i["constexprs"] == {"BLOCK": 256} for f in families.values() for i in images(f)), "notes on TLX kernels")
    same = replay(out, "triton:" + python, os.path.join(top, "tlx.klab"))
    expect(same["sides"]["B"]["made_by"].endswith("all stages from the recorded Python source on"), f"{same['sides']}")
    expect(all(f["bucket"] == 1 for f in same["families"]) and all(c["same_ptx"] for c in configs(same)), "TLX from source")


pythons = os.environ.get("KERNELAB_TEST_PYTHON", sys.executable).split(":")
for test_python in pythons:
    another = next((p for p in pythons if p != test_python), None)
    found = version_of(test_python)
    instrumented = "__asan" in subprocess.run(["nm", "-D", shim], capture_output=True, text=True).stdout
    if found < (3, 4) or instrumented:
        continue
    versions.append(found)
    with tempfile.TemporaryDirectory() as folder:
        if has_tlx(test_python):  # its autotuner wants torch
            check_tlx(test_python, folder)
            continue
        check_notes(test_python, folder)
        check_without(test_python, folder)
        check_children(test_python, folder)
        check_pin(test_python, folder)
        check_frontend(test_python, folder, another)
        check_grid(test_python, folder)
        check_pairs(test_python, folder)
if not versions:
    sys.exit(77)
print("\n".join(problems))
print("Triton", versions)
sys.exit(bool(problems))
