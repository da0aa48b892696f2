# SPDX-License-Identifier: MIT
"""The project's own source files, for the lint tests: everything but build folders and data."""
import os
import sys

SKIP = {".git", "build-deps", "data", "subprojects", "__pycache__"}


def root():
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def files(*suffixes):
    """Paths relative to the root, sorted, of files whose names end in one of suffixes."""
    top, found = root(), []
    for folder, dirs, names in os.walk(top):
        dirs[:] = sorted(d for d in dirs if d not in SKIP and not d.startswith("build"))
        for name in names:
            if name.endswith(suffixes):
                found.append(os.path.relpath(os.path.join(folder, name), top))
    if not found:
        sys.exit(f"no file ends in {suffixes}: the check would check nothing")
    return sorted(found)


def finish(problems, checked):
    """Prints what is wrong and exits: 1 with problems, else 0."""
    for problem in problems:
        print(problem)
    print(f"{checked} checked, {len(problems)} problems")
    sys.exit(1 if problems else 0)
