# SPDX-License-Identifier: MIT
"""Launches what make_scope.py made, over the driver API alone. scope_program.py FOLDER SIDE"""
import ctypes
import json
import os
import sys

BYTES = {"f32": 4, "f16": 2, "bf16": 2}
folder, side = sys.argv[1:]
cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *args):
    status = getattr(cuda, name)(*args)
    if status:
        sys.exit(f"{name}: {status}")


def numbers(kind, count, seed):
    """Values that differ in all bits, of about unit size: the upper half of a float where narrow."""
    out = bytearray()
    for i in range(count):
        x = ((i * 2654435761 + seed * 40503) >> 8) & 0xFFFF
        f = ctypes.c_float((x - 32768) / 16384)
        bits = ctypes.c_uint32.from_buffer(f).value
        if kind == "f32":
            out += bits.to_bytes(4, "little")
        elif kind == "bf16":
            out += (bits >> 16).to_bytes(2, "little")
        else:
            sign, e, m = bits >> 31, (bits >> 23 & 255) - 112, bits >> 13 & 1023
            out += ((sign << 15 | e << 10 | m) if e > 0 else 0).to_bytes(2, "little")
    return bytes(out)


def pointer(kind, count, seed):
    address = ctypes.c_uint64()
    data = numbers(kind, count, seed)
    call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(len(data)))
    call("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(len(data)))
    return address


def run(launch):
    path = os.path.join(folder, side, launch[side], launch["entry"] + ".cubin")
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    with open(path, "rb") as f:
        call("cuModuleLoadData", ctypes.byref(module), f.read())
    call("cuModuleGetFunction", ctypes.byref(function), module, launch["entry"].encode())
    values = [pointer(*a, i) if isinstance(a, list) else ctypes.c_int32(a)
              for i, a in enumerate(launch["arguments"])]
    values += [ctypes.c_uint64() for _ in range(launch["scratch"])]
    params = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
    shared = launch["shared"][side == "b"]
    call("cuLaunchKernel", function, *launch["grid"], 1, 32 * launch["warps"], 1, 1, shared, None,
         params, None)
    call("cuCtxSynchronize")
    for v in values:
        if isinstance(v, ctypes.c_uint64) and v.value:
            call("cuMemFree_v2", v)


device, context = ctypes.c_int(), ctypes.c_void_p()
call("cuInit", 0)
call("cuDeviceGet", ctypes.byref(device), 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
call("cuCtxSetCurrent", context)
with open(os.path.join(folder, "plan.json"), encoding="utf-8") as f:
    for one in json.load(f):
        if "KERNELAB_TEST_NAMES" in os.environ:  # as pytest does
            os.environ["PYTEST_CURRENT_TEST"] = f"t/k.py::test_{one['entry']}[{one['arguments'][5:6]}::1] (call)"
        run(one)
