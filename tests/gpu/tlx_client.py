# SPDX-License-Identifier: MIT
"""Launches TLX kernels that fbtriton compiled elsewhere, by the driver API alone.

tlx_client.py FOLDER cubin|ptx KERNEL…
"""
import ctypes
import os
import struct
import sys

cuda = ctypes.CDLL("libcuda.so.1")


def check(result):
    if result:
        raise SystemExit(f"CUresult {result}")


def device_memory(data):
    address = ctypes.c_uint64()
    check(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(len(data))))
    check(cuda.cuMemcpyHtoD_v2(address, data, ctypes.c_size_t(len(data))))
    return address


def contents(address, size):
    data = ctypes.create_string_buffer(size)
    check(cuda.cuCtxSynchronize())
    check(cuda.cuMemcpyDtoH_v2(data, address, ctypes.c_size_t(size)))
    return data.raw


def launch(folder, entry, arguments, grid, threads, shared=0):
    """Arguments are ctypes values; behind them come the two scratch pointers, which are not used."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuModuleLoad(ctypes.byref(module), os.path.join(folder, f"{entry}.{sys.argv[2]}").encode()))
    check(cuda.cuModuleGetFunction(ctypes.byref(function), module, entry.encode()))
    values = [*arguments, ctypes.c_uint64(0), ctypes.c_uint64(0)]
    pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
    check(cuda.cuLaunchKernel(function, grid, 1, 1, threads, 1, 1, shared, None, pointers, None))


def pointwise(folder, entry):
    n = 1000
    x = struct.pack(f"{n}f", *range(n))
    outputs = [device_memory(bytes(4 * n)) for _ in range(2 if entry == "tlx_ws" else 1)]
    # tlx_ws: 4 warps of the default task and 4 of the other.
    launch(folder, entry, [device_memory(x), *outputs, ctypes.c_int32(n)], 4, 256 if entry == "tlx_ws" else 128, 4096)
    return [sum(struct.unpack(f"{n}f", contents(out, 4 * n))) for out in outputs]


def dot(folder, entry):
    k = 128
    a = struct.pack(f"{64 * k}e", *((i % 7) / 4 for i in range(64 * k)))
    b = struct.pack(f"{k * 64}e", *((i % 5) / 8 for i in range(k * 64)))
    out = device_memory(bytes(4 * 64 * 64))
    launch(folder, entry, [device_memory(a), device_memory(b), out, ctypes.c_int32(k)], 1, 128, 16384)
    found = struct.unpack("4096f", contents(out, 4 * 64 * 64))
    left, right = struct.unpack(f"{64 * k}e", a), struct.unpack(f"{k * 64}e", b)
    wanted = [sum(left[r * k + i] * right[i * 64 + c] for i in range(k)) for r in range(64) for c in range(64)]
    return [max(abs(f - w) for f, w in zip(found, wanted)), found[65]]


def main():
    context = ctypes.c_void_p()
    check(cuda.cuInit(0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(cuda.cuCtxSetCurrent(context))
    for entry in sys.argv[3:]:
        print(entry, *(dot if entry == "tlx_dot" else pointwise)(sys.argv[1], entry))


main()
