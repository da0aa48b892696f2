# SPDX-License-Identifier: MIT
"""Three TLX kernels: warp-specialised, asynchronous copies, wgmma; make_versions.sh compiles them with fbtriton.

tests/gpu/test_tlx.py launches these on a GPU, tests/gpu/tlx_program.py by fbtriton itself.
"""
import triton
import triton.language as tl
import triton.language.extra.tlx as tlx
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def tlx_ws(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    with tlx.async_tasks():
        with tlx.async_task("default"):
            offs = pid * BLOCK + tl.arange(0, BLOCK)
            m = offs < n
            tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=m) + 1.0, mask=m)
        with tlx.async_task(num_warps=4):
            offs = pid * BLOCK + tl.arange(0, BLOCK)
            m = offs < n
            tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=m) * 2.0, mask=m)


@triton.jit
def tlx_cp(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    m = offs < n
    view = tlx.local_view(tlx.local_alloc((BLOCK, ), tl.float32, 2), 0)
    token = tlx.async_load(x_ptr + offs, view, mask=m)
    tlx.async_load_commit_group([token])
    tlx.async_load_wait_group(0)
    tl.store(out_ptr + offs, tlx.local_load(view), mask=m)


@triton.jit
def tlx_dot(a_ptr, b_ptr, out_ptr, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """One tile of f16 A[BM, K] @ B[K, BN] in f32, K a multiple of BK: copies of a step run beside the wgmma of another."""
    rows, cols, ks = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    a = a_ptr + rows[:, None] * K + ks[None, :]
    b = b_ptr + ks[:, None] * BN + cols[None, :]
    a_tiles = tlx.local_alloc((BM, BK), tl.float16, 2)
    b_tiles = tlx.local_alloc((BK, BN), tl.float16, 2)
    token_a = tlx.async_load(a, tlx.local_view(a_tiles, 0))
    token_b = tlx.async_load(b, tlx.local_view(b_tiles, 0))
    tlx.async_load_commit_group([token_a, token_b])
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in tl.range(0, K // BK, num_stages=0):
        tlx.async_load_wait_group(0)
        acc = tlx.async_dot(tlx.local_view(a_tiles, k % 2), tlx.local_view(b_tiles, k % 2), acc)
        acc = tlx.async_dot_wait(0, acc)
        more = (k + 1) * BK < K
        a += BK
        b += BK * BN
        token_a = tlx.async_load(a, tlx.local_view(a_tiles, (k + 1) % 2), mask=(ks[None, :] >= 0) & more)
        token_b = tlx.async_load(b, tlx.local_view(b_tiles, (k + 1) % 2), mask=(ks[:, None] >= 0) & more)
        tlx.async_load_commit_group([token_a, token_b])
    tl.store(out_ptr + rows[:, None] * BN + cols[None, :], acc)


def compile_one(kernel, types, constexprs):
    names = kernel.arg_names
    signature = dict(zip(names, types)) | {name: "constexpr" for name in constexprs}
    source = ASTSource(kernel, signature, constexprs={(names.index(k), ): v for k, v in constexprs.items()}, attrs={})
    triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})


if __name__ == "__main__":
    compile_one(tlx_ws, ["*fp32"] * 3 + ["i32"], {"BLOCK": 256})
    compile_one(tlx_cp, ["*fp32"] * 2 + ["i32"], {"BLOCK": 256})
    # Copies of 16 bytes need aligned rows: the divisibility that a launch would give.
    source = ASTSource(tlx_dot, {"a_ptr": "*fp16", "b_ptr": "*fp16", "out_ptr": "*fp32", "K": "i32", "BM": "constexpr",
                                 "BN": "constexpr", "BK": "constexpr"}, constexprs={(4, ): 64, (5, ): 64, (6, ): 32},
                       attrs={(i, ): [["tt.divisibility", 16]] for i in range(4)})
    triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})
