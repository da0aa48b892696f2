# SPDX-License-Identifier: MIT
"""A library opened with RTLD_DEEPBIND is not seen, runs untouched, and that is said.

test_deep.py KERNELAB CLIENT LIBRARY SHIM FAKE_FOLDER CUBIN CACHE
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

kernelab, client, library, shim, fake, cubin, cache = sys.argv[1:8]
if "__asan" in subprocess.run(["nm", "-D", shim], capture_output=True, text=True).stdout:
    sys.exit(77)  # its runtime refuses RTLD_DEEPBIND
ENV = {k: v for k, v in os.environ.items() if not k.startswith(("KERNELAB_", "TRITON_", "LD_"))}
ENV.update(LD_LIBRARY_PATH=fake, KERNELAB_CACHE_ROOTS=cache)
problems = []


def check(what, fine, text):
    if not fine:
        problems.append(f"{what}: {text}")


def run(folder, *args):
    done = subprocess.run([client, *args], env={**ENV, "LD_PRELOAD": shim, "KERNELAB_OUTPUT": folder},
                          capture_output=True, text=True)
    check(args[0], done.returncode == 0 and set(done.stdout.split()) == {"0"}, done)
    return glob.glob(f"{folder}/*.klab"), done.stderr


with tempfile.TemporaryDirectory() as top:
    bundles, said = run(top, "plain", library, cubin)
    check("plain", len(bundles) == 1 and not said, (bundles, said))
    for path in bundles:
        os.remove(path)
    bundles, said = run(top, "deep", library, cubin)
    check("deep", not bundles and len(said.splitlines()) == 1 and os.path.basename(library) in said and
          "RTLD_DEEPBIND" in said, (bundles, said))
    copy = shutil.copy(library, f"{top}/other.so")
    bundles, said = run(top, "both", library, cubin, copy)
    check("both", len(bundles) == 1 and not said, (bundles, said))
    if bundles:
        shown = subprocess.run([kernelab, "ls", bundles[0]], capture_output=True, text=True)
        line = [text for text in shown.stdout.splitlines() if "capture.unseen_callers" in text]
        check("both", len(line) == 1 and os.path.basename(library) in line[0] and "other.so" not in line[0],
              shown.stdout + shown.stderr)
print("\n".join(problems))
sys.exit(bool(problems))
