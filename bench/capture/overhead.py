# SPDX-License-Identifier: MIT
"""What a capture costs: launches, and training steps of tests/gpu/train_big.py, with and without it.

usage: overhead.py BUILD_DIR [--driver FOLDER] [--batches N] [--cold BYTES] [--train N] [--steps N]
    --driver FOLDER  where libcuda.so.1 is, if it is not the machine's: BUILD_DIR/softgpu, or
                     BUILD_DIR/tests/shim, whose launches take no time
    --batches N      pairs of batches of launches (default 401; 0: launches are left out)
    --cold BYTES     go through so much memory, and 64 KiB of code, before each launch
    --train N        alternating runs with and without of training steps (default 0: none): needs a
                     GPU and PyTorch; about 40 s, and 13 s a run; all programs are started
                     beforehand, and wait for their turn in front of CUDA
    --option WORD    one more word for kernelab capture of these; may be repeated
    --steps N        of a run (default 200); the second half is looked at, when nothing is recorded
                     any more
"""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(command, env):
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, **env))
    if done.returncode:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done


class Waiting:
    """A Python program that has imported what is slow to import and waits for its turn."""

    # torch._inductor asks whether there is a GPU: a context is made by the program alone.
    BEFORE = """
import runpy, sys, torch, torch._dynamo, torch._inductor.compile_fx
sys.stdin.readline()
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""

    def __init__(self, prefix, words, env):
        self.process = subprocess.Popen([*prefix, "python3", "-c", self.BEFORE, *words], text=True, env=dict(os.environ, **env),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def go(self):
        """Standard output and error of its run."""
        out, err = self.process.communicate("\n")
        if self.process.returncode:
            sys.exit(f"{' '.join(self.process.args)}: status {self.process.returncode}\n{out}{err}")
        return out, err


def alternate(kernelab, rounds, words, env, read, options):
    """Figures without and with capture: two lists of what `read` finds in standard output."""
    figures = {"without": [], "with": []}
    with tempfile.TemporaryDirectory() as folder:
        def under(n):
            return [kernelab, "capture", *options, "-o", f"{folder}/{n}", "--"]

        waiting = [{"without": Waiting([], words, env), "with": Waiting(under(n), words, env)} for n in range(rounds)]
        for n, pair in enumerate(waiting):
            for which in ("without", "with") if n % 2 == 0 else ("with", "without"):
                out, err = pair[which].go()
                figures[which].append(read(out))
                print(f"{which}: {figures[which][-1]}", flush=True)  # a run that is cut short has told what it knows
                if which == "with":
                    said = err.strip().split("\n")[-1]
                    shutil.rmtree(f"{folder}/{n}")
    print(said)
    return figures["without"], figures["with"]


def launches(kernelab, build, driver, words):
    """Measured inside one process: see bench/capture/launch.c."""
    env = {"LD_LIBRARY_PATH": driver} if driver else {}
    with tempfile.TemporaryDirectory() as folder:
        print(run([kernelab, "capture", "--device", "gpu", "--origin", "all", "--exclude", "^counted_",
                   "-o", f"{folder}/out", "--", os.path.join(build, "bench/launch"), *words], env).stdout)


def steps(kernelab, rounds, count, options):
    with tempfile.TemporaryDirectory() as caches:
        env = {"TRITON_CACHE_DIR": f"{caches}/triton", "TORCHINDUCTOR_CACHE_DIR": caches}
        words = [os.path.join(ROOT, "tests/gpu/train_big.py"), "default"]
        run(["python3", *words, "4"], env)  # fills the caches

        def read(out):
            return float(re.search(r"later steps ms ([\d.]+)", out)[1])

        plain, captured = alternate(kernelab, rounds, [*words, str(count)], env, read, options)
    a, b = statistics.median(plain), statistics.median(captured)
    print()
    print("| what | without | with capture | difference | spread without | spread with |\n|---|---|---|---|---|---|")
    print(f"| step of train_big.py, median of the later {count // 2} of {count}, median of {rounds} runs | {a:.3f} ms "
          f"| {b:.3f} ms | {b - a:+.3f} ms ({100 * (b / a - 1):+.2f} %) | {max(plain) - min(plain):.3f} ms "
          f"| {max(captured) - min(captured):.3f} ms |")


parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--driver", default="")
parser.add_argument("--batches", type=int, default=401)
parser.add_argument("--cold", default="")
parser.add_argument("--train", type=int, default=0)
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--option", action="append", default=[])
options = parser.parse_args()
kernelab = os.path.join(os.path.abspath(options.build), "tools/kernelab")
if options.batches:
    launches(kernelab, os.path.abspath(options.build), options.driver,
             ["--batches", str(options.batches), *(["--cold", options.cold] if options.cold else [])])
if options.train:
    steps(kernelab, options.train, options.steps, options.option)
