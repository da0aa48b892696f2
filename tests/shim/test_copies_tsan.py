# SPDX-License-Identifier: MIT
"""Threads that copy and threads that store, under ThreadSanitizer: no race, and all contents.

test_copies_tsan.py CLIENT DUMP SOFTGPU_FOLDER CUBIN CACHE
"""
import glob
import os
import subprocess
import sys
import tempfile

client, dumper, softgpu, cubin, cache = sys.argv[1:6]
ENV = {k: v for k, v in os.environ.items() if not k.startswith(("KERNELAB_", "TRITON_", "LD_"))}
ENV |= {"LD_LIBRARY_PATH": softgpu, "KERNELAB_CACHE_ROOTS": cache, "KERNELAB_PER_CLASS": "100",
        "TSAN_OPTIONS": "halt_on_error=0:exitcode=66:report_signal_unsafe=0"}
if subprocess.run([client, cubin, "probe", "1", "1"], env=ENV, capture_output=True).returncode:
    sys.exit(77)  # the runtime does not work here
CASES = {
    # name: (mode, environment, launches, how many of them may be without contents)
    "threads": ("threads-twice", {}, 32, 0),
    "small ring": ("threads-twice", {"KERNELAB_RING": "1"}, 32, 0),
    "no hash": ("threads-twice", {"KERNELAB_RING": "1", "KERNELAB_HASH": "off"}, 32, 0),
    "pageable": ("threads", {"KERNELAB_SOFTGPU_FAULT": "cuMemHostRegister_v2:1+:2"}, 16, 0),
    "words lost": ("threads", {"KERNELAB_SOFTGPU_FAULT": "cuStreamWriteValue32_v2:5+:lose", "KERNELAB_RING": "1",
                               "KERNELAB_WAIT_BEFORE": "0.2s", "KERNELAB_WAIT_AFTER": "0.2s"}, 16, 16),
    "context goes": ("context-goes", {}, 16, 0),
}
problems = []
with tempfile.TemporaryDirectory() as top:
    for name, (mode, env, launches, without) in CASES.items():
        folder = f"{top}/{name}"
        os.mkdir(folder)
        done = subprocess.run([client, cubin, mode, "16", "20000"], env={**ENV, **env, "KERNELAB_OUTPUT": folder},
                              capture_output=True, text=True, timeout=120)
        if done.returncode:
            problems.append(f"{name}: status {done.returncode}\n{done.stderr[:6000]}")
        for bundle in glob.glob(f"{folder}/*.klab"):
            dump = subprocess.run([dumper, bundle], capture_output=True, text=True)
            lines = [line for line in dump.stdout.splitlines() if line.startswith("launch ")]
            whole = [line for line in lines if line.startswith("launch flags 0 ")]
            if dump.returncode or len(whole) < launches - without:
                problems.append(f"{name}: {len(lines)} launches, {len(whole)} whole: {dump.stderr}")
        if len(glob.glob(f"{folder}/*.klab")) != 1:
            problems.append(f"{name}: no bundle: {done.stderr}")
print("\n".join(problems))
sys.exit(bool(problems))
