# SPDX-License-Identifier: MIT
"""Triton's own driver without torch: @triton.jit kernels launch on whatever libcuda.so.1 is found, e.g. in software.

Not a stand-in for Triton: compiling, specialising, loading and launching are its own; only what it asks torch for
(device, stream, capability, tensors) comes from here.
"""
import ctypes
import math
import os

from triton.backends.nvidia.driver import CudaDriver, CudaLauncher, CudaUtils
from triton.runtime import driver

SIZES = {"float32": (4, ctypes.c_float), "int32": (4, ctypes.c_int32)}
cuda = ctypes.CDLL("libcuda.so.1")


def check(result):
    if result:
        raise SystemExit(f"CUresult {result}")


def start():
    context = ctypes.c_void_p()
    check(cuda.cuInit(0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(cuda.cuCtxSetCurrent(context))
    driver.set_active(Driver())


class Driver(CudaDriver):
    def __init__(self):  # pylint: disable=super-init-not-called
        self.utils = CudaUtils()
        self.launcher_cls = CudaLauncher
        self.get_device_capability = lambda device: (9, 0)
        self.get_current_stream = lambda device: 0
        self.get_current_device = lambda: 0
        self.set_current_device = lambda device: None

    def get_benchmarker(self):
        def benchmark(call, quantiles=None, **_):
            for _ in range(3):
                call()
            check(cuda.cuCtxSynchronize())
            # What autotuning would find depends on the machine; a test wants the last config every time, or the first.
            Driver.benchmarks += 1
            last = Driver.benchmarks if os.environ.get("SOFT_TRITON_FIRST") else 1.0 / Driver.benchmarks
            return [last] * 3
        return benchmark


Driver.benchmarks = 0


class Tensor:
    """Just enough of torch.Tensor for Triton's specialisation and launcher."""

    def __init__(self, shape, dtype="float32", values=None):
        self.shape, self.dtype = tuple(shape), f"torch.{dtype}"
        size, self.ctype = SIZES[dtype]
        self.count = math.prod(self.shape)
        address = ctypes.c_uint64()
        check(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size * self.count)))
        self.address = address.value
        host = (self.ctype * self.count)(*(values or [0] * self.count))
        check(cuda.cuMemcpyHtoD_v2(address, host, ctypes.c_size_t(ctypes.sizeof(host))))

    def data_ptr(self):
        return self.address

    def stride(self):
        return tuple(math.prod(self.shape[i + 1:]) for i in range(len(self.shape)))

    def tolist(self):
        host = (self.ctype * self.count)()
        check(cuda.cuCtxSynchronize())
        check(cuda.cuMemcpyDtoH_v2(host, ctypes.c_uint64(self.address), ctypes.c_size_t(ctypes.sizeof(host))))
        return list(host)
