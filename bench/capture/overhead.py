# SPDX-License-Identifier: MIT
"""What a capture costs: launches, and training steps of tests/gpu/train_big.py, with and without it.

usage: overhead.py BUILD_DIR [--rounds N] [--train N]
    --rounds N  alternating runs with and without for the launches (default 5)
    --train N   the same for training steps (default 0: none): needs a GPU and PyTorch; about 20 s
                a run after the first
"""
import argparse
import glob
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNELS = os.path.join(ROOT, "tests/data/apps/a")


def run(command, env):
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, **env))
    if done.returncode:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def alternate(kernelab, rounds, command, env, read):
    """Figures without and with capture: two lists of what `read` finds in standard output."""
    plain, captured, last = [], [], None
    for _ in range(rounds):
        plain.append(read(run(command, env).stdout))
        with tempfile.TemporaryDirectory() as folder:
            last = run([kernelab, "capture", "-o", f"{folder}/out", "--", *command], env)
            captured.append(read(last.stdout))
    print(last.stderr.strip().split("\n")[-1])
    return plain, captured


def row(what, unit, plain, captured):
    a, b = statistics.median(plain), statistics.median(captured)
    spread = max(plain) - min(plain)
    print(f"| {what} | {a:.1f} {unit} | {b:.1f} {unit} | {b - a:+.1f} {unit} ({100 * (b / a - 1):+.2f} %) "
          f"| {spread:.1f} {unit} |")


def launches(kernelab, build, rounds):
    cubin = next(path for path in sorted(glob.glob(f"{KERNELS}/*/cast_bf16.cubin")))
    command = [os.path.join(build, "bench/launch"), cubin]
    env = {"KERNELAB_CACHE_ROOTS": KERNELS}

    def read(out):
        return {name: float(ns) for name, ns in re.findall(r"^(\w+) ([\d.]+)$", out, re.M)}

    plain, captured = alternate(kernelab, rounds, command, env, read)
    for name, what in (("recorded", "launch of a kernel whose class is recorded already"),
                       ("other", "launch of a kernel that is only counted")):
        row(what, "ns", [p[name] for p in plain], [c[name] for c in captured])


def steps(kernelab, rounds):
    with tempfile.TemporaryDirectory() as caches:
        env = {"TRITON_CACHE_DIR": f"{caches}/triton", "TORCHINDUCTOR_CACHE_DIR": caches}
        command = ["python3", os.path.join(ROOT, "tests/gpu/train_big.py"), "default", "40"]
        run(command, env)  # fills the caches

        def read(out):
            return float(re.search(r"median step ms ([\d.]+)", out)[1])

        plain, captured = alternate(kernelab, rounds, command, env, read)
    row("step of train_big.py, after everything is recorded", "ms", plain, captured)


parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--train", type=int, default=0)
options = parser.parse_args()
kernelab = os.path.join(os.path.abspath(options.build), "tools/kernelab")
print("| what | without | with capture | difference | spread without |\n|---|---|---|---|---|")
launches(kernelab, os.path.abspath(options.build), options.rounds)
if options.train:
    steps(kernelab, options.train)
