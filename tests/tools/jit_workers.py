# SPDX-License-Identifier: MIT
"""Compiles in two spawned processes, as Inductor does, then launches from the cache that they filled."""
import multiprocessing
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import jit_program


def compile_one(block):
    signature = {"X": "*fp32", "Y": "*fp32", "n": "i32", "s": "fp32", "BLOCK": "constexpr", "ACT": "constexpr"}
    divisible = [["tt.divisibility", 16]]
    source = ASTSource(fn=jit_program.scale_k, signature=signature, constexprs={(4,): block, (5,): "clamp"},
                       attrs={(0,): divisible, (1,): divisible})
    return len(triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4}).asm["cubin"])


if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        sizes = pool.map(compile_one, [128, 256])
    jit_program.soft_triton.start()
    x, y = (jit_program.Tensor((1000,), values=range(1000)) for _ in range(2))
    jit_program.scale_k[(8,)](x, y, 1000, 2.0, BLOCK=128, ACT="clamp")
    print(y.tolist()[10])
    print("workers compiled", len(sizes))
    sys.exit(0)
