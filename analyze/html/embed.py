# SPDX-License-Identifier: MIT
"""Turns text files into a C file of static strings: embed.py OUTPUT NAME=FILE…"""
import sys

lines = ["/* Made by embed.py. */", '#include "analyze/html/page.h"', ""]
for argument in sys.argv[2:]:
    name, path = argument.split("=", 1)
    with open(path, "rb") as f:
        data = f.read()
    if b"\0" in data:
        sys.exit(f"{path}: holds a NUL")
    lines.append(f"const char {name}[] = {{")
    for at in range(0, len(data), 24):
        lines.append("\t" + ", ".join(str(b if b < 128 else b - 256) for b in data[at:at + 24]) + ",")
    lines += ["\t0};", ""]
with open(sys.argv[1], "w", encoding="utf-8") as f:
    f.write("\n".join(lines))
