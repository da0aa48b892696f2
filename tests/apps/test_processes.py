# SPDX-License-Identifier: MIT
"""Ranks, forked and spawned children: a bundle for each process that launches, one run in `ls`."""
import glob
import json
import os
import re
import sys
import tempfile

import whole_tool

if len(sys.argv) != 2:
    sys.exit("usage: test_processes.py BUILD_DIR")
tool = whole_tool.Tool(sys.argv[1])
if tool.instrumented():
    sys.exit(77)  # an instrumented shim cannot be loaded into sh
A = os.path.join(whole_tool.DATA, "a")
# Launches of a step, and of the sweeps in front of the first (see test_end_to_end.py).
STEP, SWEEPS, RECORDED = 6 + 4 + 4 + 2 + 11, 6 * 3 * 3, 18 + 4 + 2 + 2 + 11

# As torchrun: ranks beside each other, their number in the environment. The last process takes the
# place of the launcher itself.
RANKS = """
for rank in 0 1 2; do
    RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=3 "$@" --steps $((rank + 1)) > "$OUT.$rank" & pids="$pids $!"
done
for pid in $pids; do wait $pid || exit 1; done
exec "$@" --steps 1
"""

# As a data loader: the parent has opened CUDA, children are forked and spawned; one of each only
# sleeps, and none of these may leave a bundle.
CHILDREN = """
import ctypes, multiprocessing, os, subprocess, sys

def nothing():
    ctypes.CDLL("libcuda.so.1")

if __name__ == "__main__":
    cuda = ctypes.CDLL("libcuda.so.1")
    assert cuda.cuInit(0) == 0
    for method in ("fork", "spawn"):
        child = multiprocessing.get_context(method).Process(target=nothing)
        child.start()
        child.join()
        assert child.exitcode == 0, method
    pid = os.fork()
    if not pid:
        os.execv(sys.argv[1], sys.argv[1:] + ["--steps", "2"])
    assert os.waitpid(pid, 0)[1] == 0
    subprocess.run(sys.argv[1:] + ["--steps", "1"], check=True)
"""


def capture(out, launcher):
    """The suite that `ls` shows of the folder, and the ranks of its bundles."""
    command = [tool.kernelab, "capture", "-o", out, "--device", "soft", "--", *launcher,
               tool.train, "--config", "0", "--kernels", A]
    tool.run(command, 0, KERNELAB_CACHE_ROOTS=A, OUT=os.path.join(os.path.dirname(out), "stdout"))
    suite = json.loads(tool.run([tool.kernelab, "ls", "--json", out], 0).stdout)
    for bundle in suite["bundles"]:
        tool.expect(bundle["complete"], f"{bundle['path']} is not complete")
        tool.run([tool.kernelab, "verify", bundle["path"]], 0)
    names = sorted(os.path.basename(p) for p in glob.glob(os.path.join(out, "*.klab")))
    tool.expect(len(names) == len(suite["bundles"]), f"{names}, but ls shows {suite['bundles']}")
    return suite, names


def check(what, suite, processes, steps):
    tool.expect(len(suite["bundles"]) == processes,
                f"{what}: {len(suite['bundles'])} bundles, expected {processes}")
    tool.expect({f["name"] for f in suite["families"]} == whole_tool.FAMILIES and
                len(suite["families"]) == len(whole_tool.FAMILIES),
                f"{what}: families {[f['name'] for f in suite['families']]}")
    seen = steps * STEP + processes * SWEEPS
    tool.expect(suite["seen"] == seen, f"{what}: {suite['seen']} launches seen, expected {seen}")
    recorded = processes * RECORDED
    tool.expect(suite["recorded"] == recorded,
                f"{what}: {suite['recorded']} launches recorded, expected {recorded}")


with tempfile.TemporaryDirectory(prefix="kernelab-processes-") as temporary:
    seen, files = capture(os.path.join(temporary, "ranks"), ["sh", "-c", RANKS, "ranks"])
    check("ranks", seen, 4, 1 + 2 + 3 + 1)
    ranks = sorted(m.group(1) for m in (re.search(r"-rank(\d+)\.klab$", f) for f in files) if m)
    tool.expect(ranks == ["0", "1", "2"], f"ranks in the names of {files}")

    program = os.path.join(temporary, "children.py")
    with open(program, "w", encoding="utf-8") as f:
        f.write(CHILDREN)
    seen, files = capture(os.path.join(temporary, "children"), [sys.executable, program])
    check("children", seen, 2, 2 + 1)
tool.finish()
