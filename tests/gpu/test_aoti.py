# SPDX-License-Identifier: MIT
"""Kernels of an AOTInductor package are Inductor's, with and without the caches they came from: test_aoti.py KERNELAB

The package is run by Python and by a C++ program. Exit status 77 without a GPU, PyTorch or a C++ compiler.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from gpu_test import HERE, finish, need_torch, problems, run, skip

kernelab = os.path.abspath(sys.argv[1])
program = os.path.join(HERE, "aoti.py")
if not shutil.which("g++"):
    skip("g++")
torch = need_torch("print(os.path.dirname(torch.__file__))")


def runtime():
    """Where what g++ builds finds its C++ library: it may be newer than the system's."""
    library = subprocess.run(["g++", "-print-file-name=libstdc++.so.6"], capture_output=True, text=True).stdout.strip()
    return os.pathsep.join(filter(None, (os.path.dirname(library), os.environ.get("LD_LIBRARY_PATH"))))


def caches(folder):
    # Which vector units the host has does not matter here; Inductor would compile and load a library for each to find out.
    return {"TRITON_CACHE_DIR": os.path.join(folder, "triton"), "TORCHINDUCTOR_CACHE_DIR": folder,
            "TORCHINDUCTOR_VEC_ISA_OK": "0", "LD_LIBRARY_PATH": runtime()}


def build_loader(output):
    run("g++", "-std=c++17", "-O0", os.path.join(HERE, "aoti_load.cpp"), "-o", output, "-I", f"{torch}/include",
        "-I", f"{torch}/include/torch/csrc/api/include", "-L", f"{torch}/lib", f"-Wl,-rpath,{torch}/lib",
        "-Wl,--no-as-needed,--allow-shlib-undefined", "-ltorch", "-ltorch_cuda", "-lc10_cuda", "-ltorch_cpu", "-lc10")


def capture(name, top, command, cache):
    """The folder of a capture of a program, whose output is what it is without."""
    out = os.path.join(top, name)
    plain = run(*command, statuses=(0, -signal.SIGSEGV), **caches(cache))
    if plain.returncode:
        # PyTorch 2.11's loader for Python does so on some machines; the one for C++ tells more then.
        print(f"{name}: not tested: without kernelab too the program ends by signal {-plain.returncode}: {plain.stderr[:400]}")
        return None, None
    done = run(kernelab, "capture", "-o", out, "--", *command, **caches(cache))
    if done.stdout != plain.stdout or not plain.stdout:
        problems.append(f"{name}: {plain.stdout!r} alone, {done.stdout!r} captured")
    print(name, plain.stdout.strip(), done.stderr.strip().split("\n")[-1])
    return out, plain.stdout


def check(name, out, metadata):
    families = json.loads(run(kernelab, "ls", "--json", out).stdout)["families"]
    for f in families:
        print(name, f["name"], f["origin"], f["origin_how"], f["source"], f["recorded"], "metadata", f["args"] is not None)
        if f["origin"] != "inductor" or (f["args"] is not None) != metadata or not f["recorded"]:
            problems.append(f"{name}: {f['name']}: {f['origin']}, args {f['args']}, {f['recorded']} recorded")
    if not families:
        problems.append(f"{name}: no kernels")
    run(kernelab, "diff", out, "--b", "recorded", "--json", out + ".json", statuses=(0, 1))
    for f in json.load(open(out + ".json", encoding="utf-8"))["families"]:
        print(name, f["name"], "bucket", f["bucket"], f["coverage"])
        if f["bucket"] != 1 or not f["coverage"]["faithful"]:
            problems.append(f"{name}: {f['name']} bucket {f['bucket']}")


with tempfile.TemporaryDirectory() as folder:
    pt2, made, load = (os.path.join(folder, name) for name in ("model.pt2", "made", "aoti_load"))
    run(sys.executable, program, "build", pt2, **caches(made))
    build_loader(load)
    if not problems:
        python, empty = [sys.executable, program, "run", pt2], os.path.join(folder, "empty")
        said = {}
        for name, command, cache, metadata in (("caches", python, made, True), ("alone", python, empty, False),
                                               ("cpp", [load, pt2], made, True), ("cpp-alone", [load, pt2], empty, False)):
            captured, said[name] = capture(name, folder, command, cache)
            if captured and os.path.isdir(captured):
                check(name, captured, metadata)
        if not said["cpp"] or len({text for text in said.values() if text}) != 1:
            problems.append(f"what the programs print: {said}")
finish()
