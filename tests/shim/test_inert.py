# SPDX-License-Identifier: MIT
"""Programs that never touch CUDA run under the preload as without it, and leave no file."""
import os
import shutil
import subprocess
import sys
import tempfile

shim = sys.argv[1]
asan = "__asan" in subprocess.run(["nm", "-D", shim], capture_output=True, text=True).stdout
SOURCE = "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 7; }\n"
COMMANDS = [
    ["sh", "-c", "echo a | sed s/a/b/; exit 3"],
    ["sh", "-c", "ls /nonexistent; kill -TERM $$"],
    ["gcc", "-o", "OUT/program", "SOURCE"],
    ["gcc", "--version"],
    ["OUT/program"],
    # Its runtime asks for the next function of many names before anything is set up.
    ["gcc", "-fsanitize=address", "-static-libasan", "-o", "OUT/sanitized", "SOURCE"],
    ["OUT/sanitized"],
    # The shared runtime refuses any preload in front of it, unless it is told not to look.
    ["gcc", "-fsanitize=address", "-o", "OUT/shared", "SOURCE"],
    ["env", "ASAN_OPTIONS=verify_asan_link_order=0", "OUT/shared"],
    [sys.executable, "-c", "import ctypes, os; print(ctypes.CDLL(None).getuid()); os.fork()"],
    [sys.executable, "-c", "import ctypes; print(ctypes.CDLL(None).cuLaunchKernel)"],
]
if shutil.which("ptxas"):
    COMMANDS.append(["ptxas", "--version"])
problems = []


def run(command, folder, preload):
    out = os.path.join(folder, "preload" if preload else "plain")
    os.makedirs(out, exist_ok=True)
    env = dict(os.environ)
    if preload:
        env.update(LD_PRELOAD=shim, KERNELAB_OUTPUT=os.path.join(folder, "bundles"))
    command = [w.replace("OUT", out).replace("SOURCE", os.path.join(folder, "p.c")) for w in command]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    # The loader's message names the object that asked: behind its last colon stands the symbol.
    last = done.stderr.split(": ")[-1] if "Traceback" in done.stderr else done.stderr
    return done.returncode, done.stdout, last


if asan:
    sys.exit(77)  # an instrumented shim brings its runtime into every program
with tempfile.TemporaryDirectory() as folder:
    os.mkdir(os.path.join(folder, "bundles"))
    with open(os.path.join(folder, "p.c"), "w", encoding="utf-8") as f:
        f.write(SOURCE)
    for command in COMMANDS:
        plain, preload = run(command, folder, False), run(command, folder, True)
        if plain != preload:
            problems.append(f"{command}:\n  plain   {plain}\n  preload {preload}")
    left = os.listdir(os.path.join(folder, "bundles"))
    if left:
        problems.append(f"files were made: {left}")
print("\n".join(problems))
sys.exit(bool(problems))
