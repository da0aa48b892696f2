# SPDX-License-Identifier: MIT
"""Hands PTX to the driver, by itself and beside PyTorch's profiler.

cupti_client.py module|library|profiler
cupti_client.py own LIBCUPTI FILE     writes the machine code that its own CUPTI subscription heard of
"""
import ctypes
import struct
import sys

cuda = ctypes.CDLL("libcuda.so.1")
COUNT = 1000
PTX = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry scaled_sum(.param .u64 x, .param .u64 y, .param .u32 n)
{
	.reg .pred %p<3>;
	.reg .b32 %r<8>;
	.reg .f32 %f<8>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd2, [y];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.u32 %r5, %r2, %r3, %r4;
	setp.ge.u32 %p1, %r5, %r1;
	@%p1 bra $done;
	mul.wide.u32 %rd3, %r5, 4;
	add.s64 %rd4, %rd1, %rd3;
	ld.global.f32 %f1, [%rd4];
	mov.f32 %f2, 0f00000000;
	mov.u32 %r6, 0;
$loop:
	mul.f32 %f3, %f1, 0f3F800347;
	add.f32 %f2, %f2, %f3;
	ex2.approx.f32 %f1, %f2;
	add.u32 %r6, %r6, 1;
	setp.lt.u32 %p2, %r6, 5;
	@%p2 bra $loop;
	add.s64 %rd5, %rd2, %rd3;
	st.global.f32 [%rd5], %f2;
$done:
	ret;
}
"""


def check(result):
    if result:
        raise SystemExit(f"CUresult {result}")


class Memory:
    def __init__(self):
        self.x, self.y = ctypes.c_uint64(), ctypes.c_uint64()
        for address in (self.x, self.y):
            check(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(4 * COUNT)))
        data = struct.pack(f"{COUNT}f", *(-i / COUNT for i in range(COUNT)))
        check(cuda.cuMemcpyHtoD_v2(self.x, data, ctypes.c_size_t(4 * COUNT)))

    def launch(self, function):
        count = ctypes.c_uint32(COUNT)
        arguments = (ctypes.c_void_p * 3)(*(ctypes.addressof(v) for v in (self.x, self.y, count)))
        check(cuda.cuLaunchKernel(function, 8, 1, 1, 128, 1, 1, 0, None, arguments, None))
        check(cuda.cuCtxSynchronize())
        out = ctypes.create_string_buffer(4 * COUNT)
        check(cuda.cuMemcpyDtoH_v2(out, self.y, ctypes.c_size_t(4 * COUNT)))
        return sum(struct.unpack(f"{COUNT}f", out.raw))


def by_module(memory, ptx=PTX):
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuModuleLoadData(ctypes.byref(module), ptx))
    check(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"scaled_sum"))
    print(memory.launch(function))


def by_library(memory):
    library, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuLibraryLoadData(ctypes.byref(library), PTX, None, None, 0, None, None, 0))
    check(cuda.cuLibraryGetKernel(ctypes.byref(kernel), library, b"scaled_sum"))
    print(memory.launch(kernel))


class Module(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32), ("size", ctypes.c_size_t), ("cubin", ctypes.c_void_p)]


class Resource(ctypes.Structure):
    _fields_ = [("context", ctypes.c_void_p), ("handle", ctypes.c_void_p), ("module", ctypes.POINTER(Module))]


def own_subscription(memory, path, file):
    cupti, subscriber, heard = ctypes.CDLL(path), ctypes.c_void_p(), []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.POINTER(Resource))
    def callback(_, domain, what, resource):
        if (domain, what) == (3, 6):
            heard.append(ctypes.string_at(resource[0].module[0].cubin, resource[0].module[0].size))

    check(cupti.cuptiSubscribe(ctypes.byref(subscriber), callback, None))
    check(cupti.cuptiEnableCallback(1, subscriber, 3, 6))
    by_module(memory)
    check(cupti.cuptiUnsubscribe(subscriber))
    with open(file, "wb") as f:
        f.write(heard[0])
    return len(heard)


def beside_profiler(memory):
    """PTX before, during and after a profile of PyTorch."""
    import torch
    x = torch.ones(1000, device="cuda")
    torch.cuda.synchronize()
    by_module(memory)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(10):
            x = x * 2
        torch.cuda.synchronize()
        by_module(memory, PTX + b" ")
    by_module(memory, PTX + b"  ")
    print("kernels seen:", sum(e.device_type == torch.autograd.DeviceType.CUDA and "elementwise" in e.name
                               for e in profile.events()))


def main():
    device, context = ctypes.c_int(), ctypes.c_void_p()
    check(cuda.cuInit(0))
    check(cuda.cuDeviceGet(ctypes.byref(device), 0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    check(cuda.cuCtxSetCurrent(context))
    memory = Memory()
    if sys.argv[1] == "own":
        print("modules heard:", own_subscription(memory, *sys.argv[2:4]))
    else:
        {"module": by_module, "library": by_library, "profiler": beside_profiler}[sys.argv[1]](memory)


main()
