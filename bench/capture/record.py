# SPDX-License-Identifier: MIT
"""How fast contents get into a bundle, against what the machine can do; what memory the library takes.

usage: record.py BUILD_DIR --folder DIR [--bytes N] [--launches N] [--driver FOLDER]
    --folder DIR     for the bundles, with room for about --bytes
    --bytes N        of distinct contents (default 20e9), in --launches launches (default 20)
    --variants LIST  options of the captures without dashes, comma-separated (default: four)
    --driver FOLDER  where libcuda.so.1 is, if it is not the machine's: BUILD_DIR/softgpu
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--folder", required=True)
parser.add_argument("--bytes", type=float, default=20e9)
parser.add_argument("--launches", type=int, default=20)
parser.add_argument("--driver", default="")
parser.add_argument("--variants", default="compress none,compress none extents off,compress none hash off,compress lz4")
options = parser.parse_args()
record = os.path.join(os.path.abspath(options.build), "bench/record")
kernelab = os.path.join(os.path.abspath(options.build), "tools/kernelab")
total = int(options.bytes)
env = dict(os.environ, **({"LD_LIBRARY_PATH": os.path.abspath(options.driver)} if options.driver else {}))


def run(*command):
    """Its figures, its resident size, the seconds of the whole process."""
    start = time.time()
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    rates = [float(x) for x in re.findall(r"s ([\d.]+) GB/s", done.stdout)]
    resident = re.search(r"^resident (\d+)", done.stdout, re.M)
    return rates, int(resident[1]) if resident else 0, time.time() - start, done.stderr


def capture(name, *extra):
    folder = os.path.join(options.folder, name)
    shutil.rmtree(folder, ignore_errors=True)
    result = run(kernelab, "capture", "-o", folder, "--device", "gpu", "--origin", "all", "--kernels", "^read$",
                 "--per-class", "1000", *extra, "--", record, "launches", str(total), str(options.launches), "3")
    bundles = glob.glob(f"{folder}/*.klab")
    size = sum(os.path.getsize(f) for f in bundles)
    dump = subprocess.run([os.path.join(os.path.dirname(kernelab), "../tests/shim/contents_dump"), "--facts", *bundles],
                          capture_output=True, text=True).stdout
    facts = dict(re.findall(r"^fact capture\.(\w+) (\d+)", dump, re.M))
    hash_rate = f"{int(facts['hashed_bytes']) / max(1, int(facts['hash_us'])) * 1e-3:.0f} GB/s" if "hash_us" in facts else "?"
    extents = f"{int(facts['measure_us']) / (3e3 * options.launches):.2f} ms" if "measure_us" in facts else "?"
    shutil.rmtree(folder)
    if "without contents" in result[3] or f"{3 * options.launches} launches recorded" not in result[3]:
        print(f"{name}: not all was recorded: {result[3]}", flush=True)
    return result, size, hash_rate, extents


os.makedirs(options.folder, exist_ok=True)
d2h = run(record, "d2h", str(min(total, 8 << 30)))[0][0]
disk = run(record, "disk", os.path.join(options.folder, "disk"), str(total))[0][0]
plain, resident, seconds, _ = run(record, "launches", str(total), str(options.launches), "3")
print(f"pinned copies from the device {d2h:.2f} GB/s; one thread writing the same amount {disk:.2f} GB/s; without a capture: "
      f"{plain[1]:.0f} GB/s read, {seconds:.1f} s in all\n", flush=True)
print("| capture of {:.1f} GB in {} launches | first | again | third | hash on the device | extents, a launch | bundle / contents | host memory | whole process |"
      .format(total / 1e9, options.launches))
print("|---|---|---|---|---|---|---|---|---|")
for name in options.variants.split(","):
    extra = [word if word in ("off", "none", "lz4") else "--" + word for word in name.split()]
    (rates, with_capture, seconds, _), size, hash_rate, extents = capture(name, *extra)
    print(f"| {name} | {rates[0]:.2f} GB/s, {100 * rates[0] / min(d2h, disk):.0f} % of the lower rate | "
          f"{rates[1]:.1f} GB/s | {rates[2]:.1f} GB/s | {hash_rate} | {extents} | {size / total:.3f} | {(with_capture - resident) / 2**20:+.0f} MiB "
          f"| {seconds:.1f} s |", flush=True)
