#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The software device answers as a GPU's driver did: test_driver_answers.py LIBCUDA ANSWERS [SECTION...].

Every difference stands in DIFFERENT with its reason; one that is gone is a failure too.
"""
import pathlib
import subprocess
import sys

# question: (answer of the software device, reason)
DIFFERENT = {
    "before: cuGetProcAddress cuMemAlloc 2000":
        ("SUCCESS, status 2, found False", "the entries of CUDA 2 are not there"),
    "vmm: cuMemAddressReserve at a multiple of 32 MiB":
        ("SUCCESS, at the hint True", "that address was in use on the GPU's host"),
    "modules: PTX with an unknown opcode":
        ("NOT_SUPPORTED", "an opcode that is not known here may be one of a newer PTX"),
    "launches: extra too short":
        ("INVALID_VALUE", "a driver reads past the caller's buffer"),
}


def answers(text):
    """{question: [answers]}; a question may be asked more than once."""
    found = {}
    for line in text.splitlines():
        section, question, answer = line.split(": ", 2)
        found.setdefault(f"{section}: {question}", []).append(answer)
    return found


def main():
    library, golden, *sections = sys.argv[1:]
    asker = pathlib.Path(__file__).with_name("driver_answers.py")
    run = subprocess.run([sys.executable, asker, library, *sections], text=True, timeout=300,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    ours, theirs = answers(run.stdout), answers(pathlib.Path(golden).read_text())
    failures = 0
    for question, expected in theirs.items():
        if sections and question.split(": ")[0] not in sections:
            continue
        if question in DIFFERENT:
            expected = [DIFFERENT[question][0]]
        got = ours.pop(question, ["(not answered)"])
        if got != expected:
            failures += 1
            print(f"{question}: {got}, expected {expected}")
    for question in ours:
        failures += 1
        print(f"{question}: not in {golden}: ask a GPU's driver again")
    print(f"{len(theirs)} questions, {failures} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
