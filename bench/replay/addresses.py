# SPDX-License-Identifier: MIT
"""How often recorded addresses can be restored: fresh replaying processes, for each allocator of PyTorch.

usage: addresses.py BUILD_DIR [--processes N] [--parallel N] [--device soft|gpu]
    Records tests/gpu/train.py user under each allocator (on the software device: bench/launches), and replays it
    in N processes (default 200, shared among the allocators), some at a time. Markdown table.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNELS = os.path.join(ROOT, "tests/data/apps/a")
ALLOCATORS = {
    "cudaMallocAsync": "backend:cudaMallocAsync",
    "native": "",
    "expandable_segments": "expandable_segments:True",
}


def record(o, folder, name, setting):
    env = {**os.environ, "PYTORCH_CUDA_ALLOC_CONF": setting, "PYTORCH_ALLOC_CONF": setting,
           "TRITON_CACHE_DIR": f"{folder}/cache", "KERNELAB_CACHE_ROOTS": KERNELS}
    program = ["python3", os.path.join(ROOT, "tests/gpu/train.py"), "user"]
    if o.device == "soft":
        with open(os.path.join(KERNELS, "manifest"), encoding="utf-8") as f:
            path = next(line.split()[1] for line in f if re.match(r"cast_bf16 \S+ args=P", line))
        program = [os.path.join(o.build, "bench/launches"), os.path.join(KERNELS, path), "3", "16384"]
    done = subprocess.run([o.kernelab, "capture", "-o", f"{folder}/{name}", "--device", o.device, "--", *program],
                          env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name}: {done.stdout}{done.stderr}")
    return f"{folder}/{name}"


def replay(o, folder, bundle, number):
    """(ranges refused in the end, starts anew, launches not restored) of one replay."""
    result = f"{folder}/{number}.klab"
    done = subprocess.run([o.kernelab, "replay", bundle, "--b", "recorded", "--device", o.device, "--trials", "none",
                           "-o", result], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{bundle}: {done.stdout}{done.stderr}")
    os.unlink(result)
    refused = re.search(r"(\d+) recorded address ranges are taken in this process: launches", done.stderr)
    counts = {what: int(n) for n, what in re.findall(r"(\d+) (launches on|faithful|nondeterministic)", done.stderr)}
    bad = counts["launches on"] - counts["faithful"] - counts["nondeterministic"]
    return int(refused[1]) if refused else 0, done.stderr.count("starts anew"), bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--processes", type=int, default=200)
    parser.add_argument("--parallel", type=int, default=8)
    parser.add_argument("--device", default="gpu")
    o = parser.parse_args()
    o.build = os.path.abspath(o.build)
    o.kernelab = os.path.join(o.build, "tools/kernelab")
    each = -(-o.processes // len(ALLOCATORS))
    print("| allocator | processes | of these with every range granted at once | ranges refused in the end "
          "| launches not reproduced | s |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, setting in ALLOCATORS.items():
            bundle = record(o, folder, name, setting)
            start = time.time()
            with concurrent.futures.ThreadPoolExecutor(o.parallel) as pool:
                outcomes = list(pool.map(lambda i: replay(o, folder, bundle, i), range(each)))
            print(f"| {name} | {each} | {sum(not r and not n for r, n, _ in outcomes)} | {sum(r for r, _, _ in outcomes)} "
                  f"| {sum(b for _, _, b in outcomes)} | {time.time() - start:.1f} |", flush=True)


main()
