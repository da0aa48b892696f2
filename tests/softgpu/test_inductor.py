# SPDX-License-Identifier: MIT
"""Real Inductor kernels: each decodes, runs, and survives damage. test_inductor.py TOOL ARCHIVE VERB [COUNT]"""
import os
import subprocess
import sys
import tarfile
import tempfile

tool, archive, verb, *count = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data") if hasattr(tarfile, "data_filter") else tar.extractall(folder)
    files = sorted(os.path.join(folder, name) for name in os.listdir(folder))
    assert len(files) == 72, len(files)
    if verb == "fuzz":  # the small ones: a large one is mostly the same again
        files = sorted(files, key=os.path.getsize)[:36:3] + files[:2]
    run = subprocess.run([tool, verb, *count, *files], text=True, stdout=subprocess.PIPE)
    print(run.stdout[-4000:])
    assert run.returncode == 0, run.returncode
    assert f"0 of {len(files)} bad" in run.stdout
