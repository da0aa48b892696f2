# SPDX-License-Identifier: MIT
"""kernelab ls and show on a capture made of cache entries: what a user reads, and error messages."""
import csv
import glob
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile

KERNELAB, MAKE, DATA, SCHEMA = sys.argv[1:5]
STEMS = ["triton-3.5.1/add_kernel", "triton-3.4.0/add_kernel", "triton-3.9.0/add_kernel",
         "fbtriton-3.7.4/tlx_ws"]
checks = 0


def check(good, text):
    global checks
    checks += 1
    if not good:
        sys.exit(f"FAILED: {text}")


def run(*args, status=0):
    r = subprocess.run([KERNELAB, *args], capture_output=True, text=True)
    check(r.returncode == status, f"{args}: status {r.returncode}: {r.stderr}")
    if status:
        check(r.stderr.count("\n") == 1 and not r.stdout, f"{args}: one line on stderr: {r.stderr}")
    return r.stderr if status else r.stdout


def conforms(value, schema, root, path="$"):
    """As much of JSON Schema as docs/suite.schema.json uses."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    if "const" in schema:
        check(value == schema["const"], f"{path}: {value!r}")
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool,
             "null": type(None)}
    wanted = schema.get("type", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    check(not wanted or any(type(value) is kinds[k] for k in wanted), f"{path}: type")
    if isinstance(value, dict):
        check(list(value) == list(schema["properties"]), f"{path}: keys {list(value)}")
        for key, inner in value.items():
            conforms(inner, schema["properties"][key], root, f"{path}.{key}")
    if isinstance(value, list):
        for i, inner in enumerate(value):
            conforms(inner, schema["items"], root, f"{path}[{i}]")


def test_ls(bundle):
    text = run("ls", bundle)
    for wanted in ("2 kernel families, 3 configs of 1 capture: 45 launches seen, 9 recorded",
                   "python3 train.py user", "NVIDIA H200, sm_90, driver 13.0",
                   "compiler.commit  unspecified",
                   "triton           3.9.0 in 1 of 4 kernels (metadata of the images)", "open questions   model, ",
                   "kernel_version.py:10  add_kernel\n", "(X *bf16, Y *f32, out *f32, n i32, eps f32)",
                   "Not recorded: 48 launches", "12 launches of 1 other kernels: origin",
                   "36 launches of 2 triton kernels: per-class limit of 1"):
        check(wanted in text, f"ls lacks {wanted!r}:\n{text}")
    check("INCOMPLETE" not in text, "the capture is complete")
    check("| add\\_kernel | triton | kernel\\_version.py:10 |" in run("ls", "--markdown", bundle),
          "Markdown")
    rows = list(csv.DictReader(io.StringIO(run("ls", "--csv", bundle))))
    check([r["family"] for r in rows] == ["add_kernel", "add_kernel", "tlx_ws"], "CSV families")
    check(rows[2]["signature"] == "x_ptr *f32, y_ptr *f32, out_ptr *f32, n i32", "CSV quoting")
    first = run("ls", "--json", bundle)
    check(first == run("ls", "--json", bundle), "JSON is the same every time")
    suite = json.loads(first)
    with open(SCHEMA, encoding="utf-8") as f:
        schema = json.load(f)
    conforms(suite, schema, schema)
    check(sum(c["seen"] - c["recorded"] for f in suite["families"] for k in f["configs"]
              for i in k["images"] for c in i["classes"]) + suite["unlisted"] ==
          sum(m["launches"] for m in suite["not_recorded"]), "every launch is accounted for")


def test_show(bundle):
    text = run("show", bundle, "--family", "^add")
    check("tlx_ws" not in text and "source /home/user/kernel_version.py:10" in text, text)
    check("Triton 3.9.0" in text and "divisible: X=16 Y=16 out=16 n=16" in text, text)
    check("grid 3x2x1 n=-7: 1 seen, 1 recorded\n" in text, "scalars of a shape class")
    text = run("show", bundle, "--launch", "100000")
    for wanted in ("grid 3x2x1, block 128x1x1, 8 bytes dynamic shared memory", " → region 0 + 0x0\n",
                   " → region 0 + 0x1000\n", "i32              -7\n", "f32              0.1",
                   "(profile scratch)", "region 0: 0x7f0000040000, 512 KiB, allocation",
                   "changed: region 0 + 0x40000, 1 chunk, 256 KiB"):
        check(wanted in text, f"show lacks {wanted!r}:\n{text}")
    check("launch 7777" in run("show", bundle, "--launch", "7777", status=2), "unknown launch")
    check("nosuch" in run("show", bundle, "--family", "nosuch", status=2), "unknown family")
    check("--family (" in run("show", bundle, "--family", "(", status=2), "bad expression")


def test_inductor(folder):
    """All Inductor images of one side of the samples: families, and short names of their files."""
    with tarfile.open(os.path.join(DATA, "cache-entries.tar.xz")) as archive:
        archive.extractall(folder, [m for m in archive if m.name.startswith("a_compile/")])
    stems = sorted(j[:-len(".json")] for j in glob.glob(f"{folder}/a_compile/*/*.json"))
    bundle = os.path.join(folder, "inductor.klab")
    subprocess.run([MAKE, bundle] + stems, check=True)
    text = run("ls", bundle)
    check(text.startswith("47 kernel families, 72 configs of 1 capture"), text[:200])
    check(len(re.findall(r" inductor  c[a-z2-7]{7}\*\.py:18  triton_", text)) == 47, text[:2000])


def test_errors(folder, bundle):
    for verb in ("ls", "show"):
        check("no bundle" in run(verb, status=2), "no operand")
        missing = os.path.join(folder, "missing.klab")
        check(missing in run(verb, missing, status=2), "missing bundle is named")
        check("no bundle in" in run(verb, DATA, status=2), "folder without bundles")
    check("exclude each other" in run("ls", "--json", "--csv", bundle, status=2), "formats")
    cut = os.path.join(folder, "cut.klab")
    with open(bundle, "rb") as source, open(cut, "wb") as target:
        data = source.read()
        target.write(data[:len(data) * 3 // 4])
    check("INCOMPLETE" in run("ls", cut), "a cut capture is named")


def main():
    with tempfile.TemporaryDirectory() as folder:
        bundle = os.path.join(folder, "capture.klab")
        subprocess.run([MAKE, bundle] + [os.path.join(DATA, "versions", s) for s in STEMS],
                       check=True)
        test_ls(bundle)
        test_show(bundle)
        test_inductor(folder)
        test_errors(folder, bundle)
    print(f"{checks} checks")


main()
