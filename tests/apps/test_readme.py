# SPDX-License-Identifier: MIT
"""The README's example is what the demo prints (process numbers apart). --write puts it there anew.

usage: test_readme.py BUILD_DIR [--write]
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
README = os.path.join(ROOT, "README.md")
BEGIN, END = "<!-- demo: begin -->\n", "<!-- demo: end -->"
SHOWN = ("adam", "transpose", "xent_bwd")  # of the rows of equal kernels


def demo(build):
    """Standard output of `kernelab diff` of the demo."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "demo")
        run = subprocess.run(["sh", os.path.join(ROOT, "tests/apps/demo.sh"), build, out, "soft"],
                             capture_output=True, text=True)
        if run.returncode != 1:
            sys.exit(f"demo.sh: status {run.returncode} instead of 1\n{run.stderr}")
        text = run.stdout.replace(out, "build/demo")
    return text[text.index("Verdict: "):]


def example(text):
    """The part of it that the README shows."""
    lines = []
    for line in text.splitlines():
        if line.startswith("1 1 ") and not any(f" {name} " in line for name in SHOWN):
            line = "…"
        if line == "…" and lines[-1] == "…":
            continue
        lines.append(line)
        if line.startswith("  repro: "):
            break
    return "".join(f"    {line}\n" if line else "\n" for line in lines)


def masked(text):
    return re.sub(r"train-\d+", "train-PID", text)


readme = open(README, encoding="utf-8").read()
head, rest = readme.split(BEGIN)
shown, tail = rest.split(END)
actual = example(demo(os.path.abspath(sys.argv[1])))
if "--write" in sys.argv[2:]:
    open(README, "w", encoding="utf-8").write(head + BEGIN + actual + END + tail)
elif masked(shown) != masked(actual):
    sys.exit(f"README.md shows:\n{shown}\nthe demo prints:\n{actual}\n"
             "(test_readme.py BUILD --write puts it there)")
