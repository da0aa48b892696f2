# SPDX-License-Identifier: MIT
"""The training program agrees with its double-precision reference, repeats, and fails as it should."""
import os
import re
import subprocess
import sys
import tempfile

if len(sys.argv) not in (2, 3):
    sys.exit("usage: test_train.py TRAIN [SOFTGPU_FOLDER]   (without a folder: the system's driver)")
TRAIN, SOFTGPU = sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else None
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "apps")
problems = []


def train(*options):
    environment = {**os.environ, "LD_LIBRARY_PATH": SOFTGPU} if SOFTGPU else None
    return subprocess.run([TRAIN, *options], capture_output=True, text=True, timeout=300,
                          env=environment)


def expect(condition, message, run):
    if not condition:
        problems.append(f"{message}: status {run.returncode}\n{run.stdout}{run.stderr}")


def kernels(*names):
    return [os.path.join(DATA, *names)]


if not SOFTGPU:
    probe = train("--kernels", *kernels("a"), "--steps", "0")
    if probe.returncode:
        print(f"no GPU: {probe.stderr.strip()}")
        sys.exit(77)

outputs = {}
for side in ("a", "b"):
    run = train("--kernels", *kernels(side), "--config", "0", "--check")
    expect(run.returncode == 0, f"training with {side}", run)
    losses = [float(x) for x in re.findall(r"^step \d+ loss (\S+) right \d+/50$", run.stdout, re.M)]
    expect(len(losses) == 4 and losses == sorted(losses, reverse=True),
           f"losses of {side} do not go down over four steps", run)
    outputs[side] = run.stdout
for config in ("0", "1", "2"):
    run = train("--kernels", *kernels("a"), "--config", config, "--steps", "2", "--check")
    expect(run.returncode == 0, f"training with matmul config {config}", run)
run = train("--kernels", *kernels("a"), "--config", "0")
expect(run.stdout == outputs["a"], "a second run prints other losses", run)
for options in (["--graph"], ["--library"], ["--graph", "--library"]):
    run = train("--kernels", *kernels("a"), "--config", "0", "--check", *options)
    expect(run.returncode == 0 and run.stdout == outputs["a"], f"{options} prints other losses", run)
run = train("--kernels", *kernels("a"), "--steps", "1", "--check")
expect(run.returncode == 0, "training with the fastest config", run)

# The reference must be able to fail: both bugs of the forward and backward pass are noticed.
for edit in ("bug-softmax-tail-mask", "bug-matmul-last-k-tile"):
    options = ["--kernels", *kernels("a"), "--replace", *kernels("edits", edit), "--config", "0",
               "--steps", "1"]
    run = train(*options, "--check")
    expect(run.returncode == 1 and "disagreements" in run.stderr, f"{edit} is not noticed", run)
    expect(train(*options).returncode == 0, f"{edit} without --check", run)
for edit in ("benign-matmul-reversed-k", "benign-layernorm-one-pass", "benign-column-sum-tree"):
    run = train("--kernels", *kernels("a"), "--replace", *kernels("edits", edit), "--config", "0",
                "--steps", "2", "--check")
    expect(run.returncode == 0, f"{edit} disagrees with the reference", run)

with tempfile.TemporaryDirectory() as empty:
    with open(os.path.join(empty, "manifest"), "w", encoding="utf-8") as f:
        f.write("no kernel\n")
    for status, options in ((2, []), (2, ["--kernels", *kernels("a"), "--steps", "x"]),
                            (2, ["--kernels", *kernels("a"), "surplus"]), (1, ["--kernels", empty]),
                            (2, ["--kernels", *kernels("a"), "--graph"]),
                            (1, ["--kernels", *kernels("none")]),
                            (1, ["--kernels", *kernels("a"), "--config", "3"])):
        run = train(*options)
        expect(run.returncode == status and run.stderr, f"{options}: expected status {status}", run)
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
