# SPDX-License-Identifier: MIT
"""Captures Triton itself on the software device. Skipped where no Python has Triton 3.

KERNELAB_TEST_PYTHON names the Python to use; default: the one that runs this.
"""
import json
import os
import subprocess
import sys
import tempfile

kernelab, shim, softgpu = sys.argv[1:4]
python = os.environ.get("KERNELAB_TEST_PYTHON", sys.executable)
version = subprocess.run([python, "-c", "import triton; print(triton.__version__)"], capture_output=True,
                         text=True).stdout.strip()
instrumented = "__asan" in subprocess.run(["nm", "-D", shim], capture_output=True, text=True).stdout
if instrumented or not version.startswith("3."):
    sys.exit(77)
problems = []
with tempfile.TemporaryDirectory() as top:
    out = os.path.join(top, "out")
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "triton_program.py")
    done = subprocess.run([kernelab, "capture", "-o", out, "--device", "soft", "--fresh-cache", "--", python,
                           program], capture_output=True, text=True,
                          env={**os.environ, "TRITON_LIBCUDA_PATH": softgpu})
    if done.returncode or done.stdout != "0.0 30.0 2997.0\n":
        problems.append(f"status {done.returncode}: {done.stdout}{done.stderr}")
    # The float scalar differs between the two launches, so both are of one class.
    if "1 bundle in" not in done.stderr or "1 images, 1 launches recorded of 2 seen" not in done.stderr:
        problems.append(done.stderr)
    if "without" in done.stderr:
        problems.append(done.stderr)
    shown = subprocess.run([kernelab, "ls", "--json", out], capture_output=True, text=True)
    names = [family["name"] for family in json.loads(shown.stdout)["families"]]
    if names != ["scale_k"]:
        problems.append(f"families {names}")
print("\n".join(problems))
sys.exit(bool(problems))
