# SPDX-License-Identifier: MIT
"""Each process that launches has its bundle, each other none: test_loader.py KERNELAB

DataLoader workers (fork and spawn), Inductor's compile workers and its autotuning in subprocesses, under one capture.
Exit status 77 without a GPU or PyTorch.
"""
import json
import os
import sys
import tempfile

from gpu_test import HERE, finish, need_torch, problems, run

kernelab = os.path.abspath(sys.argv[1])
program = os.path.join(HERE, "loader.py")
need_torch()
with tempfile.TemporaryDirectory() as top:
    for method in "fork", "spawn":
        out = os.path.join(top, method)
        done = run(kernelab, "capture", "-o", out, "--fresh-cache", "--", sys.executable, program, method,
                   TORCHINDUCTOR_AUTOTUNE_IN_SUBPROC="1")
        if done.returncode or done.stdout != "2016 True\n":
            problems.append(f"{method}: printed {done.stdout!r}")
            continue
        print(done.stderr.strip().split("\n")[-1])
        suite = json.loads(run(kernelab, "ls", "--json", out).stdout)
        kinds = []
        for bundle in suite["bundles"]:
            facts = {fact["name"]: fact["value"] for fact in bundle["facts"]}
            kinds.append("benchmarks" if "capture.compile_benchmarks" in facts else "program")
            print(method, kinds[-1], bundle["complete"], facts["command"][:150])
            if not bundle["complete"] and kinds[-1] == "program":
                problems.append(f"{method}: {bundle}")
        if kinds.count("program") != 1:
            problems.append(f"{method}: bundles of {kinds}")
        print(method, len(suite["families"]), "families,", sum(f["benchmarks"] for f in suite["families"]),
              "launches marked as compile-time benchmarks")
finish()
