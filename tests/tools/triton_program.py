# SPDX-License-Identifier: MIT
"""Compiles a kernel with Triton and launches it by Triton's own driver utility and launcher; no torch."""
import ctypes

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.driver import CudaLauncher, CudaUtils
from triton.compiler import ASTSource

N = 1000


@triton.jit
def scale_k(X, Y, n, s, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n
    tl.store(Y + o, tl.load(X + o, mask=m) * s, mask=m)


def check(result):
    if result:
        raise SystemExit(f"CUresult {result}")


def allocate(cuda, size):
    address = ctypes.c_uint64()
    check(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)))
    return address.value


# Up to Triton 3.2 constexprs were neither in the signature nor arguments of the launcher.
old = tuple(int(part) for part in triton.__version__.split(".")[:2]) < (3, 3)
signature = {"X": "*fp32", "Y": "*fp32", "n": "i32", "s": "fp32"}
if old:
    source = ASTSource(fn=scale_k, signature=signature, constants={"BLOCK": 128})
else:
    source = ASTSource(fn=scale_k, signature={**signature, "BLOCK": "constexpr"}, constexprs={"BLOCK": 128})
kernel = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})
cuda = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
check(cuda.cuInit(0))
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(cuda.cuCtxSetCurrent(context))
x, y = allocate(cuda, 4 * N), allocate(cuda, 4 * N)
host = (ctypes.c_float * N)(*range(N))
check(cuda.cuMemcpyHtoD_v2(ctypes.c_uint64(x), host, ctypes.c_size_t(4 * N)))
function = CudaUtils().load_binary(kernel.metadata.name, kernel.asm["cubin"], kernel.metadata.shared, 0)[1]
launch = CudaLauncher(source, kernel.metadata)
for scale in (2.0, 3.0):
    launch(8, 1, 1, 0, function, kernel.packed_metadata, None, None, None, x, y, N, scale,
           *([] if old else [128]))
check(cuda.cuCtxSynchronize())
check(cuda.cuMemcpyDtoH_v2(host, ctypes.c_uint64(y), ctypes.c_size_t(4 * N)))
print(host[0], host[10], host[N - 1])
