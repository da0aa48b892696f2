# SPDX-License-Identifier: MIT
"""docs/pitfalls.md names tests that exist, and leaves none of its rows without one.

test_pitfalls.py DOCS BUILD_DIR
"""
import json
import re
import sys

docs, build = sys.argv[1:3]
with open(f"{build}/meson-info/intro-tests.json", encoding="utf-8") as f:
    tests = {test["name"] for test in json.load(f)}
# Those under ThreadSanitizer are not there in the build of another sanitizer.
tests |= {name + "-tsan" for name in tests}
problems, rows = [], 0
for line in open(f"{docs}/pitfalls.md", encoding="utf-8"):
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if not line.startswith("|") or cells[-1] == "test" or set(line) <= set("|- \n"):
        continue
    rows += 1
    names = re.split(r"[,;]\s*", re.sub(r"\([^)]*\)|:[^,;|]*", "", cells[-1]))
    # Behind a colon or in brackets stands what of the test is meant; commas there are no names.
    known = [name for name in (n.strip() for n in names) if name in tests]
    unknown = [n.strip() for n in names if re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", n.strip()) and n.strip() not in known]
    if not known or unknown:
        problems.append(f"row {cells[0] or cells[1]}: no test of the names {unknown or cells[-1]}")
if rows < 27:
    problems.append(f"only {rows} rows")
print("\n".join(problems))
sys.exit(bool(problems))
