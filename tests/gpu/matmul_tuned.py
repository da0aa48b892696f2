# SPDX-License-Identifier: MIT
"""A matrix product that triton.autotune tunes over eight configs."""
import torch
import triton
import triton.language as tl

CONFIGS = [triton.Config({"BM": bm, "BN": bn, "BK": bk}, num_warps=warps, num_stages=stages)
           for bm, bn, bk, warps, stages in [(64, 64, 32, 4, 2), (64, 64, 64, 4, 3), (128, 64, 32, 4, 3), (64, 128, 32, 4, 4),
                                             (128, 128, 32, 4, 3), (128, 128, 64, 8, 3), (128, 256, 64, 8, 3),
                                             (64, 128, 64, 4, 4)]]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
@triton.jit
def matmul_k(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a, b = A + m[:, None] * K + k[None, :], B + k[:, None] * N + n[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        left = K - step * BK
        acc += tl.dot(tl.load(a, mask=(m[:, None] < M) & (k[None, :] < left), other=0.0),
                      tl.load(b, mask=(k[:, None] < left) & (n[None, :] < N), other=0.0))
        a += BK
        b += BK * N
    tl.store(C + m[:, None] * N + n[None, :], acc.to(C.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def matmul(m, n, k, dtype):
    a, b = torch.randn(m, k, device="cuda", dtype=dtype), torch.randn(k, n, device="cuda", dtype=dtype)
    c = torch.empty(m, n, device="cuda", dtype=dtype)
    matmul_k[lambda meta: (triton.cdiv(m, meta["BM"]), triton.cdiv(n, meta["BN"]))](a, b, c, m, n, k)
    return c
