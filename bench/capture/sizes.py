# SPDX-License-Identifier: MIT
"""Size of a capture against the raw bytes of all snapshots, and against torch.save of the same tensors.

usage: sizes.py BUILD_DIR [--folder DIR] [-- COMMAND...]
    COMMAND  the program to record (default: python3 tests/gpu/train.py compile). Needs a GPU and PyTorch.

Raw: what a snapshot holds that keeps for each recorded launch what it reads and writes before, and what it
writes after. torch.save: a file a launch with these as tensors of bytes, which says nothing of values twice.
"""
import argparse
import glob
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--folder")
parser.add_argument("command", nargs="*", default=["python3", os.path.join(ROOT, "tests/gpu/train.py"), "compile"])
options = parser.parse_args()
build = os.path.abspath(options.build)
folder = options.folder or tempfile.mkdtemp()


def tensors(extents, kinds):
    """Sizes of the extents of those kinds, each byte once."""
    ranges, sizes = [], []
    for kind, region, offset, size in re.findall(r"([rw])(\d+):(\d+)\+(\d+)", extents):
        if kind in kinds:
            ranges.append((int(region), int(offset), int(offset) + int(size)))
    last = None
    for region, start, end in sorted(ranges):
        if last and region == last[0] and start <= last[1]:
            sizes[-1] += max(0, end - last[1])
            last = (region, max(end, last[1]))
        else:
            sizes.append(end - start)
            last = (region, end)
    return sizes


def saved(before, after):
    """Bytes of torch.save of a launch's tensors; contents do not matter to it."""
    import torch
    stream = io.BytesIO()
    torch.save([[torch.zeros(size, dtype=torch.uint8) for size in sizes] for sizes in (before, after)], stream)
    return stream.tell()


def measure(compress):
    out = os.path.join(folder, f"sizes-{compress}")
    shutil.rmtree(out, ignore_errors=True)
    done = subprocess.run([f"{build}/tools/kernelab", "capture", "-o", out, "--compress", compress, "--", *options.command],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"status {done.returncode}: {done.stderr}")
    file_bytes = chunks = extents_bytes = torch_bytes = launches = 0
    copied = known = 0
    for bundle in glob.glob(f"{out}/*.klab"):
        file_bytes += os.path.getsize(bundle)
        dump = subprocess.run([f"{build}/tests/shim/contents_dump", bundle], capture_output=True, text=True, check=True)
        for line in dump.stdout.splitlines():
            fact = re.match(r"fact capture\.(copied|known)_bytes (\d+)", line)
            copied += int(fact[2]) if fact and fact[1] == "copied" else 0
            known += int(fact[2]) if fact and fact[1] == "known" else 0
            if not line.startswith("sizes "):
                continue
            _, before, changed, *extents = line.split(" ", 3)
            launches += 1
            chunks += int(before) + int(changed)
            lists = [tensors("".join(extents), kinds) for kinds in ("rw", "w")]
            extents_bytes += sum(map(sum, lists))
            torch_bytes += saved(*lists)
    shutil.rmtree(out)
    mib = 2**20
    print(f"| --compress {compress} | {launches} | {extents_bytes / mib:.1f} MiB | {chunks / mib:.1f} MiB | {torch_bytes / mib:.1f} MiB "
          f"| {file_bytes / mib:.1f} MiB | {file_bytes / extents_bytes:.3f} | {file_bytes / torch_bytes:.3f} | {copied / mib:.1f} MiB "
          f"| {known / mib:.1f} MiB |", flush=True)


print("| capture | launches | extents, before and after | their chunks | torch.save of the extents | bundles | of extents | of torch.save "
      "| copied | known by hash |\n|---|---|---|---|---|---|---|---|---|---|")
for how in ("lz4", "none"):
    measure(how)
