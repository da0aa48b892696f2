# SPDX-License-Identifier: MIT
"""Whatever goes wrong: the program prints and returns what it does without the shim, the bundle reads.

test_faults.py KERNELAB CLIENT SHIM SOFTGPU_FOLDER CUBIN CACHE
"""
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile

kernelab, client, shim, softgpu, cubin, cache = sys.argv[1:7]
if "__asan" in subprocess.run(["nm", "-D", shim], capture_output=True, text=True).stdout:
    sys.exit(77)  # RLIMIT_AS and its runtime exclude each other
ENV = {k: v for k, v in os.environ.items() if not k.startswith(("KERNELAB_", "TRITON_", "LD_"))}
problems = []

# Waits that a test can wait for.
SHORT = {"KERNELAB_WAIT_BEFORE": "0.3s", "KERNELAB_WAIT_AFTER": "0.3s"}

# name: (mode, environment, what `kernelab ls`, `show --launch 1` or standard error must say, or None)
CASES = {
    "plain": ("plain", {}, r"on 0 of 1 kernels \(no Triton seen in the program\)"),
    "launch fails": ("launch-fails", {}, None),
    "context goes": ("context-goes", {}, None),
    "files close": ("files-close", {}, r"recording of process \d+ stopped"),
    "few files": ("few-files", {}, None),
    "little memory": ("little-memory", {}, "5 launches without contents"),
    "thread exits": ("thread-exits", {}, None),
    "fork with threads": ("fork-threads", {}, None),
    "terminated": ("terminated", {}, "1 bundles without their end"),
    "aborted": ("aborted", {}, "INCOMPLETE"),
    "quick exit": ("quick-exit", {}, "INCOMPLETE: .*, or left by _exit or exec"),
    "replaced": ("replaced", {}, "INCOMPLETE: .*, or left by _exit or exec"),
    "no folder": ("plain", {"KERNELAB_OUTPUT": "/nonexistent"}, r"recording of process \d+ stopped"),
    "a copy fails": ("plain", {"KERNELAB_SOFTGPU_FAULT": "cuMemcpyDtoHAsync_v2:3:700"}, "1 launches without contents"),
    "all copies fail": ("plain", {"KERNELAB_SOFTGPU_FAULT": "cuMemcpyDtoHAsync_v2:1+:1,cuMemcpyDtoH_v2:9:1"}, "5 launches without contents"),
    "a launch fails on request": ("plain", {"KERNELAB_SOFTGPU_FAULT": "cuLaunchKernel:3:701", "KERNELAB_EXTENTS": "off", "KERNELAB_HASH": "off"}, None),
    "a launch stalls": ("plain", {"KERNELAB_SOFTGPU_FAULT": "cuLaunchKernel:2:stall:0.2"}, None),
    "no parameter layout": ("plain", {"KERNELAB_SOFTGPU_FAULT": "cuFuncGetParamInfo:1+:801"}, "5 launches without contents"),
    "no address range": ("plain", {"KERNELAB_SOFTGPU_FAULT": "cuMemGetAddressRange_v2:1+:1"}, None),
    "no stream state": ("plain", {"KERNELAB_SOFTGPU_FAULT": "cuStreamIsCapturing:1+:1"}, "5 launches without contents"),
    "stream never idle": ("plain", {"KERNELAB_SOFTGPU_FAULT": "cuStreamQuery:1+:1"}, "5 launches without contents"),
    "work before never ends": ("plain", {"KERNELAB_SOFTGPU_FAULT": "cuStreamQuery:1+:600", **SHORT},
                               "work before it ran longer than 0.3 seconds"),
    "a variant never ends": ("plain", {"KERNELAB_SOFTGPU_FAULT": "cuStreamQuery:2+:600", **SHORT},
                             "its variant ran longer than 0.3 seconds"),
    "a variant stalls": ("plain", {"KERNELAB_SOFTGPU_FAULT": "cuLaunchKernel:1:stall:0.5", **SHORT}, "extents: measured"),
    "a variant is lost": ("plain", {"KERNELAB_SOFTGPU_FAULT": "cuLaunchKernel:1:lose"},
                          "not measured: .*its variant did not run"),
    "a variant's image stalls": ("plain", {"KERNELAB_SOFTGPU_FAULT": "cuModuleLoadDataEx:1:stall:0.5", **SHORT},
                                 "extents: measured"),
    "a variant's image fails": ("plain", {"KERNELAB_SOFTGPU_FAULT": "cuModuleLoadDataEx:1:218", **SHORT},
                                "not measured: .*CUDA_ERROR_INVALID_PTX"),
    "no memory for bitmaps": ("plain", {"KERNELAB_SOFTGPU_FAULT": "cuMemAlloc_v2:3+:2"},
                              "not measured: device memory for bitmaps"),
    "bitmaps are not cleared": ("plain", {"KERNELAB_SOFTGPU_FAULT": "cuMemsetD8Async:1+:2"},
                                "not measured: the table of regions"),
    "driver before 12.4": ("plain", {"old": "1"}, "5 launches without contents"),
}


def old_driver(folder):
    """A driver without cuFuncGetParamInfo: the name in its tables is another."""
    os.mkdir(folder)
    with open(f"{softgpu}/libcuda.so.1", "rb") as f:
        data = f.read()
    name = b"\0cuFuncGetParamInfo\0"
    if name not in data:
        problems.append("libcuda.so.1 has no cuFuncGetParamInfo to hide")
    with open(f"{folder}/libcuda.so.1", "wb") as f:
        f.write(data.replace(name, b"\0cuFuncGetParamInfX\0"))
    return folder


def run(command, env):
    return subprocess.run(command, capture_output=True, text=True, env={**ENV, **env}, timeout=120)


def check(top, number, name):
    mode, env, word = CASES[name]
    env = dict(env)
    driver = old_driver(f"{top}/old") if env.pop("old", None) else softgpu
    base = {"LD_LIBRARY_PATH": driver, "KERNELAB_SOFTGPU_LOG": "quiet"}
    found = []

    # Faults are counted by call, and the shim calls too: its own entries fail only with it.
    alone = {k: v for k, v in env.items() if k != "KERNELAB_OUTPUT"}
    expected = run([client, mode, cubin], {**base, **alone})
    status = expected.returncode if expected.returncode >= 0 else 128 - expected.returncode
    out = f"{top}/{number}"
    base["KERNELAB_CACHE_ROOTS"] = cache
    if "KERNELAB_OUTPUT" in env:  # the library alone
        done = run([client, mode, cubin], {**base, "LD_PRELOAD": shim, **env})
    else:
        done = run([kernelab, "capture", "-o", out, "--device", "gpu", "--", client, mode, cubin], {**base, **env})
    if (done.returncode, done.stdout) != (status, expected.stdout):
        found.append(f"status {done.returncode}, not {status}:\n{done.stdout}instead of\n{expected.stdout}"
                     f"{done.stderr}")
    lines = [line for line in done.stderr.splitlines() if line.startswith("kernelab: recording of process")]
    if len(lines) > 1:
        found.append(f"more than one line: {done.stderr}")
    bundles = glob.glob(f"{out}/*.klab")
    if not bundles and env.get("KERNELAB_OUTPUT") is None:
        found.append(f"no bundle: {done.stderr}")
    said = done.stderr
    for bundle in bundles:
        verify = subprocess.run([kernelab, "verify", bundle], capture_output=True, text=True)
        # All that may be wrong is that the end is not there.
        whole = rf"{re.escape(bundle)}: not complete, whole up to byte (\d+) of \1: no index: .*"
        trouble = [line for line in (verify.stdout + verify.stderr).splitlines()
                   if not re.fullmatch(rf"{whole}|{re.escape(bundle)}: (good|unfinished), capture, .*", line)]
        if trouble or verify.returncode != ("not complete" in verify.stdout + verify.stderr):
            found.append(f"verify: {verify.stdout}{verify.stderr}")
        shown = subprocess.run([kernelab, "ls", bundle], capture_output=True, text=True)
        if shown.returncode:
            found.append(f"ls: {shown.returncode} {shown.stderr}")
        said += shown.stdout
        said += subprocess.run([kernelab, "show", "--launch", "1", bundle], capture_output=True, text=True).stdout
        if "cast_bf16" not in shown.stdout:
            found.append(f"ls does not show the kernel: {shown.stdout}")
    if re.search("launches without contents,", said) and not re.search("recorded launch(es)? without contents: ", said):
        found.append(f"ls does not say why contents are missing: {said}")
    if word and not re.search(word, said):
        found.append(f"nobody says '{word}': {said}")
    return [f"{name}: {text}" for text in found]


with tempfile.TemporaryDirectory() as top:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for texts in pool.map(lambda item: check(top, *item), enumerate(CASES)):
            problems += texts
print("\n".join(problems))
sys.exit(bool(problems))
