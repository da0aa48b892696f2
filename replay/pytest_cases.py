# SPDX-License-Identifier: MIT
"""Tests of kernels as a model launches them, against a reference in double precision.

Run by pytest, or alone (python3 FILE): then each case prints one line. Written by kernelab export
--pytest from a recording: shapes, types, options and launch geometry are those of the model, the
values are not. A case passes once somebody has written its reference (below: REFERENCES).

A kernel whose Python source is known and can be imported here is compiled by the Triton at hand, so
the test is about that compiler; importing a file runs what stands in it. Else the recorded cubin
beside this file runs. Environment: KERNELAB_TEST_CUBIN=1 always takes the cubin.
"""
import ctypes
import importlib.util
import json
import os
import struct
import sys

try:
    import pytest
except ImportError:
    pytest = None

HERE = os.path.dirname(os.path.abspath(__file__))
CUBINS = os.path.splitext(os.path.abspath(__file__))[0] + "_cubins"
FORMATS = {"f64": "d", "f32": "f", "f16": "e", "i64": "q", "i32": "i", "i16": "h", "i8": "b",
           "bool": "?"}
# |result - reference| <= absolute + relative * |reference|: what torch.testing.assert_close allows.
TOLERANCE = {"f64": (1e-7, 1e-7), "f32": (1e-5, 1.3e-6), "f16": (1e-5, 1e-3), "bf16": (1e-5, 1.6e-2)}

REFERENCES = {}


def reference(kernel):
    """Registers the reference of a kernel: inputs by argument name → outputs by argument name.

    Pointers are lists of Python floats or ints (double precision), scalars are numbers; what it gives
    back are lists, as long as the argument or shorter; None in them is not compared.
    """
    def register(function):
        REFERENCES[kernel] = function
        return function
    return register


# ---- TO BE FILLED: one function a kernel -----------------------------------------------------------
#STUBS#
# ---- end of what is to be filled ---------------------------------------------------------------------


class Missing(Exception):
    """Something is not here: the case is skipped, with this reason."""


def encode(dtype, values):
    if dtype == "bf16":  # to nearest, ties to even
        out = bytearray()
        for v in values:
            bits = struct.unpack("<I", struct.pack("<f", v))[0]
            out += ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 & 0xFFFF).to_bytes(2, "little")
        return bytes(out)
    if dtype not in FORMATS:
        raise Missing(f"values of type {dtype} are to be encoded here")
    return struct.pack(f"<{len(values)}{FORMATS[dtype]}", *values)


def decode(dtype, raw):
    if dtype == "bf16":
        return [struct.unpack("<f", b"\0\0" + raw[i:i + 2])[0] for i in range(0, len(raw), 2)]
    if dtype not in FORMATS:
        raise Missing(f"values of type {dtype} are to be decoded here")
    return list(struct.unpack(f"<{len(raw) // struct.calcsize('<' + FORMATS[dtype])}{FORMATS[dtype]}", raw))


def make_inputs(case):
    """Floats in [-1, 1) that differ by argument; integers behind pointers are 0, so they fit any index."""
    inputs = {}
    for number, arg in enumerate(case["args"]):
        if arg["pointer"]:
            real = arg["dtype"].startswith(("f", "bf"))
            inputs[arg["name"]] = [((i * 2654435761 + number * 40503 >> 8) % 65536 - 32768) / 32768
                                   if real else 0 for i in range(arg["elements"])]
        else:
            inputs[arg["name"]] = arg["value"]
    return {n: decode(a["dtype"], encode(a["dtype"], inputs[n])) if a["pointer"] else inputs[n]
            for n, a in ((a["name"], a) for a in case["args"])}


# ---- by the driver: the recorded cubin ----

class Driver:
    def __init__(self):
        try:
            self.cuda = ctypes.CDLL("libcuda.so.1")
        except OSError as e:
            raise Missing(str(e)) from e
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *args):
        status = getattr(self.cuda, name)(*args)
        if status:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorName(status, ctypes.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'?').decode()} ({status})")

    def allocate(self, data):
        address, size = ctypes.c_uint64(), ctypes.c_size_t(max(16, len(data)))
        self.call("cuMemAlloc_v2", ctypes.byref(address), size)
        self.call("cuMemsetD8_v2", address, ctypes.c_uint8(0), size)
        if data:
            self.call("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(len(data)))
        return address.value

    def run(self, case, inputs):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        with open(os.path.join(CUBINS, case["cubin"]), "rb") as f:
            self.call("cuModuleLoadData", ctypes.byref(module), f.read())
        self.call("cuModuleGetFunction", ctypes.byref(function), module, case["kernel"].encode())
        if case["shared"] > 48 << 10:
            self.call("cuFuncSetAttribute", function, 8, ctypes.c_int(case["shared"]))
        params = bytearray.fromhex(case["params"])
        held = {}
        for arg in case["args"]:
            if arg["pointer"]:
                held[arg["name"]] = self.allocate(encode(arg["dtype"], inputs[arg["name"]]))
                struct.pack_into("<Q", params, arg["offset"], held[arg["name"]])
        scratch = [self.allocate(bytes(size)) for _, size in case["scratch"]]
        for (offset, _), address in zip(case["scratch"], scratch):
            struct.pack_into("<Q", params, offset, address)
        buffer = (ctypes.c_uint8 * len(params)).from_buffer(params)
        base = ctypes.addressof(buffer)
        arguments = (ctypes.c_void_p * len(case["layout"]))(*(base + o for o, _ in case["layout"]))
        self.call("cuLaunchKernel", function, *case["grid"], *case["block"], case["shared"], None,
                  arguments, None)
        self.call("cuCtxSynchronize")
        out = {}
        for arg in case["args"]:
            if arg["pointer"] and arg["written"]:
                raw = ctypes.create_string_buffer(len(encode(arg["dtype"], inputs[arg["name"]])))
                self.call("cuMemcpyDtoH_v2", raw, ctypes.c_uint64(held[arg["name"]]),
                          ctypes.c_size_t(len(raw)))
                out[arg["name"]] = decode(arg["dtype"], raw.raw)
        for address in [*held.values(), *scratch]:
            self.call("cuMemFree_v2", ctypes.c_uint64(address))
        self.call("cuModuleUnload", module)
        return out


driver = None


def by_driver(case, inputs):
    global driver
    driver = driver or Driver()
    return driver.run(case, inputs)


# ---- by Triton: the kernel's Python source ----

TORCH = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i64": "int64",
         "i32": "int32", "i16": "int16", "i8": "int8", "bool": "bool"}


MODULES = {}  # by path: importing a script runs it, so once


def load(path, name):
    if path not in MODULES:
        spec = importlib.util.spec_from_file_location(name, path)
        if not spec or not os.path.exists(path):
            raise Missing(f"no {path}")
        MODULES[path] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(MODULES[path])
    return MODULES[path]


def find_source(case):
    """The kernel as a Triton function, and its constants; Missing with the reason."""
    if os.environ.get("KERNELAB_TEST_CUBIN") or not case["python"]:
        raise Missing("no Python source is known")
    try:
        import torch
        import triton
    except ImportError as e:
        raise Missing(str(e)) from e
    if not torch.cuda.is_available():
        raise Missing("torch sees no GPU")
    path = case["python"]["file"]
    function = getattr(load(path, "kernelab_case_" + case["kernel"]), case["kernel"], None)
    while function is not None and not isinstance(function, triton.runtime.JITFunction):
        function = getattr(function, "fn", None)  # autotuner, heuristics
    if function is None:
        raise Missing(f"{path} has no kernel {case['kernel']}")
    constants = case["python"]["constexprs"]
    known = {a["name"] for a in case["args"]} | set(constants)
    if set(function.arg_names) - known or any(isinstance(v, dict) for v in constants.values()):
        raise Missing("some of its arguments are not known")
    return function, constants


def by_triton(case, inputs):
    function, constants = find_source(case)
    import torch
    values = {n: torch.tensor(v, dtype=getattr(torch, TORCH[a["dtype"]]), device="cuda")
              if a["pointer"] else v
              for n, v, a in ((a["name"], inputs[a["name"]], a) for a in case["args"])}
    function[tuple(case["grid"])](**values, **constants, **case["python"]["options"])
    torch.cuda.synchronize()
    return {a["name"]: values[a["name"]].double().tolist() for a in case["args"]
            if a["pointer"] and a["written"]}


# ---- the test ----

def check(case):
    """Runs the case; how it was run. AssertionError where a result is off."""
    inputs = make_inputs(case)
    try:
        outputs, how = by_triton(case, inputs), "compiled by Triton"
    except Missing as e:
        outputs, how = by_driver(case, inputs), f"recorded cubin: {e}"
    if case["kernel"] not in REFERENCES:
        raise Missing(f"ran ({how}); its reference is to be written")
    wanted = REFERENCES[case["kernel"]](**{k: list(v) if isinstance(v, list) else v
                                           for k, v in inputs.items()})
    compared = 0
    for name, values in wanted.items():
        assert name in outputs and len(values) <= len(outputs[name]), \
            f"{name}: the reference gives {len(values)} elements, the kernel {len(outputs.get(name, []))}"
        dtype = next(a["dtype"] for a in case["args"] if a["name"] == name)
        absolute, relative = TOLERANCE.get(dtype, (0, 0))
        for i, (x, y) in enumerate(zip(outputs[name], values)):
            assert y is None or x == y or abs(x - y) <= absolute + relative * abs(y) or \
                (x != x and y != y), f"{name}[{i}] is {x}, the reference {y} ({how})"
            compared += y is not None
    assert compared, "the reference gives nothing to compare with"
    return how


CASES = json.loads(r'''#CASES#''')

if pytest:
    @pytest.mark.parametrize("case", CASES, ids=[c["id"] for c in CASES])
    def test_kernel(case):
        try:
            check(case)
        except Missing as e:
            pytest.skip(str(e))


def main():
    bad = 0
    for case in CASES:
        try:
            print(f"{case['id']}: passed, {check(case)}")
        except Missing as e:
            print(f"{case['id']}: skipped: {e}")
        except (AssertionError, RuntimeError) as e:
            print(f"{case['id']}: FAILED: {e}")
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
