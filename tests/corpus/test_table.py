# SPDX-License-Identifier: MIT
"""The committed corpus holds every pair of table.py, made from the sources as they are."""
import fnmatch
import os
import re
import sys
import tempfile

import corpus
from table import FAMILIES, PAIRS

problems = []
with tempfile.TemporaryDirectory(prefix="kernelab-corpus-") as folder:
    try:
        made = corpus.Corpus(corpus.unpack(folder), ".", "soft")
    except corpus.Failed as failure:
        sys.exit(str(failure))
    if set(made.names) != set(PAIRS):
        problems.append(f"pairs that were not made: {sorted(set(PAIRS) - set(made.names))}")
    for side, wanted in (("a", set(PAIRS)), ("b", set(PAIRS)),
                         ("ref", {r["family"] for r in PAIRS.values()})):
        with open(os.path.join(folder, side, "manifest"), encoding="utf-8") as f:
            lines = f.read().splitlines()
        if {line.split()[0] for line in lines} != wanted:
            problems.append(f"the manifest of {side} names other kernels")
        for line in lines:
            if not os.path.getsize(os.path.join(folder, side, line.split()[1])):
                problems.append(f"{side}: {line.split()[1]} is empty")
for half in ("tuned", "held"):
    rows = [r for r in PAIRS.values() if FAMILIES[r["family"]]["half"] == half]
    if sum(r["kind"] == "bug" for r in rows) < 15 or sum(r["kind"] == "benign" for r in rows) < 10:
        problems.append(f"the half {half} is too small")
if {r["family"] for r in PAIRS.values()} != set(FAMILIES):
    problems.append("a family has no pair")
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "README.md"), encoding="utf-8") as f:
    entries = re.findall(r"`((?:benign|bug)_[\w*]+)`", f.read())
for entry in entries:
    if not fnmatch.filter(PAIRS, entry):
        problems.append(f"README.md: no pair is called {entry}")
for name in PAIRS:
    if not any(fnmatch.fnmatch(name, entry) for entry in entries):
        problems.append(f"README.md: {name} stands for no entry")
sys.exit("\n".join(problems) if problems else 0)
