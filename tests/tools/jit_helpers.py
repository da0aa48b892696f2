# SPDX-License-Identifier: MIT
"""A module of the program that jit_program.py takes a function and a constant from."""
import triton
import triton.language as tl

SHIFT = tl.constexpr(0.5)


@triton.jit
def shifted(x):
    return x + SHIFT
