# SPDX-License-Identifier: MIT
"""TLX kernels launched in the ordinary way; needs fbtriton, no torch."""
import triton
import triton.language as tl
import triton.language.extra.tlx as tlx

import soft_triton
from soft_triton import Tensor


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

soft_triton.start()
x, y, z = Tensor((1000,), values=range(1000)), Tensor((1000,)), Tensor((1000,))
tlx_cp[(4,)](x, y, 1000, BLOCK=256)
print(sum(y.tolist()))
tlx_ws[(4,)](x, y, z, 1000, BLOCK=256)
print(sum(y.tolist()), sum(z.tolist()))
