# SPDX-License-Identifier: MIT
"""TLX kernels that fbtriton itself compiles and launches with PyTorch on a GPU: test_fbtriton.py KERNELAB

Exit status 77 unless python3 has a GPU, PyTorch and fbtriton.
"""
import json
import os
import sys
import tempfile

from gpu_test import HERE, finish, need_torch, problems, run

kernelab = os.path.abspath(sys.argv[1])
program = os.path.join(HERE, "tlx_program.py")
ptxas = need_torch("""
import triton, triton.language.extra.tlx
print(os.path.join(os.path.dirname(torch.__file__), "bin/ptxas"))
""", "python3")
WANTED = {"tlx_cp": 1, "tlx_ws": 1, "tlx_dot": 1, "tlx_gemm": 4, "matmul_k": 8}  # configs


def check_suite(suite):
    facts = {fact["name"]: fact["value"] for bundle in suite["bundles"] for fact in bundle["facts"]}
    print({name: facts.get(name) for name in ("triton.package", "triton.version", "ptxas.version")})
    if not facts.get("triton.package", "").startswith("fbtriton "):
        problems.append(f"package {facts.get('triton.package')}")
    families = {f["name"]: f for f in suite["families"]}
    if sorted(families) != sorted(WANTED) or len(suite["families"]) != len(WANTED):
        problems.append(f"families {sorted(f['name'] for f in suite['families'])}")
    for name, f in families.items():
        print(name, f["origin"], f["origin_how"], len(f["configs"]), "configs", f["recorded"], "recorded")
        if f["origin"] != ("tlx" if name.startswith("tlx_") else "triton") or len(f["configs"]) != WANTED.get(name):
            problems.append(f"{name}: {f['origin']} ({f['origin_how']}), {len(f['configs'])} configs")
        if not f["recorded"] or not f["args"]:
            problems.append(f"{name}: {f['recorded']} recorded, arguments {f['args']}")


def check_diff(out, side, statuses):
    result = os.path.join(out, "verdict.json")
    run(kernelab, "diff", out, "--b", side, "--json", result, statuses=statuses)
    if not os.path.exists(result):
        return
    for f in json.load(open(result, encoding="utf-8"))["families"]:
        c = f["coverage"]
        print(side, f["name"], "bucket", f["bucket"], "rule", f["rule"], c)
        if not c["launches"] or c["faithful"] + c["nondeterministic"] != c["launches"]:
            problems.append(f"{side}: {f['name']}: {c}")
        if side == "recorded" and f["bucket"] != 1:
            problems.append(f"{f['name']} differs from itself: bucket {f['bucket']}")
    os.remove(result)


with tempfile.TemporaryDirectory() as folder:
    capture = os.path.join(folder, "out")
    plain = run("python3", program, TRITON_CACHE_DIR=os.path.join(folder, "triton"))
    captured = run(kernelab, "capture", "-o", capture, "--fresh-cache", "--", "python3", program)
    print(plain.stdout, captured.stderr.strip().split("\n")[-1], sep="")
    if plain.stdout != captured.stdout or plain.stdout.count("True") != 7 or "False" in plain.stdout:
        problems.append(f"{plain.stdout!r} alone, {captured.stdout!r} captured")
    if not problems:
        check_suite(json.loads(run(kernelab, "ls", "--json", capture).stdout))
        check_diff(capture, "recorded", (0,))
        if os.access(ptxas, os.X_OK):
            check_diff(capture, "ptxas:" + ptxas, (0, 1))
        check_diff(capture, "triton:python3", (0, 1))
finish()
