# SPDX-License-Identifier: MIT
"""Every C file is as clang-format leaves it."""
import shutil
import subprocess
import sys

import tree

if not shutil.which("clang-format"):
    print("clang-format is not installed: scripts/setup installs it")
    sys.exit(1)
sources = tree.files(".c", ".h")
result = subprocess.run(["clang-format", "--dry-run", "--Werror", "--ferror-limit=1", *sources],
                        cwd=tree.root(), capture_output=True, text=True)
problems = [line for line in result.stderr.splitlines() if "error:" in line]
if result.returncode and not problems:
    problems = result.stderr.splitlines() or [f"clang-format: status {result.returncode}"]
tree.finish(problems, len(sources))
