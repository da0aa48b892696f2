# SPDX-License-Identifier: MIT
"""Captures a mode of train.py under two assemblers on a GPU with PyTorch and checks the verdicts.

usage: test_real_run.py KERNELAB MODE IMAGES FAMILIES [FOLDER]
    MODE      of train.py: user, compile, more-configs, graphs
    IMAGES    Triton images that must be recorded; 0: any number above none
    FAMILIES  that the verdict must name
    FOLDER    keeps the bundles, results and verdicts there; default: a folder that is removed
Exit status 77 without a GPU, PyTorch or two assemblers.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from gpu_test import HERE, need_torch, skip

# Triton's own assembler and PyTorch's: two versions beside each other in one installation.
FIND = """
import triton
print(os.path.join(os.path.dirname(triton.__file__), "backends/nvidia/bin/ptxas"))
print(os.path.join(os.path.dirname(torch.__file__), "bin/ptxas"))
"""


def assemblers():
    paths = need_torch(FIND, "python3").split("\n")[:2]
    if not all(os.access(p, os.X_OK) for p in paths):
        skip("two assemblers")
    return paths


class Run:
    def __init__(self, kernelab, mode, folder):
        self.kernelab, self.mode, self.folder, self.problems = kernelab, mode, folder, []
        # Triton writes the program's path into kernels: the same one for both sides.
        self.program = os.path.join(folder, "train.py")
        shutil.copy(os.path.join(HERE, "train.py"), self.program)

    def check(self, good, what):
        print(f"{'ok' if good else 'FAILED'}: {what}", flush=True)
        if not good:
            self.problems.append(what)

    def run(self, *command, ptxas=None, statuses=(0,)):
        env = dict(os.environ, **({"TRITON_PTXAS_PATH": ptxas} if ptxas else {}))
        start = time.monotonic()
        done = subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True)
        seconds = time.monotonic() - start
        name = " ".join(os.path.basename(word) for word in command)
        self.check(done.returncode in statuses, f"{name}: status {done.returncode}, {seconds:.1f} s")
        if done.returncode not in statuses:
            print(done.stdout[-3000:], done.stderr[-3000:], sep="\n")
        return done

    def plain(self, name, ptxas):
        """Standard output without capture, by the kernels that capture NAME compiled."""
        caches = os.path.join(self.folder, name, "cache")
        env = {"TRITON_CACHE_DIR": f"{caches}/triton", "TORCHINDUCTOR_CACHE_DIR": f"{caches}/inductor"}
        self.check(all(os.path.isdir(path) for path in env.values()), f"caches in {caches}")
        return self.run("env", *(f"{k}={v}" for k, v in env.items()), "python3", self.program,
                        self.mode, ptxas=ptxas).stdout

    def capture(self, name, ptxas, *options):
        done = self.run(self.kernelab, "capture", "-o", name, "--fresh-cache", *options, "--",
                        "python3", self.program, self.mode, ptxas=ptxas)
        print(done.stderr.strip().split("\n")[-1])
        self.run(self.kernelab, "verify", name)
        return done.stdout

    def diff(self, name, a, b):
        done = self.run(self.kernelab, "diff", a, "--b", b, "-o", f"{name}.klab", "--json",
                        f"{name}.json", statuses=(0, 1))
        print(done.stdout)
        with open(os.path.join(self.folder, f"{name}.json"), encoding="utf-8") as f:
            return json.load(f)


def judge(run, images, families):
    a_ptxas, b_ptxas = assemblers()
    captured = run.capture("a", a_ptxas)
    run.check(captured and captured == run.plain("a", a_ptxas), "standard output under capture, side A")
    run.check(run.capture("b", b_ptxas, "--no-data") == captured, "standard output, side B")
    suite = json.loads(run.run(run.kernelab, "ls", "--json", "a").stdout)
    recorded = {m["image"] for f in suite["families"] for c in f["configs"] for m in c["images"]}
    run.check(len(recorded) == images or (not images and recorded),
              f"{len(recorded)} images with metadata recorded, wanted {images or 'some'}")
    for name, b in (("ab", "b"), ("aa", "a")):
        verdict = run.diff(name, "a", b)
        found = verdict["families"]
        coverage = [f["coverage"] for f in found]
        launches = sum(c["launches"] for c in coverage)
        proven = sum(c["faithful"] + c["nondeterministic"] for c in coverage)
        keys = {f["key"] for f in found}
        run.check(len(found) == len(keys) == families or not families,
                  f"{name}: {len(keys)} families, each once; wanted {families}")
        run.check(launches and proven >= 0.95 * launches,
                  f"{name}: {proven} of {launches} launches faithful or nondeterministic")
        for f in found if name == "aa" else ():
            if not f["nondeterministic"]:
                run.check(f["bucket"] == 1, f"aa: {f['name']} is bitwise equal to itself")


def main():
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    kernelab, mode, images, families = sys.argv[1:5]
    assemblers()
    folder = sys.argv[5] if len(sys.argv) == 6 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    run = Run(os.path.abspath(kernelab), mode, os.path.abspath(folder))
    try:
        judge(run, int(images), int(families))
    finally:
        if len(sys.argv) < 6:
            shutil.rmtree(folder)
    print(f"{len(run.problems)} problems")
    sys.exit(1 if run.problems else 0)


main()
