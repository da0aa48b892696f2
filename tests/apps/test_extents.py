# SPDX-License-Identifier: MIT
"""Measured extents of the training program's launches against the sizes of their tensors."""
import glob
import re
import sys
import tempfile

import whole_tool

if len(sys.argv) != 2:
    sys.exit("usage: test_extents.py BUILD_DIR")
tool = whole_tool.Tool(sys.argv[1])
GRANULE = 16


def rows(count, width, pitch, size):
    """(offset, bytes) of the rows of a matrix of elements of that size."""
    return [(i * pitch * size, width * size) for i in range(count)]


def flat(count, size):
    return [(0, count * size)]


# What each kernel reads and writes, from its scalars and grid: argument → pieces.
def tensors(name, s, grid):
    if name == "cast_bf16":
        return {"x": flat(s["n"], 4)}, {"y": flat(s["n"], 2)}
    if name == "bias_gelu":
        return {"h": flat(s["total"], 4), "bias": flat(s["width"], 4)}, {"y": flat(s["total"], 4)}
    if name == "layernorm_fwd":
        w = s["width"]
        return ({"x": flat(grid * w, 4), "gamma": flat(w, 4), "beta": flat(w, 4)},
                {"y": flat(grid * w, 4), "mean": flat(grid, 4), "rstd": flat(grid, 4)})
    if name == "softmax_xent":
        return ({"logits": rows(grid, s["classes"], s["pitch"], 4), "bias": flat(s["classes"], 4),
                 "labels": flat(grid, 4)}, {"loss": flat(grid, 4), "lse": flat(grid, 4)})
    if name == "matmul":
        return ({"a": rows(s["M"], s["K"], s["lda"], 4), "b": rows(s["K"], s["N"], s["ldb"], 4)},
                {"c": rows(s["M"], s["N"], s["ldc"], 4)})
    if name == "transpose":
        return ({"x": rows(s["rows"], s["cols"], s["ldx"], 4)},
                {"y": rows(s["cols"], s["rows"], s["ldy"], 4)})
    if name == "adam":
        state = {a: flat(s["n"], 4) for a in ("w", "m", "v")}
        return {**state, "grad": flat(s["n"], 4)}, state
    return None


def text(granules):
    """As `show` prints it: bytes, and the number of ranges."""
    size = GRANULE * len(granules)
    ranges = sum(g - 1 not in granules for g in granules)
    kib = size / 1024
    shown = f"{size} B" if kib < 1 else f"{kib:.1f} KiB" if kib < 100 else f"{kib:.0f} KiB"
    return f"{shown} in {ranges} ranges"


def expected(pieces, pointers, bases):
    """Region → text, with the granules of all pieces."""
    sets = {region: set() for region in bases}
    for argument, parts in pieces.items():
        region, address = pointers[argument]
        for offset, size in parts:
            first, last = address + offset, address + offset + size - 1
            sets[region].update(range(first // GRANULE, last // GRANULE + 1))
    return {region: text(s) for region, s in sets.items()}


def check_launch(shown):
    head = re.match(r"launch (\d+) of .*: (\w+) \(", shown)
    number, name = head.groups()
    scalars = {k: int(v) for k, v in re.findall(r"^  (\w+) +i32 +(-?\d+)$", shown, re.M)}
    pointers = {k: (int(r), int(a, 16)) for k, a, r in
                re.findall(r"^  (\w+) +!tt\.ptr<\w+> +(0x\w+) → region (\d+)", shown, re.M)}
    bases = {int(r): int(b, 16) for r, b in re.findall(r"^  region (\d+): (0x\w+)", shown, re.M)}
    grid = int(re.search(r"grid (\d+)x", shown).group(1))
    tool.expect("  extents: measured\n" in shown, f"launch {number} ({name}): not measured\n{shown}")
    both = tensors(name, scalars, grid)
    if not both:
        return None
    reads, writes = (expected(p, pointers, bases) for p in both)
    got = dict((int(r), (x, y)) for r, x, y in re.findall(
        r"region (\d+):.*\n    reads (.+ ranges), writes (.+ ranges)", shown))
    for region in bases:
        want = (reads[region], writes[region])
        have = got.get(region, ("0 B in 0 ranges", "0 B in 0 ranges"))
        tool.expect(have == want, f"launch {number} ({name}), region {region}: {have}, expected {want}")
    return name


def launches(folder):
    bundle, = glob.glob(folder + "/*.klab")
    suite = tool.run([tool.kernelab, "show", bundle], 0).stdout
    for number in range(1, 163):
        done = tool.run([tool.kernelab, "show", "--launch", str(number), bundle], None)
        if done.returncode == 0:
            yield done.stdout
    tool.expect(suite, "show prints nothing")
    tool.run([tool.kernelab, "verify", bundle], 0)


with tempfile.TemporaryDirectory() as folder:
    tool.capture(folder + "/a", "a")
    checked = [check_launch(shown) for shown in launches(folder + "/a")]
    names = set(checked) - {None}
    tool.expect(len(checked) == 37 and len(names) == 7 and checked.count("matmul") == 18,
                f"{len(checked)} launches, checked: {sorted(names)}")
    tool.capture(folder + "/off", "a", options=["--extents", "off"])
    for shown in launches(folder + "/off"):
        # Behind it may stand that pointers in memory were not looked for everywhere.
        tool.expect("  extents: not measured: KERNELAB_EXTENTS is off" in shown and
                    "reads" not in shown, f"--extents off:\n{shown}")
tool.finish()
