# SPDX-License-Identifier: MIT
"""Prints the linker's version script of the shim: the WRAPPED rows of drv/entries.h, dlsym, dlvsym, and the image hash for
the Python glue."""
import re
import sys

rows = re.findall(r"\bE\((\w+),\s*\w+,\s*WRAPPED\)", open(sys.argv[1], encoding="utf-8").read())
if not rows:
    sys.exit(f"{sys.argv[1]}: no WRAPPED row found")
# No version node: a symbol of any version that the program asks for binds here.
print("{ global: " + " ".join(name + ";" for name in ["dlsym", "dlvsym", "kernelab_image_id", *rows]) + " local: *; };")
