# SPDX-License-Identifier: MIT
"""How fast replay is and where its time goes: a Markdown table from the replay.cost facts.

usage: rate.py BUILD_DIR [--device soft|gpu] [--small N] [--large BYTES] [--devices LIST] [NAME=BUNDLE…]
    Records N small launches (of 64 KiB) and four that read BYTES, and replays them with themselves
    as B. NAME=BUNDLE replays what is recorded already.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNELS = os.path.join(ROOT, "tests/data/apps/a")
TIMES = ("kernels", "restoring", "changing", "comparing", "uploading", "downloading", "hashing", "disk", "loading",
         "mapping", "sending", "host", "waiting")


def run(command, env=(), wanted=(0,)):
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, **dict(env)))
    if done.returncode not in wanted:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def cubin():
    with open(os.path.join(KERNELS, "manifest")) as f:
        path = next(line.split()[1] for line in f if re.match(r"cast_bf16 \S+ args=P", line))
    return os.path.join(KERNELS, path)


def record(o, folder, name, count, elements):
    out = os.path.join(folder, name)
    run([o.kernelab, "capture", "-o", out, "--device", o.device, "--max-region", "16G", "--",
         os.path.join(o.build, "bench/launches"), cubin(), str(count), str(elements)],
        {"KERNELAB_CACHE_ROOTS": KERNELS})
    return out


def replay(o, folder, name, bundle):
    """The replay.cost facts of a replay of the bundle against itself."""
    result = os.path.join(folder, f"{name}.klab")
    devices = ["--devices", o.devices] if o.devices else []
    run([o.kernelab, "replay", bundle, "--b", "recorded", "--device", o.device, *devices, "-o", result])
    report = f"{folder}/{name}.json"
    run([o.kernelab, "analyze", result, "--json", report], wanted=(0, 1))
    with open(report) as f:
        cost = json.load(f)["replay_cost"]
    os.unlink(result)
    return cost


def gb(cost, what):
    return f"{cost[what + '_bytes'] * 1e-9:.3f}"


def rate(cost, what, activity):
    """With the rate on the device; the software device's says nothing."""
    seconds = cost[activity + "_s"]
    return gb(cost, what) + (f" ({cost[what + '_bytes'] * 1e-9 / seconds:.0f}/s)" if seconds else "")


def row(name, cost):
    whole = sum(cost[f"{t}_s"] for t in TIMES)
    shares = ", ".join(f"{t} {100 * cost[f'{t}_s'] / whole:.0f}" for t in
                       sorted(TIMES, key=lambda t: -cost[f"{t}_s"]) if cost[f"{t}_s"] >= 0.005 * whole)
    working = whole - cost["waiting_s"] - cost["loading_s"]
    print(f"| {name} | {cost['trials']:.0f} | {cost['wall_s']:.2f} | {cost['trials'] / cost['wall_s']:.0f} "
          f"| {cost['trials'] / working:.0f} | {gb(cost, 'uploaded')} ({gb(cost, 'input')}) "
          f"| {gb(cost, 'downloaded')} | {rate(cost, 'restored', 'restoring')} | {rate(cost, 'changed', 'changing')} "
          f"| {rate(cost, 'compared', 'comparing')} | {shares} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("bundles", nargs="*")
    parser.add_argument("--device", default="soft")
    parser.add_argument("--devices")
    parser.add_argument("--small", type=int, default=50)
    parser.add_argument("--large", type=int, default=32 << 20)
    o = parser.parse_intermixed_args()
    o.build = os.path.abspath(o.build)
    o.kernelab = os.path.join(o.build, "tools/kernelab")
    print("| launches | trials | s | trials/s | /s of work | GB up (inputs) | GB down | GB restored "
          "| GB changed | GB compared | % of the workers' time |\n|---|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        if o.small:
            row(f"{o.small} small", replay(o, folder, "small", record(o, folder, "s", o.small, 16384 + 16 * o.small)))
        if o.large:
            row(f"4 that read {o.large / 1e9:.2f} GB",
                replay(o, folder, "large", record(o, folder, "l", 4, o.large // 64 * 16)))
        for bundle in o.bundles:
            name, _, path = bundle.partition("=")
            row(name, replay(o, folder, name, path))


main()
