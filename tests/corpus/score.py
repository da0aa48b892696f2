# SPDX-License-Identifier: MIT
"""Prints how well verdicts tell benign changes from bugs, beside the rules of other tools.

    score.py BUILD_DIR [--device soft|gpu] [--made FOLDER] [--fast] [--only REGEX] [--json FILE]
             [--verdict FILE]

A bug is missed in bucket 1 or 2, a benign change raises a false alarm in bucket 3. Bugs that change
fewer than four elements of every launch, by one step of the output type each, count apart.
"""
import argparse
import json
import os
import re
import shutil
import sys
import tempfile

import corpus
import rivals
from table import PAIRS

HALVES = ("tuned", "held")
SIZES = {"f32": 4, "bf16": 2, "f16": 2, "fp8": 1, "i32": 4, "i8": 1}


def steps(type_, raw):
    """Elements in the order of their type, so that neighbours differ by one."""
    size = SIZES[type_]
    sign = 1 << (8 * size - 1)
    for at in range(0, len(raw), size):
        bits = int.from_bytes(raw[at:at + size], "little")
        yield bits if type_ in ("i32", "i8") or bits < sign else sign - bits


def negligible(outputs_a, outputs_b):
    """Fewer than four elements of a launch differ, each by one step of a float type."""
    count = 0
    for (type_, raw_a), (_, raw_b) in zip(outputs_a, outputs_b):
        if raw_a == raw_b:
            continue
        if type_ in ("i32", "i8"):
            return False
        for x, y in zip(steps(type_, raw_a), steps(type_, raw_b)):
            if abs(x - y) > 1:
                return False
            count += x != y
    return count < 4


def matrix(names, rejected):
    """(bugs found, bugs missed, benign accepted, false alarms)"""
    bugs = [n for n in names if PAIRS[n]["kind"] == "bug"]
    good = [n for n in names if PAIRS[n]["kind"] == "benign"]
    found, alarms = (sum(n in rejected for n in part) for part in (bugs, good))
    return found, len(bugs) - found, len(good) - alarms, alarms


def print_matrix(names, judges, buckets):
    print(f"{'':20}{'bugs':>14}{'':>10}{'benign':>14}")
    print(f"{'':20}{'found':>10}{'missed':>10}{'accepted':>12}{'false alarm':>14}")
    for judge, rejected in judges.items():
        found, missed, accepted, alarms = matrix(names, rejected)
        print(f"{judge:20}{found:10}{missed:10}{accepted:12}{alarms:14}")
    for kind in ("bug", "benign"):
        counts = [sum(PAIRS[n]["kind"] == kind and buckets[n] == b for n in names) for b in (1, 2, 3)]
        print(f"kernelab, {kind}: bucket 1: {counts[0]}, 2: {counts[1]}, 3: {counts[2]}")


def print_names(title, names, families):
    for name in names:
        known = PAIRS[name]["miss"]
        print(f"  {title}: {name} [{corpus.half(name)}]: rule {families[name]['rule']['number']}: "
              f"{families[name]['evidence']}{f' (known: {known})' if known else ''}")


def outputs(pairs, work, names):
    """What A, B and the double-precision kernels wrote, launched without the tool."""
    paths = {side: os.path.join(work, side + ".dump") for side in ("a", "b", "ref")}
    pairs.dump("a", "plan.chosen", paths["a"])
    pairs.dump("b", "plan.chosen", paths["b"])
    pairs.dump("ref", "plan.ref", paths["ref"])
    read = [rivals.read_dump(paths[side]) for side in ("a", "b", "ref")]
    if {key[0] for key in read[0]} != set(names) or set(read[0]) != set(read[1]):
        raise corpus.Failed("the dumps of A and B hold other launches than the plan")
    return read


def report(pairs, families, read):
    a, b, reference = read
    names = pairs.names
    buckets = {n: families[n]["bucket"] for n in names}
    judges = {"kernelab": {n for n in names if buckets[n] == 3}}
    judges.update(rivals.judge(a, b, reference, lambda n: PAIRS[n]["family"]))
    missed = [n for n in names if PAIRS[n]["kind"] == "bug" and buckets[n] < 3]
    small = [n for n in missed if all(negligible(a[k], b[k]) for k in a if k[0] == n)]
    score = {"pairs": len(names), "negligible": small, "halves": {}}
    for half in HALVES:
        part = [n for n in names if corpus.half(n) == half]
        print(f"\n{half} families: {len(part)} pairs")
        print_matrix(part, judges, buckets)
        score["halves"][half] = {j: matrix(part, r) for j, r in judges.items()}
    print()
    print_names("missed bug", [n for n in missed if n not in small], families)
    print_names("missed bug, below one step on fewer than 4 elements", small, families)
    print_names("false alarm", [n for n in names if PAIRS[n]["kind"] == "benign" and
                                buckets[n] == 3], families)
    for rule in rivals.RULES:
        wrong = [n for n in names if (n in judges[rule]) != (PAIRS[n]["kind"] == "bug")]
        print(f"  wrong by {rule}: {' '.join(wrong) or 'none'}")
    score["wrong"] = {j: sorted(n for n in names if (n in r) != (PAIRS[n]["kind"] == "bug"))
                      for j, r in judges.items()}
    return score


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build")
    parser.add_argument("--device", choices=("soft", "gpu"), default="soft")
    parser.add_argument("--made", metavar="FOLDER", help="a corpus of scripts/make-corpus; "
                        "default the committed one")
    parser.add_argument("--fast", action="store_true", help="only the pairs of the quick test")
    parser.add_argument("--only", default="", metavar="REGEX", help="only pairs whose name matches")
    parser.add_argument("--json", metavar="FILE", help="write the counts and names there")
    parser.add_argument("--verdict", metavar="FILE", help="write kernelab's verdict there")
    return parser.parse_args()


def main():
    args = options()
    with tempfile.TemporaryDirectory(prefix="kernelab-score-") as work:
        made = args.made or corpus.unpack(os.path.join(work, "made"))
        pairs = corpus.Corpus(made, args.build, args.device)
        pairs.choose(lambda r: (r["fast"] or not args.fast) and re.search(args.only, r["name"]))
        if not pairs.names:
            sys.exit("score-corpus: no pair is chosen")
        os.makedirs(os.path.join(work, "judged"))
        families = pairs.judge(os.path.join(work, "judged"))
        if args.verdict:
            shutil.copyfile(os.path.join(work, "judged", "verdict.json"), args.verdict)
        read = outputs(pairs, work, pairs.names)
    print(f"{len(pairs.names)} pairs on the {args.device} device")
    doubtful = [f"{n}: {corpus.tested(families[n])}" for n in pairs.names
                if corpus.tested(families[n])]
    score = report(pairs, families, read)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(score, f, indent=1)
    sys.exit("\nnot tested in full:\n" + "\n".join(doubtful) if doubtful else 0)


if __name__ == "__main__":
    try:
        main()
    except corpus.Failed as failure:
        sys.exit(f"score-corpus: {failure}")
