# SPDX-License-Identifier: MIT
"""A test on a GPU: the Python it needs, its commands, and the problems found so far."""
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "apps"))
import whole_tool  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
problems = []


def skip(what):
    print("not here:", what)
    sys.exit(77)


def need_torch(script="", python=sys.executable):
    """What a script prints in a Python with PyTorch and a GPU; where it fails the test is skipped."""
    found = subprocess.run([python, "-c", f"import os, torch\nassert torch.cuda.is_available()\n{script}"],
                           capture_output=True, text=True)
    if found.returncode:
        skip("a GPU, or what this imports: " + found.stderr.strip().split("\n")[-1])
    return found.stdout.strip()


def need_plain_shim(kernelab):
    """A sanitizer's shim cannot be loaded into Python."""
    if whole_tool.Tool(os.path.join(os.path.dirname(os.path.abspath(kernelab)), "..")).instrumented():
        skip("a shim that is not instrumented")


def run(*command, statuses=(0,), **environment):
    """Runs to the end; another status is a problem."""
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    print(f"{time.monotonic() - start:.1f} s", *map(os.path.basename, command), flush=True)
    if done.returncode not in statuses:
        problems.append(f"{' '.join(command)}: status {done.returncode}: {done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done


def finish():
    print("\n".join(problems))
    sys.exit(bool(problems))
