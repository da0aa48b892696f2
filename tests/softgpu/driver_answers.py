#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks a CUDA driver what it answers to right and wrong calls, and prints one line a question.

    driver_answers.py LIBCUDA [SECTION...]

The answers of a GPU's driver are kept in tests/data/softgpu; the software device must give the same
ones (test_driver_answers.py). Each section runs in a process of its own, before which no driver was
touched. Questions that crash a driver (invented handles) are not asked here.
"""
import ctypes
import os
import sys

U64 = ctypes.c_uint64
BYREF = ctypes.byref
MIB = 1 << 20
GRANULE = 2 * MIB
BOGUS = 0x1000  # an address that is nobody's

HEADER = b".version 8.0\n.target sm_90\n.address_size 64\n"


def kernel(body=b"", directive=b""):
    return (HEADER + b".visible .entry k(.param .u64 a)" + directive +
            b"{\n.reg .b64 %r1;\n.reg .b32 %s;\nld.param.u64 %r1,[a];\n" + body + b"\nret;\n}\n")


LOAD = b"ld.global.u32 %s,[%r1];\nst.global.u32 [%r1+4],%s;"


class Driver:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.section = ""

    def call(self, name, *args):
        """Calls an entry; integers travel as 64 bits."""
        entry = getattr(self.library, name)
        return entry(*[U64(a & (1 << 64) - 1) if isinstance(a, int) else a for a in args])

    def name(self, result):
        text = ctypes.c_char_p()
        if self.call("cuGetErrorName", result, BYREF(text)):
            return str(result)
        return text.value.decode().removeprefix("CUDA_").removeprefix("ERROR_")

    def ask(self, question, name, *args):
        self.say(question, self.name(self.call(name, *args)))

    def say(self, question, answer):
        print(f"{self.section}: {question}: {answer}", flush=True)

    def must(self, name, *args):
        result = self.call(name, *args)
        if result:
            raise SystemExit(f"{self.section}: {name}: {self.name(result)}")

    def context(self):
        self.must("cuInit", 0)
        context = U64()
        self.must("cuDevicePrimaryCtxRetain", BYREF(context), 0)
        self.must("cuCtxSetCurrent", context)
        return context

    def allocate(self, size=4096):
        address = U64()
        self.must("cuMemAlloc_v2", BYREF(address), size)
        return address.value

    def load(self, text):
        module, function = U64(), U64()
        self.must("cuModuleLoadData", BYREF(module), ctypes.c_char_p(text))
        self.must("cuModuleGetFunction", BYREF(function), module, b"k")
        return module, function

    def launch(self, question, function, address, block=32, grid=1, shared=0, params=True, stream=0):
        value = U64(address)
        pointers = (ctypes.c_void_p * 1)(ctypes.addressof(value)) if params else 0
        result = self.call("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, shared, stream,
                           pointers, 0)
        after = self.call("cuCtxSynchronize")
        self.say(question, f"{self.name(result)}, then {self.name(after)}")

    def pointer_attributes(self, question, address, skip=()):
        for attribute in range(1, 21):
            if attribute not in skip:
                data = (U64 * 4)()
                self.ask(f"{question}, attribute {attribute}", "cuPointerGetAttribute", data,
                         attribute, address)


def ask_before_context(d):
    value, status = U64(), ctypes.c_int(-1)
    d.ask("cuCtxGetCurrent before cuInit", "cuCtxGetCurrent", BYREF(value))
    d.ask("cuDeviceGetCount before cuInit", "cuDeviceGetCount", BYREF(value))
    d.ask("cuMemAlloc before cuInit", "cuMemAlloc_v2", BYREF(value), 64)
    for symbol, version in ((b"nope", 13000), (b"cuMemAlloc", 2000), (b"cuMemAlloc", 12040),
                            (b"cuMemAlloc_v2", 12040), (b"cuLaunchKernelEx", 11000),
                            (b"cuGetProcAddress_v2", 12040), (b"cuGetProcAddress", 11030)):
        status.value = -1
        result = d.call("cuGetProcAddress_v2", symbol, BYREF(value), version, 0, BYREF(status))
        d.say(f"cuGetProcAddress {symbol.decode()} {version}",
              f"{d.name(result)}, status {status.value}, found {bool(value.value)}")
    d.ask("cuGetProcAddress of an empty name", "cuGetProcAddress_v2", b"", BYREF(value), 12040, 0,
          BYREF(status))
    d.ask("cuInit(1)", "cuInit", 1)
    d.must("cuInit", 0)
    d.ask("cuMemAlloc without context", "cuMemAlloc_v2", BYREF(value), 64)
    d.ask("cuCtxSynchronize without context", "cuCtxSynchronize")
    d.ask("cuCtxGetDevice without context", "cuCtxGetDevice", BYREF(value))
    d.ask("cuCtxPopCurrent without context", "cuCtxPopCurrent_v2", BYREF(value))
    d.ask("cuCtxGetCurrent without context", "cuCtxGetCurrent", BYREF(value))
    d.ask("cuCtxSetCurrent(NULL)", "cuCtxSetCurrent", 0)
    d.ask("cuCtxPushCurrent(NULL)", "cuCtxPushCurrent_v2", 0)
    d.ask("cuModuleLoadData without context", "cuModuleLoadData", BYREF(value), kernel())
    d.ask("cuDeviceGet(99)", "cuDeviceGet", BYREF(value), 99)
    d.ask("cuDeviceGetAttribute(0)", "cuDeviceGetAttribute", BYREF(value), 0, 0)
    d.ask("cuDeviceGetAttribute(100000)", "cuDeviceGetAttribute", BYREF(value), 100000, 0)
    d.ask("cuPointerGetAttribute without context", "cuPointerGetAttribute", BYREF(value), 2, BOGUS)
    d.ask("cuMemAddressReserve without context", "cuMemAddressReserve", BYREF(value), GRANULE, 0,
          0, 0)


def ask_contexts(d):
    first, value, own = d.context(), U64(), U64()
    memory = d.allocate()
    d.ask("cuCtxDestroy of the primary context", "cuCtxDestroy_v2", first)
    d.ask("cuCtxSynchronize after it", "cuCtxSynchronize")
    d.context()
    d.ask("cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2", 0)
    d.ask("cuDevicePrimaryCtxRelease, last", "cuDevicePrimaryCtxRelease_v2", 0)
    d.ask("cuDevicePrimaryCtxRelease, once more", "cuDevicePrimaryCtxRelease_v2", 0)
    d.ask("cuCtxGetCurrent after the release", "cuCtxGetCurrent", BYREF(value))
    d.say("current context after the release is the old one", value.value == first.value)
    d.ask("cuCtxSynchronize after the release", "cuCtxSynchronize")
    d.ask("cuMemAlloc after the release", "cuMemAlloc_v2", BYREF(value), 64)
    d.must("cuDevicePrimaryCtxRetain", BYREF(value), 0)
    d.say("retained again: the old handle", value.value == first.value)
    d.ask("cuCtxSetCurrent", "cuCtxSetCurrent", value)
    d.ask("cuMemFree of memory from before", "cuMemFree_v2", memory)
    d.ask("cuCtxCreate", "cuCtxCreate_v2", BYREF(own), 0, 0)
    memory = d.allocate()
    d.ask("cuCtxPopCurrent", "cuCtxPopCurrent_v2", BYREF(value))
    d.say("popped is the created one", value.value == own.value)
    d.ask("cuMemFree of another context's memory", "cuMemFree_v2", memory)
    d.ask("cuCtxDestroy", "cuCtxDestroy_v2", own)
    d.ask("cuCtxCreate(NULL)", "cuCtxCreate_v2", 0, 0, 0)
    d.ask("cuCtxCreate on device 9", "cuCtxCreate_v2", BYREF(own), 0, 9)


def ask_memory(d):
    d.context()
    page, small, base, size = d.allocate(), d.allocate(100), U64(), U64()
    host = ctypes.create_string_buffer(1 << 16)
    d.ask("cuMemAlloc(0)", "cuMemAlloc_v2", BYREF(base), 0)
    d.ask("cuMemAlloc into NULL", "cuMemAlloc_v2", 0, 64)
    d.ask("cuMemAlloc of 1 EiB", "cuMemAlloc_v2", BYREF(base), 1 << 60)
    d.ask("cuMemFree(0)", "cuMemFree_v2", 0)
    d.ask("cuMemFree of no memory", "cuMemFree_v2", BOGUS)
    d.ask("cuMemFree within an allocation", "cuMemFree_v2", page + 512)
    d.ask("cuMemGetAddressRange of no memory", "cuMemGetAddressRange_v2", BYREF(base), BYREF(size),
          BOGUS)
    d.ask("cuMemGetAddressRange within", "cuMemGetAddressRange_v2", BYREF(base), BYREF(size),
          small + 5)
    d.say("its base and size", f"{base.value == small} {size.value}")
    d.ask("cuMemGetAddressRange into NULL", "cuMemGetAddressRange_v2", 0, 0, small)
    d.ask("cuMemcpyDtoH of 101 of 100 bytes", "cuMemcpyDtoH_v2", host, small, 101)
    d.ask("cuMemcpyDtoH of 64 KiB of 4 KiB", "cuMemcpyDtoH_v2", host, page, 1 << 16)
    d.ask("cuMemcpyDtoH of no memory", "cuMemcpyDtoH_v2", host, BOGUS, 4)
    d.ask("cuMemcpyDtoH of 0 bytes of no memory", "cuMemcpyDtoH_v2", host, BOGUS, 0)
    d.ask("cuMemcpyDtoHAsync of no memory", "cuMemcpyDtoHAsync_v2", host, BOGUS, 4, 0)
    d.ask("cuMemcpyHtoD from NULL", "cuMemcpyHtoD_v2", page, 0, 4)
    d.ask("cuMemcpyHtoD from device memory", "cuMemcpyHtoD_v2", page, small, 4)
    d.ask("cuMemcpyDtoH into device memory", "cuMemcpyDtoH_v2", page, small, 4)
    d.ask("cuMemcpyDtoD from the stack", "cuMemcpyDtoD_v2", page, ctypes.addressof(host), 4)
    d.ask("cuMemsetD8 past the end", "cuMemsetD8_v2", small, 0, 1 << 16)
    d.ask("cuMemsetD8 of no memory", "cuMemsetD8_v2", BOGUS, 0, 4)
    d.ask("cuMemsetD8 of 0 bytes", "cuMemsetD8_v2", page, 0, 0)
    d.ask("cuMemsetD32 misaligned", "cuMemsetD32_v2", page + 2, 0, 4)
    pinned = U64()
    d.ask("cuMemAllocHost(0)", "cuMemAllocHost_v2", BYREF(pinned), 0)
    d.must("cuMemAllocHost_v2", BYREF(pinned), 4096)
    d.ask("cuMemGetAddressRange of pinned memory", "cuMemGetAddressRange_v2", BYREF(base),
          BYREF(size), pinned.value)
    d.ask("cuMemcpyDtoD into pinned memory", "cuMemcpyDtoD_v2", pinned.value, page, 64)
    d.ask("cuMemFreeHost of the stack", "cuMemFreeHost", host)
    d.ask("cuMemFreeHost(NULL)", "cuMemFreeHost", 0)
    d.ask("cuMemFree of pinned memory", "cuMemFree_v2", pinned.value)
    for question, address in (("device memory", small + 1), ("pinned memory", pinned.value),
                              ("no memory", BOGUS), ("the stack", ctypes.addressof(host))):
        d.pointer_attributes(question, address, skip=(5,))
        values = (U64 * 3)()
        wanted = (ctypes.c_int * 3)(2, 11, 9)  # memory type, start of the range, ordinal
        at = (ctypes.c_void_p * 3)(*[ctypes.addressof(values) + 8 * i for i in range(3)])
        result = d.call("cuPointerGetAttributes", 3, wanted, at, address)
        ordinal = ctypes.c_int(values[2] & 0xffffffff).value
        d.say(f"{question}, attributes", f"{d.name(result)}, type {values[0] & 0xffffffff}, "
              f"start {bool(values[1])}, ordinal {ordinal}")


def ask_vmm(d):
    d.context()
    start, handle, base, size = U64(), U64(), U64(), U64()
    host = ctypes.create_string_buffer(64)
    device = (ctypes.c_int * 8)(1, 0, 1, 0, 0, 0, 0, 0)  # CUmemAllocationProp: pinned, device 0

    def reserve(question, size, align, hint, flags=0):
        result = d.call("cuMemAddressReserve", BYREF(start), size, align, hint, flags)
        at = f", at the hint {start.value == hint}" if hint and not result else ""
        d.say(f"cuMemAddressReserve {question}", d.name(result) + at)
        return start.value

    free = 0x7e0004000000
    a = reserve("64 MiB", 64 * MIB, 0, 0)
    reserve("at a taken place", GRANULE, 0, a)
    reserve("of 1000 bytes", 1000, 0, 0)
    reserve("of 0 bytes", 0, 0, 0)
    reserve("at a multiple of 32 MiB", GRANULE, 0, free)
    reserve("with alignment 3", GRANULE, 3, 0)
    reserve("with alignment 1 GiB", GRANULE, 1 << 30, 0)
    reserve("with flags", GRANULE, 0, 0, 1)
    d.ask("cuMemCreate of 1000 bytes", "cuMemCreate", BYREF(handle), 1000, device, 0)
    d.ask("cuMemCreate of 0 bytes", "cuMemCreate", BYREF(handle), 0, device, 0)
    d.ask("cuMemCreate without properties", "cuMemCreate", BYREF(handle), GRANULE, 0, 0)
    d.must("cuMemCreate", BYREF(handle), 2 * GRANULE, device, 0)
    d.ask("cuMemMap", "cuMemMap", a, 2 * GRANULE, 0, handle, 0)
    d.ask("cuMemMap, again there", "cuMemMap", a, 2 * GRANULE, 0, handle, 0)
    d.ask("cuMemMap, not reserved", "cuMemMap", 0x700000000000, 2 * GRANULE, 0, handle, 0)
    d.ask("cuMemMap with an offset", "cuMemMap", a + 4 * GRANULE, GRANULE, GRANULE, handle, 0)
    d.ask("cuMemMap of a part", "cuMemMap", a + 6 * GRANULE, GRANULE, 0, handle, 0)
    d.ask("cuMemMap of more than there is", "cuMemMap", a + 8 * GRANULE, 4 * GRANULE, 0, handle, 0)
    d.ask("cuMemMap at a second place", "cuMemMap", a + 12 * GRANULE, 2 * GRANULE, 0, handle, 0)
    d.ask("cuMemcpyDtoH without access", "cuMemcpyDtoH_v2", host, a, 4)
    d.ask("cuMemGetAddressRange without access", "cuMemGetAddressRange_v2", BYREF(base),
          BYREF(size), a + 5)
    d.say("its base and size", f"{base.value == a} {size.value}")
    d.ask("cuMemGetAddressRange, reserved only", "cuMemGetAddressRange_v2", BYREF(base),
          BYREF(size), a + 20 * GRANULE)
    for flags in (3, 0, 3):
        access = (ctypes.c_int * 3)(1, 0, flags)
        d.ask(f"cuMemSetAccess {flags}", "cuMemSetAccess", a, 2 * GRANULE, access, 1)
        d.ask(f"cuMemcpyDtoH with access {flags}", "cuMemcpyDtoH_v2", host, a, 4)
    d.ask("cuMemSetAccess of a part", "cuMemSetAccess", a, GRANULE, access, 1)
    d.ask("cuMemSetAccess beyond", "cuMemSetAccess", a, 4 * GRANULE, access, 1)
    d.ask("cuMemcpyDtoD to the second place, no access there", "cuMemcpyDtoD_v2", a + 12 * GRANULE,
          a, 64)
    d.pointer_attributes("mapped", a + 5, skip=(5, 15))
    d.pointer_attributes("reserved only", a + 20 * GRANULE, skip=(5, 15))
    values = (U64 * 2)()
    d.must("cuPointerGetAttribute", values, 12, a + 5)
    d.say("size of the range of a mapping", values[0])
    d.ask("cuMemAddressFree with mappings", "cuMemAddressFree", a, 64 * MIB)
    d.ask("cuMemUnmap of a part", "cuMemUnmap", a, GRANULE)
    d.ask("cuMemUnmap", "cuMemUnmap", a, 2 * GRANULE)
    d.ask("cuMemUnmap again", "cuMemUnmap", a, 2 * GRANULE)
    d.ask("cuMemRelease", "cuMemRelease", handle)
    d.ask("cuMemFree of a reservation", "cuMemFree_v2", a)
    d.ask("cuMemAddressFree of a part", "cuMemAddressFree", a, GRANULE)


def ask_modules(d):
    d.context()
    value, size = U64(), U64()
    other = kernel().replace(b"sm_90", b"sm_100").replace(b"8.0", b"8.6")
    for question, image in (("text that is no PTX", b"hello"), ("empty text", b""),
                            ("PTX with an unknown opcode", kernel(b"foo.bar %r1;")),
                            ("PTX for sm_100", other),
                            ("PTX for sm_80", kernel().replace(b"sm_90", b"sm_80")),
                            ("PTX for sm_90a", kernel().replace(b"sm_90", b"sm_90a")),
                            ("ELF of zeros", b"\x7fELF\2\1\1" + bytes(400))):
        d.ask(question, "cuModuleLoadData", BYREF(value), ctypes.c_char_p(image))
    d.ask("cuModuleLoad of no file", "cuModuleLoad", BYREF(value), b"/nonexistent")
    d.ask("cuModuleLoadData(NULL)", "cuModuleLoadData", BYREF(value), 0)
    module, function = d.load(kernel())
    d.ask("cuModuleGetFunction of none", "cuModuleGetFunction", BYREF(value), module, b"zz")
    d.ask("cuModuleGetFunction without name", "cuModuleGetFunction", BYREF(value), module, 0)
    d.ask("cuModuleGetGlobal of none", "cuModuleGetGlobal_v2", BYREF(value), BYREF(size), module,
          b"zz")
    number = ctypes.c_int()
    for attribute in (0, 1, 3, 5, 6, 8, 9, 10, 11, 14, 15, 99):
        result = d.call("cuFuncGetAttribute", BYREF(number), attribute, function)
        d.say(f"cuFuncGetAttribute {attribute}", f"{d.name(result)} {number.value}")
    for setting in (49152, 49153, 232448, 232449, -1):
        d.ask(f"dynamic shared memory {setting}", "cuFuncSetAttribute", function, 8, setting)
    for setting in (50, 101, -1, -2):
        d.ask(f"carveout {setting}", "cuFuncSetAttribute", function, 9, setting)
    d.ask("cuFuncSetAttribute of a read-only one", "cuFuncSetAttribute", function, 0, 5)
    d.ask("cuFuncSetAttribute of none", "cuFuncSetAttribute", function, 99, 5)
    d.ask("cuFuncGetParamInfo", "cuFuncGetParamInfo", function, 0, BYREF(value), BYREF(size))
    d.say("its offset and size", f"{value.value} {size.value}")
    d.ask("cuFuncGetParamInfo past the end", "cuFuncGetParamInfo", function, 1, BYREF(value),
          BYREF(size))
    d.ask("cuFuncGetParamInfo without size", "cuFuncGetParamInfo", function, 0, BYREF(value), 0)
    d.ask("cuFuncGetParamInfo without offset", "cuFuncGetParamInfo", function, 0, 0, 0)
    for block, shared in ((32, 0), (1024, 0), (1025, 0), (0, 0), (32, 40000), (32, 232448)):
        result = d.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", BYREF(number), function,
                        block, shared)
        d.say(f"occupancy of {block} threads, {shared} bytes", f"{d.name(result)}")


def ask_places(d):
    d.context()
    start = U64()

    def reserve(question, size, hint):
        d.must("cuMemAddressReserve", BYREF(start), size, 0, hint, 0)
        d.say(question, start.value == hint)
        return start.value

    d.must("cuMemAddressReserve", BYREF(start), 128 * MIB, 32 * MIB, 0, 0)
    place = start.value
    d.must("cuMemAddressFree", place, 128 * MIB)
    reserve("reserved where it was free again", 128 * MIB, place)
    other = reserve("reserved reaching into a taken place", 128 * MIB, place - 64 * MIB)
    d.must("cuMemAddressFree", other, 128 * MIB)
    d.must("cuMemAddressFree", place, 128 * MIB)
    other = reserve("reserved a part at 32 MiB", 32 * MIB, place + 32 * MIB)
    reserve("reserved the part before it", 32 * MIB, place)
    device = (ctypes.c_int * 8)(1, 0, 1, 0, 0, 0, 0, 0)  # CUmemAllocationProp: pinned, device 0
    access = (ctypes.c_int * 3)(1, 0, 3)
    for at in (place + 32 * MIB - GRANULE, place + 32 * MIB):
        handle = U64()
        d.must("cuMemCreate", BYREF(handle), GRANULE, device, 0)
        d.must("cuMemMap", at, GRANULE, 0, handle, 0)
        d.must("cuMemSetAccess", at, GRANULE, access, 1)
    d.ask("cuMemsetD8 over the seam of two reservations", "cuMemsetD8_v2", place + 32 * MIB - 8, 0,
          16)
    d.ask("cuMemUnmap over the seam", "cuMemUnmap", place + 32 * MIB - GRANULE, 2 * GRANULE)
    allocation = d.allocate(64 * MIB)
    reserve("reserved at an allocation", 32 * MIB, allocation & ~(32 * MIB - 1))


def ask_versions(d):
    d.context()
    module, number = U64(), ctypes.c_int()
    d.ask("PTX of a version to come", "cuModuleLoadData", BYREF(module),
          ctypes.c_char_p(kernel().replace(b"8.0", b"99.9")))
    _, function = d.load(kernel().replace(b"sm_90", b"sm_80"))
    for attribute in (5, 6):
        d.must("cuFuncGetAttribute", BYREF(number), attribute, function)
        d.say(f"attribute {attribute} of PTX for sm_80", number.value)


def ask_launches(d):
    d.context()
    memory = d.allocate()
    _, function = d.load(kernel())
    _, required = d.load(kernel(directive=b" .reqntid 32 "))
    _, limited = d.load(kernel(directive=b" .maxntid 64,1,1 "))
    d.launch("plain", function, memory)
    d.launch(".reqntid 32, block 64", required, memory, block=64)
    d.launch(".reqntid 32, block 16", required, memory, block=16)
    d.launch(".maxntid 64, block 128", limited, memory, block=128)
    d.launch("block 2000", function, memory, block=2000)
    d.launch("block 0", function, memory, block=0)
    d.launch("grid 0", function, memory, grid=0)
    d.launch("grid 2^31", function, memory, grid=1 << 31)
    d.launch("49153 bytes of shared memory", function, memory, shared=49153)
    d.launch("no parameters", function, memory, params=False)
    d.launch("legacy stream", function, memory, stream=1)
    d.launch("per-thread stream", function, memory, stream=2)
    value, size = U64(memory), U64(8)
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(value), 2, ctypes.addressof(size), 0)
    both = (ctypes.c_void_p * 1)(ctypes.addressof(value))
    d.ask("extra", "cuLaunchKernel", function, 1, 1, 1, 32, 1, 1, 0, 0, 0, extra)
    d.ask("both", "cuLaunchKernel", function, 1, 1, 1, 32, 1, 1, 0, 0, both, extra)
    size.value = 4
    d.ask("extra too short", "cuLaunchKernel", function, 1, 1, 1, 32, 1, 1, 0, 0, 0, extra)
    other = U64()
    d.must("cuCtxCreate_v2", BYREF(other), 0, 0)
    d.launch("function of another context", function, memory)


def ask_extended_launches(d):
    d.context()
    memory = d.allocate()
    _, function = d.load(kernel())
    value = U64(memory)
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(value))
    # CUlaunchAttribute: id, padding, 64 bytes of value. CUlaunchConfig: grid, block, shared, stream,
    # attributes, count.
    attribute, config = (ctypes.c_uint32 * 18)(), (ctypes.c_uint32 * 14)()
    config[:7] = [1, 1, 1, 32, 1, 1, 0]
    U64.from_buffer(config, 40).value = ctypes.addressof(attribute)
    config[12] = 1
    for question, number, *content in (
            ("ignore", 0), ("cooperative", 2, 1), ("cooperative off", 2, 0),
            ("cluster 1,1,1", 4, 1, 1, 1), ("cluster 0,0,0", 4, 0, 0, 0),
            ("cluster 3,1,1 of grid 1", 4, 3, 1, 1), ("cluster 32,1,1", 4, 32, 1, 1),
            ("programmatic serialization", 6, 1), ("priority", 8, 0), ("unknown 4711", 4711)):
        attribute[:] = [number, 0, *content] + [0] * (16 - len(content))
        result = d.call("cuLaunchKernelEx", config, function, arguments, 0)
        d.say(question, f"{d.name(result)}, then {d.name(d.call('cuCtxSynchronize'))}")
    config[12] = 0
    d.ask("no attributes", "cuLaunchKernelEx", config, function, arguments, 0)
    d.ask("no configuration", "cuLaunchKernelEx", 0, function, arguments, 0)
    number = ctypes.c_int()
    for block, shared in ((32, 0), (128, 0), (1024, 0), (1025, 0), (32, 40000), (32, 100000),
                          (32, 232448)):
        d.call("cuFuncSetAttribute", function, 8, 232448)
        d.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", BYREF(number), function, block, shared)
        d.say(f"occupancy of {block} threads, {shared} bytes", number.value)


def ask_tensor_maps(d):
    d.context()
    memory = d.allocate(1 << 20)
    space = (U64 * 32)()
    aligned = (ctypes.addressof(space) + 63) & ~63

    def encode(question, kind=6, rank=2, address=memory, dims=(64, 64), strides=(128,),
               box=(64, 16), steps=(1, 1), interleave=0, swizzle=3, at=aligned):
        arrays = [(U64 * 5)(*dims), (U64 * 5)(*strides), (ctypes.c_uint32 * 5)(*box),
                  (ctypes.c_uint32 * 5)(*steps)]
        d.ask(question, "cuTensorMapEncodeTiled", ctypes.c_void_p(at), kind, rank,
              ctypes.c_void_p(address), *arrays, interleave, swizzle, 0, 0)

    encode("good")
    encode("map not aligned", at=aligned + 8)
    encode("address not aligned", address=memory + 8)
    encode("address NULL", address=0)
    encode("address of no memory", address=BOGUS)
    encode("rank 0", rank=0)
    encode("rank 6", rank=6)
    encode("rank 1", rank=1, dims=(64,), box=(64,), steps=(1,))
    encode("stride 120", strides=(120,))
    encode("stride 0", strides=(0,))
    encode("stride below the row", strides=(64,))
    encode("box 257", box=(64, 257))
    encode("box 0", box=(64, 0))
    encode("box 256", box=(64, 256))
    encode("row beyond the swizzle", box=(128, 16))
    encode("row beyond the swizzle, none", box=(128, 16), swizzle=0)
    encode("row of 8 bytes", box=(4, 16), swizzle=0)
    encode("dim 0", dims=(64, 0))
    encode("dim 2^32", dims=(64, 1 << 32))
    encode("dim 2^32 + 1", dims=(64, (1 << 32) + 1))
    encode("element stride 0", steps=(1, 0))
    encode("element stride 8", steps=(1, 8))
    encode("element stride 9", steps=(1, 9))
    encode("interleave 32 bytes, rank 2", interleave=2, swizzle=1, box=(16, 16))
    encode("interleave 32 bytes, rank 3", interleave=2, swizzle=1, rank=3, dims=(16, 16, 16),
           strides=(32, 512), box=(16, 16, 16), steps=(1, 1, 1))
    encode("type 99", kind=99)
    encode("swizzle 99", swizzle=99)


def ask_streams(d):
    d.context()
    value, stream, plain, untimed = U64(), U64(), U64(), U64()
    time = ctypes.c_float()
    d.ask("cuStreamCreate with flags 99", "cuStreamCreate", BYREF(value), 99)
    d.must("cuStreamCreate", BYREF(stream), 1)
    d.ask("cuStreamQuery", "cuStreamQuery", stream)
    d.ask("cuStreamDestroy(0)", "cuStreamDestroy_v2", 0)
    d.ask("cuStreamWaitEvent(NULL)", "cuStreamWaitEvent", stream, 0, 0)
    d.ask("cuEventCreate with flags 99", "cuEventCreate", BYREF(value), 99)
    d.must("cuEventCreate", BYREF(plain), 0)
    d.must("cuEventCreate", BYREF(untimed), 2)
    d.ask("cuStreamWaitEvent with flags 99", "cuStreamWaitEvent", stream, plain, 99)
    d.ask("cuEventQuery, not recorded", "cuEventQuery", plain)
    d.ask("cuEventSynchronize, not recorded", "cuEventSynchronize", plain)
    d.ask("cuEventElapsedTime, not recorded", "cuEventElapsedTime", BYREF(time), plain, plain)
    d.must("cuEventRecord", plain, stream)
    d.must("cuEventRecord", untimed, stream)
    d.must("cuStreamSynchronize", stream)
    d.ask("cuEventElapsedTime", "cuEventElapsedTime", BYREF(time), plain, plain)
    d.ask("cuEventElapsedTime without timing", "cuEventElapsedTime", BYREF(time), plain, untimed)
    d.ask("cuEventRecord(NULL)", "cuEventRecord", 0, 0)
    mode = ctypes.c_int(2)
    d.ask("cuThreadExchangeStreamCaptureMode", "cuThreadExchangeStreamCaptureMode", BYREF(mode))
    d.say("mode before", mode.value)
    mode.value = 77
    d.ask("cuThreadExchangeStreamCaptureMode(77)", "cuThreadExchangeStreamCaptureMode", BYREF(mode))


def ask_after_fault(d, body, address):
    d.context()
    memory, value, number = d.allocate(), U64(), ctypes.c_int()
    host = ctypes.create_string_buffer(8)
    module, function = d.load(kernel(body))
    d.launch("launch", function, memory + 2 if address is None else address)
    d.launch("launch after it", function, memory)
    d.ask("cuMemAlloc", "cuMemAlloc_v2", BYREF(value), 64)
    d.ask("cuMemcpyDtoH", "cuMemcpyDtoH_v2", host, memory, 4)
    d.ask("cuMemFree", "cuMemFree_v2", memory)
    d.ask("cuMemGetInfo", "cuMemGetInfo_v2", BYREF(value), BYREF(value))
    d.ask("cuMemGetAddressRange", "cuMemGetAddressRange_v2", BYREF(value), BYREF(value), memory)
    d.ask("cuPointerGetAttribute", "cuPointerGetAttribute", BYREF(value), 2, memory)
    d.ask("cuStreamQuery", "cuStreamQuery", 0)
    d.ask("cuStreamIsCapturing", "cuStreamIsCapturing", 0, BYREF(number))
    d.ask("cuStreamCreate", "cuStreamCreate", BYREF(value), 0)
    d.ask("cuEventCreate", "cuEventCreate", BYREF(value), 0)
    d.ask("cuFuncGetAttribute", "cuFuncGetAttribute", BYREF(number), 0, function)
    d.ask("cuModuleGetFunction", "cuModuleGetFunction", BYREF(value), module, b"k")
    d.ask("cuModuleUnload", "cuModuleUnload", module)
    d.ask("cuCtxGetCurrent", "cuCtxGetCurrent", BYREF(value))
    d.ask("cuCtxGetDevice", "cuCtxGetDevice", BYREF(value))
    d.ask("cuMemAddressReserve", "cuMemAddressReserve", BYREF(value), GRANULE, 0, 0, 0)
    created = U64()
    d.ask("cuCtxCreate", "cuCtxCreate_v2", BYREF(created), 0, 0)
    d.ask("cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2", 0)
    d.ask("cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRetain", BYREF(created), 0)
    d.ask("cuCtxSetCurrent", "cuCtxSetCurrent", created)
    d.ask("cuMemAlloc in the new primary context", "cuMemAlloc_v2", BYREF(value), 64)


SECTIONS = {
    "before": ask_before_context,
    "contexts": ask_contexts,
    "memory": ask_memory,
    "vmm": ask_vmm,
    "modules": ask_modules,
    "places": ask_places,
    "versions": ask_versions,
    "launches": ask_launches,
    "extended launches": ask_extended_launches,
    "tensor maps": ask_tensor_maps,
    "streams": ask_streams,
    "illegal address": lambda d: ask_after_fault(d, LOAD, BOGUS),
    "null": lambda d: ask_after_fault(d, LOAD, 0),
    "misaligned": lambda d: ask_after_fault(d, LOAD, None),
    "trap": lambda d: ask_after_fault(d, b"trap;", 0),
}


def run(path, section):
    """In a child, since a driver does not survive a fork or a fault."""
    child = os.fork()
    if not child:
        d = Driver(path)
        d.section = section
        SECTIONS[section](d)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if status:
        print(f"{section}: ended with status {status}", flush=True)


if __name__ == "__main__":
    for wanted in sys.argv[2:] or SECTIONS:
        run(sys.argv[1], wanted)
