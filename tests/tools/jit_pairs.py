# SPDX-License-Identifier: MIT
"""Configs that differ in a constexpr which leaves no block shape, and a kernel of Gluon where Triton has it; no torch."""
import triton
import triton.language as tl

import soft_triton
from soft_triton import Tensor

try:
    from triton.experimental import gluon
    from triton.experimental.gluon import language as gl
except ImportError:
    gluon = None


@triton.jit
def grouped_k(X, Y, n, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    tile = (pid // GROUP) * GROUP + (GROUP - 1 - pid % GROUP)
    o = tile * BLOCK + tl.arange(0, BLOCK)
    tl.store(Y + o, tl.load(X + o, mask=o < n) + 1, mask=o < n)


def gluon_kernel():
    @gluon.jit
    def gluon_k(X, Y, n, BLOCK: gl.constexpr):
        layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
        o = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout)
        gl.store(Y + o, gl.load(X + o, mask=o < n) * 2, mask=o < n)
    return gluon_k


soft_triton.start()
x, y = Tensor((1000,), values=range(1000)), Tensor((1000,))
for group in 1, 2, 4:
    grouped_k[(8,)](x, y, 1000, GROUP=group, BLOCK=128)
print(y.tolist()[::333])
if gluon:
    gluon_kernel()[(8,)](x, y, 1000, BLOCK=128)
    print(y.tolist()[::333])
