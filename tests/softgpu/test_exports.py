#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libcuda.so.1 exports the entries of drv/entries.h and nothing else: test_exports.py LIBCUDA ENTRIES.

Their types need no test: the functions are compiled against cuda.h's prototypes.
"""
import pathlib
import re
import subprocess
import sys


def main():
    library, entries = sys.argv[1:]
    table = set(re.findall(r"^\s*E\((cu\w+),", pathlib.Path(entries).read_text(), re.M))
    run = subprocess.run(["nm", "-D", "--defined-only", library], text=True, check=True,
                         stdout=subprocess.PIPE)
    exported = {line.split()[2] for line in run.stdout.splitlines()}
    dynamic = subprocess.run(["readelf", "-d", library], text=True, check=True,
                             stdout=subprocess.PIPE).stdout
    for name in sorted(table - exported):
        print(f"{name}: in the table, not exported")
    for name in sorted(exported - table):
        print(f"{name}: exported, not in the table")
    soname = "[libcuda.so.1]" in dynamic
    if not soname:
        print("the soname is not libcuda.so.1")
    print(f"{len(table)} entries in the table, {len(exported)} exported")
    return 0 if table and table == exported and soname else 1


if __name__ == "__main__":
    sys.exit(main())
