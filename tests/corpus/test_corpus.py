# SPDX-License-Identifier: MIT
"""Each pair of the labelled corpus comes out as table.py says; known misses are a list of their own.

    test_corpus.py BUILD_DIR fast|full|order [soft|gpu]

full leaves out the pairs by other Tritons than the next older one: scripts/score-corpus has them.
order: kernels that add by atomics, with another order of blocks in each launch.

A pair that misses its bucket fails the test, and so does a known miss that does not miss any more:
then its row loses the reason. Nothing counts that was not tested in full. The full corpus is skipped
(77) in a sanitizer's build, where it is slow: the fast part runs the same code.
"""
import os
import subprocess
import sys
import tempfile

import corpus
from table import PAIRS

MINIMUM = {"fast": (12, 12, 6), "full": (50, 25, 20), "order": (5, 5, 3)}  # bugs, benign pairs, families
ATOMICS = ("colsum_atomic", "splitk", "dot_atomic")
WANTED = {"fast": lambda row: row["fast"], "full": lambda row: row["triton"] in (None, "3.5.1"),
          "order": lambda row: row["family"] in ATOMICS and not row["triton"]}


def check(name, family):
    row, problem = PAIRS[name], corpus.tested(family)
    if problem:
        return f"{name}: {problem}"
    hit = family["bucket"] in row["expected"]
    what = (f"{name}: bucket {family['bucket']}, rule {family['rule']['number']}, expected "
            f"{' or '.join(map(str, row['expected']))}: {family['evidence']}")
    if row["miss"] and hit:
        return f"{what}\nno miss any more ({row['miss']}): take the reason out of table.py"
    return None if hit or row["miss"] else what


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[2] not in MINIMUM:
        sys.exit(__doc__)
    size = sys.argv[2]
    if size == "order":
        os.environ["KERNELAB_SOFTGPU_SEED"] = "1+"
    with tempfile.TemporaryDirectory(prefix="kernelab-corpus-") as made, \
            tempfile.TemporaryDirectory(prefix="kernelab-corpus-") as work:
        device = sys.argv[3] if len(sys.argv) == 4 else "soft"
        pairs = corpus.Corpus(corpus.unpack(made), sys.argv[1], device)
        pairs.choose(WANTED[size])
        families = pairs.judge(work)
    problems = [p for p in (check(n, families[n]) for n in pairs.names) if p]
    bugs = sum(PAIRS[n]["kind"] == "bug" for n in pairs.names)
    have = (bugs, len(pairs.names) - bugs, len({PAIRS[n]["family"] for n in pairs.names}))
    if any(h < m for h, m in zip(have, MINIMUM[size])):
        problems.append(f"only {have} bugs, benign pairs and families")
    print(f"{have[0]} bugs and {have[1]} benign pairs of {have[2]} families; known misses: "
          f"{[n for n in pairs.names if PAIRS[n]['miss']]}")
    sys.exit("\n".join(problems) if problems else 0)


shim = os.path.join(*sys.argv[1:2], "shim/libkernelab-shim.so")
if sys.argv[2:3] == ["full"] and "__asan" in subprocess.run(["nm", "-D", shim], capture_output=True,
                                                        text=True).stdout:
    sys.exit(77)
main()
