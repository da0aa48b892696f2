# SPDX-License-Identifier: MIT
"""Families with a fault in a part of their configs, launches or types only: what a scope must find.

    make_scope.py OUT.tar.xz      with the Python of a Triton installation; needs no GPU

The archive holds a/ and b/ as TRITON_CACHE_DIR would, and plan.json: for scope_program.py one
entry a launch. B keeps the .source of A, as between two builds of one compiler.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
from make_corpus import Maker  # noqa: E402

FIRST_TWICE = [("for step in range(0, steps):\n        k = step * BK",
                "for step in range(-1, steps):\n        k = tl.maximum(step, 0) * BK")]
LAST_TILE = [("steps = tl.cdiv(K, BK)", "steps = K // BK")]
SHAPES = [(33, 35, 64), (33, 35, 63), (33, 32, 65), (32, 35, 96)]
SWEEP = [(stages, warps, bk) for stages in (1, 2, 3) for warps in (2, 4) for bk in (16, 32)]


def gemms(name, configs, shapes, wrong):
    """wrong(stages, warps, bk) → edits of side B."""
    for stages, warps, bk in configs:
        yield {"name": name, "family": "gemm", "kinds": "PPPnnnNNN", "stages": stages,
               "warps": warps, "constants": {"BM": 32, "BN": 32, "BK": bk},
               "edits": wrong(stages, warps, bk),
               "launches": [{"grid": [-(-m // 32), -(-n // 32)],
                             "arguments": [["f32", m * 96], ["f32", k * 64], ["f32", m * 64],
                                           m, n, k, 96, 64, 64]} for m, n, k in shapes]}


def casts(name, wrong):
    """One source for three types: three families that only differ in them."""
    for kind, element in (("P", "f32"), ("E", "f16"), ("H", "bf16")):
        yield {"name": name, "family": "gelu_f16", "kinds": kind + kind + "n", "stages": 1,
               "warps": 4, "constants": {"BLOCK": 1024},
               "edits": [("out.to(tl.float16)", "out.to(y.dtype.element_ty)")],
               "bug": [(" * (1.0 + t)", " * (1.001 + t)")] if element == wrong else [],
               "launches": [{"grid": [2, 1], "arguments": [[element, n], [element, n], n]}
                            for n in (2048, 2000)]}


ROWS = [
    *gemms("scope_stages", SWEEP, SHAPES[:2], lambda s, w, b: FIRST_TWICE if s == 3 else []),
    *gemms("scope_tail", [(1, 4, 32)], SHAPES, lambda s, w, b: LAST_TILE),
    *gemms("scope_both", SWEEP, SHAPES, lambda s, w, b: LAST_TILE if s == 3 and b == 32 else []),
    *gemms("scope_all", SWEEP[:2], SHAPES[:2], lambda s, w, b: FIRST_TWICE),
    *casts("scope_types", "f16"),
]


class ScopeMaker(Maker):
    def build(self, side, row, edits):
        import triton
        keep = triton.compile
        # compile_image passes num_stages=1: here it is part of the config
        triton.compile = lambda source, target, options: keep(
            source, target=target, options={**options, "num_stages": row["stages"],
                                            "num_warps": row["warps"]})
        try:
            text = self.source(row["family"], row["name"], edits)
            at = self.compile(side, row["name"], text, row["kinds"], row["constants"])
        finally:
            triton.compile = keep
        return at


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as made:
        for side in ("a", "b", "ref"):
            os.makedirs(os.path.join(made, side))
        maker, plan = ScopeMaker(made), []
        for row in ROWS:
            common = row["edits"] if "bug" in row else []
            a = maker.build("a", row, common)
            b = maker.build("b", row, common + row.get("bug", []) if "bug" in row else row["edits"])
            shutil.copyfile(os.path.join(a, row["name"] + ".source"),
                            os.path.join(b, row["name"] + ".source"))
            with open(os.path.join(a, row["name"] + ".json"), encoding="utf-8") as f:
                meta = json.load(f)
            plan += [{"entry": row["name"], "a": os.path.basename(a), "b": os.path.basename(b),
                      "warps": row["warps"], "shared": [shared(x, row["name"]) for x in (a, b)],
                      "scratch": ("global_scratch_size" in meta) + ("profile_scratch_size" in meta),
                      **launch} for launch in row["launches"]]
        with open(os.path.join(made, "plan.json"), "w", encoding="utf-8") as f:
            json.dump(plan, f, indent=0)
        subprocess.run(["tar", "--sort=name", "--mtime=@0", "--owner=0", "--group=0",
                        "--numeric-owner", "-C", made, "-cJf", out, "a", "b", "plan.json"],
                       check=True, env={**os.environ, "XZ_OPT": "-9e"})


def shared(folder, name):
    with open(os.path.join(folder, name + ".json"), encoding="utf-8") as f:
        return json.load(f)["shared"]


main()
