# SPDX-License-Identifier: MIT
"""TLX and plain Triton kernels launched by fbtriton with PyTorch: tlx_program.py [compile]

With "compile" the autotuned TLX kernel is only compiled, which needs neither PyTorch nor a GPU.
"""
import os
import sys

import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


def set_blocks(arguments):
    arguments["a_desc"].block_shape = [arguments["BM"], arguments["BK"]]
    arguments["b_desc"].block_shape = [arguments["BK"], arguments["BN"]]


CONFIGS = [triton.Config({"BM": bm, "BN": bn, "BK": bk, "STAGES": stages}, num_warps=4, num_stages=1, pre_hook=set_blocks)
           for bm, bn, bk, stages in [(64, 64, 64, 2), (64, 128, 64, 3), (64, 256, 32, 4), (128, 128, 64, 2)]]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
@triton.jit
def tlx_gemm(a_desc, b_desc, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr):
    """One task brings tiles of f16 A and B by TMA into a ring of STAGES, another multiplies them by wgmma."""
    a_tiles = tlx.local_alloc((BM, BK), tlx.dtype_of(a_desc), STAGES)
    b_tiles = tlx.local_alloc((BK, BN), tlx.dtype_of(b_desc), STAGES)
    full = tlx.alloc_barriers(num_barriers=STAGES, arrive_count=1)
    empty = tlx.alloc_barriers(num_barriers=STAGES, arrive_count=1)
    with tlx.async_tasks():
        with tlx.async_task("default"):
            m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
            for k in range(0, tl.cdiv(K, BK)):
                slot, phase = k % STAGES, (k // STAGES) & 1
                tlx.barrier_wait(bar=tlx.local_view(empty, slot), phase=phase ^ 1)
                arrived = tlx.local_view(full, slot)
                tlx.barrier_expect_bytes(arrived, (BM + BN) * BK * tlx.size_of(tlx.dtype_of(a_desc)))
                tlx.async_descriptor_load(a_desc, tlx.local_view(a_tiles, slot), [m, k * BK], arrived)
                tlx.async_descriptor_load(b_desc, tlx.local_view(b_tiles, slot), [k * BK, n], arrived)
        with tlx.async_task(num_warps=4):
            acc = tl.zeros((BM, BN), dtype=tl.float32)
            for k in range(0, tl.cdiv(K, BK)):
                slot, phase = k % STAGES, (k // STAGES) & 1
                tlx.barrier_wait(bar=tlx.local_view(full, slot), phase=phase)
                acc = tlx.async_dot(tlx.local_view(a_tiles, slot), tlx.local_view(b_tiles, slot), acc)
                acc = tlx.async_dot_wait(0, acc)
                tlx.barrier_arrive(tlx.local_view(empty, slot), 1)
            rows = tl.program_id(0) * BM + tl.arange(0, BM)
            cols = tl.program_id(1) * BN + tl.arange(0, BN)
            tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc.to(tl.float16),
                     mask=(rows[:, None] < M) & (cols[None, :] < N))


def compile_only():
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    for config in CONFIGS:
        c = config.kwargs
        signature = {"a_desc": f"tensordesc<fp16[{c['BM']}, {c['BK']}]>", "b_desc": f"tensordesc<fp16[{c['BK']}, {c['BN']}]>",
                     "c_ptr": "*fp16", "M": "i32", "N": "i32", "K": "i32", **{name: "constexpr" for name in c}}
        names = list(signature)
        made = triton.compile(ASTSource(tlx_gemm.fn, signature, {(names.index(name), ): value for name, value in c.items()}),
                              target=GPUTarget("cuda", 90, 32), options={"num_warps": 4, "num_stages": 1})
        print(c, made.metadata.shared, "wgmma" in made.asm["ptx"], "cp.async.bulk.tensor" in made.asm["ptx"])


def gemm(m, n, k):
    import torch
    from triton.tools.tensor_descriptor import TensorDescriptor
    a, b = torch.randn(m, k, device="cuda", dtype=torch.float16), torch.randn(k, n, device="cuda", dtype=torch.float16)
    c = torch.empty(m, n, device="cuda", dtype=torch.float16)
    tlx_gemm[lambda meta: (triton.cdiv(m, meta["BM"]), triton.cdiv(n, meta["BN"]))](
        TensorDescriptor.from_tensor(a, [1, 1]), TensorDescriptor.from_tensor(b, [1, 1]), c, m, n, k)
    wanted = a.float() @ b.float()
    print("gemm", m, n, k, bool(((c.float() - wanted).abs() <= 0.02 + 1e-3 * wanted.abs()).all()))


def run():
    import torch
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:0] = [here, os.path.join(here, "../image")]
    import kernel_tlx
    import matmul_tuned
    torch.manual_seed(0)
    x = torch.arange(1000, dtype=torch.float32, device="cuda")
    y, z = torch.zeros_like(x), torch.zeros_like(x)
    kernel_tlx.tlx_cp[(4, )](x, y, 1000, BLOCK=256)
    print("copy", torch.equal(x, y))
    kernel_tlx.tlx_ws[(4, )](x, y, z, 1000, BLOCK=256)
    print("tasks", torch.equal(y, 2 * x), torch.equal(z, x + 1))
    a = torch.arange(64 * 128, device="cuda").remainder(7).reshape(64, 128).half() / 4
    b = torch.arange(128 * 64, device="cuda").remainder(5).reshape(128, 64).half() / 8
    out = torch.empty(64, 64, device="cuda")
    kernel_tlx.tlx_dot[(1, )](a, b, out, 128, BM=64, BN=64, BK=32)
    print("dot", torch.equal(out, a.float() @ b.float()))
    gemm(512, 512, 512)
    gemm(200, 320, 256)
    plain = matmul_tuned.matmul(256, 256, 256, torch.float16)
    print("plain", plain.isfinite().all().item(), triton.__version__)


if sys.argv[1:] == ["compile"]:
    compile_only()
else:
    run()
