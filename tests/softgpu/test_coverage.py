# SPDX-License-Identifier: MIT
"""docs/softgpu.md lists the opcode table. test_coverage.py TOOL DOCUMENT [--write]"""
import subprocess
import sys

BEGIN, END = "<!-- coverage: begin -->\n", "<!-- coverage: end -->\n"
tool, document = sys.argv[1:3]
table = "| instruction |\n| --- |\n" + subprocess.run(
    [tool, "coverage"], text=True, stdout=subprocess.PIPE, check=True).stdout
text = open(document, encoding="utf-8").read()
head, rest = text.split(BEGIN)
old, tail = rest.split(END)
if "--write" in sys.argv:
    open(document, "w", encoding="utf-8").write(head + BEGIN + table + END + tail)
elif old != table:
    sys.exit(f"{document} differs from the opcode table: run {sys.argv[0]} {tool} {document} --write")
