# SPDX-License-Identifier: MIT
"""Real @triton.jit kernels, one of them autotuned, launched in the ordinary way; no torch."""
import os
import sys

import triton
import triton.language as tl

import jit_helpers
import soft_triton
from soft_triton import Tensor

LIMIT = tl.constexpr(700.0)
ONLY = os.environ.get("JIT_ONLY_ROWS")  # another build, which tries this config alone, on fewer rows


class Tensorlike:
    """What a kernel calls by the same name as a local variable must be left alone: a tensor's repr launches kernels."""

    def __repr__(self):
        print("touched")
        return "?"

    def __getattr__(self, name):
        print("touched", name)
        raise AttributeError(name)


o = x = Tensorlike()


@triton.jit
def clamp(x, limit):
    return tl.minimum(x, limit)


@triton.jit
def scale_k(X, Y, n, s, BLOCK: tl.constexpr, ACT: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(X + o, mask=o < n) * s
    if ACT == "clamp":
        x = clamp(x, LIMIT)
    tl.store(Y + o, jit_helpers.shifted(x), mask=o < n)


def prune(configs, arguments, **kwargs):
    return [config for config in configs if (config.kwargs["ROWS"] < 8 if not ONLY else config.kwargs["ROWS"] == int(ONLY))]


@triton.autotune(configs=[triton.Config({"ROWS": rows}, num_warps=warps) for rows, warps in
                          ((1, 1), (2, 2), (4, 1), (8, 4))], key=["n"], prune_configs_by={"early_config_prune": prune})
@triton.jit
def row_sum_k(X, Y, m, n, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, COLS)
    mask = (rows[:, None] < m) & (cols[None, :] < n)
    x = tl.load(X + rows[:, None] * n + cols[None, :], mask=mask, other=0.0)
    tl.store(Y + rows, tl.sum(x, axis=1), mask=rows < m)


def main():
    soft_triton.start()
    x, y = Tensor((20, 50), values=range(1000)), Tensor((20, 50))
    scale_k[(8,)](x, y, 1000, 2.0, BLOCK=128, ACT="clamp")
    z = Tensor((20,))
    m = 17 if ONLY else 20
    row_sum_k[lambda meta: (triton.cdiv(m, meta["ROWS"]),)](y, z, m, 50, COLS=64)
    print(y.tolist()[10], y.tolist()[999], z.tolist()[0], z.tolist()[19])
    return 0


if __name__ == "__main__":
    sys.exit(main())
