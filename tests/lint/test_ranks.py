# SPDX-License-Identifier: MIT
"""A part includes only parts below it: lib < drv < {shim, softgpu}; softgpu's machine < replay; lib < analyze; tools on top."""
import os
import re

import tree

BASE = {"include", "lib", "lib/bundle"}
# part -> the other parts that it may include from
MAY = {
    "include": set(),
    "lib": {"include", "lib/bundle"},
    "lib/bundle": {"include", "lib"},
    "lib/image": BASE,
    "drv": BASE,
    "shim": BASE | {"drv"},
    "softgpu": BASE | {"lib/image", "drv"},
    "replay": BASE | {"lib/image", "drv", "softgpu"},
    "analyze": BASE | {"lib/image"},
    "tools": BASE | {"lib/image", "drv", "replay", "analyze"},
}


def part(path):
    """The part a file belongs to, or None: system headers, tests, bench."""
    if path.startswith("kernelab/"):
        return "include"
    folder = os.path.dirname(path)
    while folder:
        if folder in MAY:
            return folder
        folder = os.path.dirname(folder)
    return None


problems, checked = [], 0
for source in tree.files(".c", ".h"):
    mine = part(source)
    if mine is None:
        continue
    lines = open(os.path.join(tree.root(), source), encoding="utf-8").read().splitlines()
    quoted = []
    for number, line in enumerate(lines, 1):
        m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not m:
            continue
        checked += 1
        quoted.append(m[1])
        other = part(m[1])
        if other is None:
            problems.append(f'{source}:{number}: "{m[1]}" is no path from the root')
        elif other != mine and other not in MAY[mine]:
            problems.append(f"{source}:{number}: {mine} must not include from {other}")
    own = source[:-2] + ".h"
    if source.endswith(".c") and os.path.exists(os.path.join(tree.root(), own)):
        if not quoted or quoted[0] != own:
            problems.append(f"{source}: its own header is not its first include")
tree.finish(problems, checked)
