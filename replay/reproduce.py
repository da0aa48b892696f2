#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs one recorded kernel launch under A and under B, and prints the elements that differ.

    python3 repro.py [--repeats N] [--show N]

Needs libcuda.so.1 (a GPU's, or kernelab's software device in LD_LIBRARY_PATH) and Python, nothing else.
Memory is restored at its recorded addresses, so pointers in it hold. Exit status: 0 nothing differs,
1 something does, 2 it could not be run. What it runs stands in repro.json; memory.bin holds the
model's data.
"""
import argparse
import ctypes
import json
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
GRANULARITY = 2 << 20
ALIGNMENT = 32 << 20
UNKNOWN = 0xC7  # what nobody recorded
GLOBAL = 5      # memory kind: a variable of the module

u32, u64, size_t, pointer = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p


class Attribute(ctypes.Structure):
    _fields_ = [("id", u32), ("pad", u32), ("value", ctypes.c_uint8 * 64)]


class Config(ctypes.Structure):
    _fields_ = [("grid", u32 * 3), ("block", u32 * 3), ("shared", u32), ("stream", pointer),
                ("attributes", ctypes.POINTER(Attribute)), ("count", u32)]


class Location(ctypes.Structure):
    _fields_ = [("type", u32), ("id", ctypes.c_int)]


class Properties(ctypes.Structure):  # CUmemAllocationProp
    _fields_ = [("type", u32), ("handles", u32), ("location", Location), ("security", pointer),
                ("flags", ctypes.c_uint8 * 8)]


class Access(ctypes.Structure):
    _fields_ = [("location", Location), ("flags", u32)]


class Failed(Exception):
    pass


try:
    cuda = ctypes.CDLL("libcuda.so.1")
except OSError as e:
    print(f"repro: {e} (LD_LIBRARY_PATH of a folder with libcuda.so.1: the driver's, or kernelab's "
          "softgpu, which executes the PTX on the CPU)", file=sys.stderr)
    sys.exit(2)


def call(name, *args):
    status = getattr(cuda, name)(*args)
    if status:
        text = ctypes.c_char_p()
        cuda.cuGetErrorName(status, ctypes.byref(text))
        raise Failed(f"{name}: {(text.value or b'?').decode()} ({status})")


def rounded(ranges, unit):
    """[low, high] of the ranges, rounded out to the unit; what touches then is one."""
    merged = []
    for low, high in sorted((a // unit * unit, -(-(a + n) // unit) * unit) for a, n in ranges):
        if merged and low <= merged[-1][1]:
            merged[-1][1] = max(high, merged[-1][1])
        else:
            merged.append([low, high])
    return merged


def hold(ranges):
    """Maps device memory at the recorded addresses; what lies close together in one reservation."""
    for low, high in rounded(ranges, ALIGNMENT):
        got = u64()
        call("cuMemAddressReserve", ctypes.byref(got), size_t(high - low), size_t(ALIGNMENT),
             u64(low), u64(0))
        if got.value != low:
            raise Failed(f"the recorded address {low:#x} is taken in this process")
    place = Location(1, 0)
    pages = rounded(ranges, GRANULARITY)
    for low, high in pages:
        handle = u64()
        properties = Properties(type=1, location=place)
        call("cuMemCreate", ctypes.byref(handle), size_t(high - low), ctypes.byref(properties), u64(0))
        call("cuMemMap", u64(low), size_t(high - low), size_t(0), handle, u64(0))
        access = Access(place, 3)
        call("cuMemSetAccess", u64(low), size_t(high - low), ctypes.byref(access), size_t(1))
    return pages


def architecture(device):
    """"90"; "" for kernelab's software device, which executes PTX only."""
    name, major, minor = ctypes.create_string_buffer(128), ctypes.c_int(), ctypes.c_int()
    call("cuDeviceGetName", name, 127, device)
    call("cuDeviceGetAttribute", ctypes.byref(major), 75, device)
    call("cuDeviceGetAttribute", ctypes.byref(minor), 76, device)
    return "" if name.value.startswith(b"kernelab") else f"{major.value}{minor.value}"


class Launch:
    """One side's kernel, with memory as it was before the launch."""

    def __init__(self, repro, side, pages, arch):
        self.repro, self.side, self.pages = repro, repro[side], pages
        module, function = pointer(), pointer()
        # what the recorded run's driver made of PTX, where it is for this GPU; else that run's image
        self.image = self.side.get("driver_code", {}).get(arch, self.side["cubin"])
        with open(os.path.join(HERE, self.image), "rb") as f:
            call("cuModuleLoadData", ctypes.byref(module), f.read())
        call("cuModuleGetFunction", ctypes.byref(function), module, repro["kernel"].encode())
        self.function = function
        if self.side["shared"] > 48 << 10:
            call("cuFuncSetAttribute", function, 8, ctypes.c_int(self.side["shared"]))
        params = bytearray.fromhex(self.side["params"])
        for offset, size in self.side["scratch"]:
            address = u64()
            call("cuMemAlloc_v2", ctypes.byref(address), size_t(size))
            call("cuMemsetD8_v2", address, ctypes.c_uint8(0), size_t(size))
            struct.pack_into("<Q", params, offset, address.value)
        self.variables = {}
        for index, region in enumerate(repro["memory"]):
            if region["kind"] == GLOBAL:
                address, size = u64(), size_t()
                if not cuda.cuModuleGetGlobal_v2(ctypes.byref(address), ctypes.byref(size), module,
                                                 region["name"].encode()):
                    self.variables[index] = address.value
        numbers = [i for i, r in enumerate(repro["memory"]) if r["kind"] == GLOBAL]
        for offset, variable, into in self.side["variables"]:
            struct.pack_into("<Q", params, offset, self.variables[numbers[variable]] + into)
        self.buffer = (ctypes.c_uint8 * len(params)).from_buffer(params)
        base = ctypes.addressof(self.buffer)
        self.arguments = (pointer * max(1, len(self.side["layout"])))(
            *(base + offset for offset, _ in self.side["layout"]))

    def place(self, index):
        region = self.repro["memory"][index]
        return self.variables.get(index) if region["kind"] == GLOBAL else region["address"]

    def restore(self, data):
        for low, high in self.pages:
            call("cuMemsetD8_v2", u64(low), ctypes.c_uint8(UNKNOWN), size_t(high - low))
        for index, region in enumerate(self.repro["memory"]):
            at = self.place(index)
            for offset, size, where in region["chunks"] if at else ():
                call("cuMemcpyHtoD_v2", u64(at + offset), data[where:where + size], size_t(size))

    def run(self, data):
        """Contents of every recorded chunk afterwards, by (region, offset)."""
        side = self.side
        self.restore(data)
        attributes = (Attribute * max(1, len(side["attributes"])))()
        for a, (number, value) in zip(attributes, side["attributes"]):
            a.id = number
            raw = bytes.fromhex(value)
            a.value[:len(raw)] = raw
        config = Config((u32 * 3)(*side["grid"]), (u32 * 3)(*side["block"]), side["shared"], None,
                        attributes, len(side["attributes"]))
        call("cuLaunchKernelEx", ctypes.byref(config), self.function, self.arguments, None)
        call("cuCtxSynchronize")
        out = {}
        for index, region in enumerate(self.repro["memory"]):
            at = self.place(index)
            for offset, size, _ in region["chunks"] if at else ():
                chunk = ctypes.create_string_buffer(size)
                call("cuMemcpyDtoH_v2", chunk, u64(at + offset), size_t(size))
                out[index, offset] = chunk.raw
        return out


FORMATS = {"f64": "<d", "f32": "<f", "f16": "<e", "i64": "<q", "i32": "<i", "i16": "<h", "i8": "<b",
           "bool": "<?"}


def value(dtype, raw):
    if dtype == "bf16":
        return struct.unpack("<f", b"\0\0" + raw)[0]
    return struct.unpack(FORMATS[dtype], raw)[0] if dtype in FORMATS else raw.hex()


def compare(repro, x, y, show):
    """Prints what differs, argument by argument; the number of differing elements."""
    found = {}
    for index, offset in sorted(x):
        a, b = x[index, offset], y.get((index, offset), b"")
        if a == b:
            continue
        start = repro["memory"][index]["address"] + offset
        for i in range(len(a)):
            if i < len(b) and a[i] == b[i]:
                continue
            address = start + i
            owner = max((p for p in repro["arguments"] if p["address"] <= address < p["end"]),
                        key=lambda p: p["address"], default={"address": start, "name": "?",
                                                             "dtype": "?", "bytes": 1})
            element = (address - owner["address"]) // owner["bytes"]
            at = owner["address"] + element * owner["bytes"] - start
            key = owner["name"], owner["dtype"]
            if 0 <= at and at + owner["bytes"] <= min(len(a), len(b)):
                found.setdefault(key, {})[element] = (a[at:at + owner["bytes"]],
                                                      b[at:at + owner["bytes"]])
    for (name, dtype), elements in found.items():
        print(f"{name} ({dtype}): {len(elements)} elements differ")
        for element in sorted(elements)[:show]:
            a, b = elements[element]
            print(f"  [{element}] A {value(dtype, a)} (0x{a[::-1].hex()}), "
                  f"B {value(dtype, b)} (0x{b[::-1].hex()})")
    return sum(len(e) for e in found.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--repeats", type=int, default=3, help="runs of each side; default 3")
    parser.add_argument("--show", type=int, default=10, help="elements printed of an argument")
    args = parser.parse_args()
    with open(os.path.join(HERE, "repro.json"), encoding="utf-8") as f:
        repro = json.load(f)
    with open(os.path.join(HERE, "memory.bin"), "rb") as f:
        data = f.read()
    device, context = ctypes.c_int(), pointer()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    pages = hold([(r["address"], r["size"]) for r in repro["memory"] if r["kind"] != GLOBAL])
    print(f"{repro['kernel']}, launch {repro['launch']} of {repro['bundle']}")
    results = {}
    for side in [s for s in "AB" if repro[s]]:
        launch = Launch(repro, side, pages, architecture(device))
        results[side] = [launch.run(data) for _ in range(max(1, args.repeats))]
        varies = sum(r != results[side][0] for r in results[side])
        print(f"{side}: {repro[side]['what']}, {launch.image}; {varies} of {len(results[side])} runs differ from the first")
    if "B" not in results:
        return 0
    differing = compare(repro, results["A"][0], results["B"][0], args.show)
    print(f"{differing} elements differ between A and B" if differing else "A and B are equal")
    return 1 if differing else 0


try:
    sys.exit(main())
except (Failed, OSError, ValueError) as e:
    print(f"repro: {e}", file=sys.stderr)
    sys.exit(2)
