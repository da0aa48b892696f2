# SPDX-License-Identifier: MIT
"""Every verb has --help and a man page that names its options; the README names every verb."""
import os
import re
import subprocess
import sys

import tree

kernelab = sys.argv[1]


def run(*args):
    return subprocess.run([kernelab, *args], capture_output=True, text=True)


problems = []
top = run("--help")
section = top.stdout.split("Verbs:\n")[1].split("\n\n")[0]
verbs = [line.split()[0] for line in section.splitlines()]
if not verbs:
    problems.append("kernelab --help lists no verb")
readme = open(os.path.join(tree.root(), "README.md"), encoding="utf-8").read()
overview = open(os.path.join(tree.root(), "docs/man/kernelab.1"), encoding="utf-8").read()
for name in re.findall(r"^  (KERNELAB_\w+)", top.stdout, re.M):
    if name not in overview.replace("\\", ""):
        problems.append(f"docs/man/kernelab.1 lacks {name}")
for verb in verbs:
    page = os.path.join(tree.root(), f"docs/man/kernelab-{verb}.1")
    if f"kernelab {verb}" not in readme:
        problems.append(f"README.md does not name kernelab {verb}")
    if not os.path.exists(page):
        problems.append(f"no man page docs/man/kernelab-{verb}.1")
        continue
    text = open(page, encoding="utf-8").read().replace("\\-", "-").replace("\\", "")
    result = run(verb, "--help")
    if result.returncode or not result.stdout.startswith(f"Usage: kernelab {verb} "):
        problems.append(f"kernelab {verb} --help: status {result.returncode}")
    options = re.findall(r"^ +(?:-\w, )?(--[\w-]+)", result.stdout, re.M)
    for option in options:
        if option not in text:
            problems.append(f"{page}: lacks {option}")
    for option in set(re.findall(r"--[a-z][\w-]+", text)) - set(options):
        if not re.search(rf"kernelab [a-z]+ .*{option}|\({option}\)", text):
            problems.append(f"{page}: names {option}, which kernelab {verb} --help does not")
    wrong = run(verb, "--no-such-option")
    if wrong.returncode not in (2, 125) or "--no-such-option" not in wrong.stderr:
        problems.append(f"kernelab {verb} --no-such-option: status {wrong.returncode}, "
                        f"stderr {wrong.stderr!r}")
bad = run("no-such-verb")
if bad.returncode != 2 or "no-such-verb" not in bad.stderr:
    problems.append("a verb that does not exist is not named, or its status is not 2")
tree.finish(problems, len(verbs))
