# SPDX-License-Identifier: MIT
"""Kernels of an AOTInductor package are Inductor's, with and without the caches they came from: test_aoti.py KERNELAB

Exit status 77 without a GPU, PyTorch or a C++ compiler.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

kernelab = os.path.abspath(sys.argv[1])
program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "aoti.py")
there = subprocess.run([sys.executable, "-c", "import torch; assert torch.cuda.is_available()"], capture_output=True)
if there.returncode or not shutil.which("g++"):
    print("no GPU, PyTorch or g++ here")
    sys.exit(77)
problems = []


def run(*command, statuses=(0,), **environment):
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    print(f"{time.monotonic() - start:.1f} s", *map(os.path.basename, command), flush=True)
    if done.returncode not in statuses:
        problems.append(f"{' '.join(command)}: status {done.returncode}: {done.stdout[-2000:]}{done.stderr[-3000:]}")
    return done


def caches(folder):
    return {"TRITON_CACHE_DIR": os.path.join(folder, "triton"), "TORCHINDUCTOR_CACHE_DIR": folder}


def check(name, top, package, cache, metadata):
    out, result = os.path.join(top, name), os.path.join(top, name + ".json")
    plain = run(sys.executable, program, "run", package, **caches(cache))
    done = run(kernelab, "capture", "-o", out, "--", sys.executable, program, "run", package, **caches(cache))
    if done.stdout != plain.stdout or not done.stdout.startswith("True"):
        problems.append(f"{name}: {plain.stdout!r} alone, {done.stdout!r} captured")
    print(done.stderr.strip().split("\n")[-1])
    families = json.loads(run(kernelab, "ls", "--json", out).stdout)["families"]
    for f in families:
        print(name, f["name"], f["origin"], f["origin_how"], f["source"], f["recorded"], "metadata", f["args"] is not None)
        if f["origin"] != "inductor" or (f["args"] is not None) != metadata or not f["recorded"]:
            problems.append(f"{name}: {f['name']}: {f['origin']}, args {f['args']}, {f['recorded']} recorded")
    if not families:
        problems.append(f"{name}: no kernels")
    run(kernelab, "diff", out, "--b", "recorded", "--json", result, statuses=(0, 1))
    for f in json.load(open(result, encoding="utf-8"))["families"]:
        print(name, f["name"], "bucket", f["bucket"], f["coverage"])
        if f["bucket"] != 1 or not f["coverage"]["faithful"]:
            problems.append(f"{name}: {f['name']} bucket {f['bucket']}")


with tempfile.TemporaryDirectory() as folder:
    pt2, made = os.path.join(folder, "model.pt2"), os.path.join(folder, "made")
    run(sys.executable, program, "build", pt2, **caches(made))
    if not problems:
        check("caches", folder, pt2, made, True)
        check("alone", folder, pt2, os.path.join(folder, "empty"), False)
print("\n".join(problems))
sys.exit(bool(problems))
