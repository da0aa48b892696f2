# SPDX-License-Identifier: MIT
"""kernelab diff refuses what it cannot do, in one line, and leaves nothing behind.

What it does with real captures is tests/apps/test_end_to_end.py.
"""
import os
import subprocess
import sys
import tempfile

kernelab, make_results = (os.path.abspath(a) for a in sys.argv[1:3])
problems = []


def diff(*args, words):
    done = subprocess.run([kernelab, "diff", *args], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "TMPDIR": os.getcwd()})
    if done.returncode != 2:
        problems.append(f"diff {args}: status {done.returncode}: {done.stderr}")
    if words not in done.stderr or done.stderr.count("\n") != 1:
        problems.append(f"diff {args}: {done.stderr!r} is no line with {words!r}")
    if done.stdout:
        problems.append(f"diff {args}: {done.stdout!r}")


with tempfile.TemporaryDirectory(prefix="kernelab-diff-test-") as temporary:
    subprocess.run([make_results, temporary], check=True)
    os.chdir(temporary)
    os.mkdir("empty")
    before = sorted(os.listdir("."))
    diff(words="no BUNDLE given")
    diff("a.klab", words="no source of side B given")
    diff("none.klab", "--b", "recorded", words="none.klab")
    diff("empty", "--b", "recorded", words="empty")
    diff("gpu.klab", "--b", "recorded", words="gpu.klab")  # a result is no capture
    diff("gpu.klab", "--b", "recorded", "--fail-on", "9", words="--fail-on")
    diff("gpu.klab", "--b", "recorded", "--device", "tpu", words="--device tpu")
    diff("gpu.klab", "--b", "recorded", "--json", "no/v.json", words="no/v.json")
    diff("gpu.klab", "--b", "recorded", "--json", "empty", words="empty: Is a directory")
    diff("gpu.klab", "--b", "recorded", "--json", "-", "--markdown", "-", words="only one")
    diff("gpu.klab", "--b", "recorded", "-o", "soft.klab", words="soft.klab")
    diff("gpu.klab", "--b", "recorded", "--json", "v.json", words="gpu.klab")
    if sorted(os.listdir(".")) != before:
        problems.append(f"left behind: {set(os.listdir('.')) - set(before)}")
    os.chdir("/")
for problem in problems:
    print(problem)
print(f"{len(problems)} problems")
sys.exit(1 if problems else 0)
