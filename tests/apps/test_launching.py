# SPDX-License-Identifier: MIT
"""Kernels launched by a CUDA graph, or loaded as libraries, are recorded and proved like any other."""
import json
import os
import sys
import tempfile

import whole_tool

if len(sys.argv) != 2:
    sys.exit("usage: test_launching.py BUILD_DIR")
tool = whole_tool.Tool(sys.argv[1])
STEPS = 4
# Classes of a step by family, without a sweep; the others have one (see test_end_to_end.py).
CLASSES = {"matmul": 6, "transpose": 4, "column_sum": 2, "cast_bf16": 2}
LAUNCHES = {"matmul": 6, "transpose": 4, "column_sum": 4, "cast_bf16": 2}


def plain():
    return tool.run([tool.train, "--config", "0", "--steps", str(STEPS), "--kernels",
                     os.path.join(whole_tool.DATA, "a")], 0,
                    LD_LIBRARY_PATH=os.path.join(tool.build, "softgpu")).stdout


def capture(folder, name, *program, options=()):
    out = os.path.join(folder, name)
    done = tool.capture(out, "a", steps=STEPS, program=program, options=options)
    tool.expect(done.stdout == plain(), f"{name}: stdout under capture differs:\n{done.stdout}")
    suite = json.loads(tool.run([tool.kernelab, "ls", "--json", out], 0).stdout)
    tool.expect({f["name"] for f in suite["families"]} == whole_tool.FAMILIES,
                f"{name}: ls names {[f['name'] for f in suite['families']]}")
    return out, suite


def prove(folder, name, bundle):
    """Replays A against A: the coverage by family."""
    _, families, _ = tool.diff(bundle, "recorded", os.path.join(folder, name + ".json"), 0)
    tool.expect(families.keys() == whole_tool.FAMILIES, f"{name}: diff names {sorted(families)}")
    for family in families.values():
        tool.expect(family["bucket"] == 1 and not family["unproven"],
                    f"{name}: {family['name']} is in bucket {family['bucket']}, "
                    f"unproven {family['unproven']}")
    return {n: f["coverage"] for n, f in families.items()}


def graph(folder, name, *program):
    """The capture of the graph gives geometry, its first launch the contents of each class."""
    bundle, suite = capture(folder, name, "--graph", *program)
    for family in suite["families"]:
        n = family["name"]
        seen = LAUNCHES.get(n, 1) * (STEPS + 1)
        tool.expect(family["seen"] == seen,
                    f"{name}: {n}: {family['seen']} launches seen, expected {seen}")
    for n, c in prove(folder, name, bundle).items():
        want = CLASSES.get(n, 1)
        tool.expect(c["faithful"] == c["launches_tested"] == want and not c["unfaithful"],
                    f"{name}: {n}: expected {want} faithful launches: {c}")


def graph_without_data(folder):
    _, suite = capture(folder, "no-data", "--graph", options=["--no-data"])
    for family in suite["families"]:
        tool.expect(family["recorded"] == CLASSES.get(family["name"], 1),
                    f"no-data: {family['name']}: {family['recorded']} launches recorded")


def library(folder):
    bundle, suite = capture(folder, "library", "--library")
    tool.expect(not suite.get("unrecorded"), f"library: not recorded: {suite.get('unrecorded')}")
    for n, c in prove(folder, "library", bundle).items():
        want = CLASSES.get(n, 1) * (3 if n == "matmul" else 1)
        tool.expect(c["faithful"] == c["launches"] == want, f"library: {n}: expected {want}: {c}")


with tempfile.TemporaryDirectory(prefix="kernelab-launching-") as temporary:
    graph(temporary, "graph")
    graph(temporary, "graph-of-libraries", "--library")
    graph_without_data(temporary)
    library(temporary)
tool.finish()
