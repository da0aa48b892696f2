# SPDX-License-Identifier: MIT
"""Data-loader workers, forked and spawned, beside a program that launches: test_workers.py BUILD_DIR FOLDER

Two bundles: the program's, whose counts are exact although it forked while launching, and that of the worker that launched.
"""
import json
import os
import re
import sys
import tempfile

import whole_tool

tool = whole_tool.Tool(sys.argv[1])
if tool.instrumented():
    sys.exit(77)  # an instrumented shim cannot be loaded into Python
program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "workers_program.py")
with tempfile.TemporaryDirectory() as top:
    out = os.path.join(top, "out")
    done = tool.run([tool.kernelab, "capture", "-o", out, "--device", "soft", "--", sys.executable, program, sys.argv[2]], 0)
    tool.expect("499500.0" in done.stdout,
                done.stdout)
    launched = int(re.search(r"launched (\d+)", done.stderr)[1])
    suite = json.loads(tool.run([tool.kernelab, "ls", "--json", out], 0).stdout)
    tool.expect(len(suite["bundles"]) == 2 and all(b["complete"] for b in suite["bundles"]), f"{suite['bundles']}")
    tool.expect(len(suite["families"]) == 1, "one family over both processes")
    family = suite["families"][0]
    tool.expect(family["seen"] == launched + 3, f"{family['seen']} launches seen, {launched} + 3 made")
    tool.expect(family["recorded"] == 2, f"{family['recorded']} recorded: the first of each process")
    shown = tool.run([tool.kernelab, "ls", out], 0).stdout
    tool.expect("of 2 captures" in shown and shown.count("kernelab's software device") == 1,
                f"what is common to both stands there once: {shown}")
    tool.run([tool.kernelab, "verify", *[b["path"] for b in suite["bundles"]]], 0)
tool.finish()
