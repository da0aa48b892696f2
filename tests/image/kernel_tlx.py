# SPDX-License-Identifier: MIT
"""Two TLX kernels, one of them warp-specialised; make_versions.sh compiles them with fbtriton."""
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


for kernel, pointers in ((tlx_ws, 3), (tlx_cp, 2)):
    names = kernel.arg_names
    signature = {name: "*fp32" if i < pointers else "i32" for i, name in enumerate(names)}
    signature["BLOCK"] = "constexpr"
    source = ASTSource(kernel, signature, constexprs={(len(names) - 1, ): 256}, attrs={})
    triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})
