#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a fault says and does, and what the settings in the environment do: test_faults.py LIBCUDA.

Each case is a process of its own, because a fault ends the device for the process.
"""
import ctypes
import os
import subprocess
import sys

HEADER = """.version 8.0
.target sm_90
.address_size 64
.visible .entry broken(.param .u64 p)
{
	.reg .b64 %rd<4>;
	.reg .b32 %r<8>;
	.reg .pred %q;
	ld.param.u64 %rd1, [p];
"""
LOOP = "again:\n\tadd.u32 %r1, %r1, 1;\n\tbra again;\n"
CASES = {
    # name: (body from line 10 on, environment, error, words that the log must have)
    "outside": ("\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 4;\n\tadd.u64 %rd2, %rd1, %rd2;\n"
                "\tld.global.u32 %r2, [%rd2+200];\n", {}, "ILLEGAL_ADDRESS",
                ["broken", "line 13", "0x302000100", "thread 14"]),
    "misaligned": ("\tld.global.u32 %r2, [%rd1+2];\n", {}, "MISALIGNED_ADDRESS",
                   ["broken", "line 10"]),
    "trap": ("\ttrap;\n", {}, "LAUNCH_FAILED", ["broken", "line 10"]),
    "endless": (LOOP, {"KERNELAB_SOFTGPU_QUOTA": "100000"}, "LAUNCH_TIMEOUT", ["broken"]),
    "quiet": ("\ttrap;\n", {"KERNELAB_SOFTGPU_LOG": "quiet"}, "LAUNCH_FAILED", []),
    "blocking": ("\ttrap;\n", {"CUDA_LAUNCH_BLOCKING": "1"}, "LAUNCH_FAILED", ["broken"]),
    "fine": ("\tld.global.u32 %r2, [%rd1];\n", {}, "SUCCESS", []),
}
# Which block is the last to write.
ORDER = "\tmov.u32 %r1, %ctaid.x;\n\tst.global.u32 [%rd1], %r1;\n"
BAD_SETTINGS = {
    "KERNELAB_SOFTGPU_QUOTA": "many",
    "KERNELAB_SOFTGPU_FILL": "256",
    "KERNELAB_SOFTGPU_MEMORY": "-1",
    "KERNELAB_SOFTGPU_LOG": "loud",
    "KERNELAB_SOFTGPU_CONTRACT": "maybe",
    "KERNELAB_SOFTGPU_FAULT": "cuMemAlloc:1:2",
    "KERNELAB_SOFTGPU_SEED": "7+1",
}


def client(path, case):
    """The child: prints the result of the launch and of the call after it; "order": the last block of eight launches."""
    cuda = ctypes.CDLL(path)
    u64 = ctypes.c_uint64

    def name(result):
        text = ctypes.c_char_p()
        cuda.cuGetErrorName(result, ctypes.byref(text))
        return text.value.decode().removeprefix("CUDA_").removeprefix("ERROR_")

    def must(result):
        if result:
            sys.exit(f"unexpected {name(result)}")

    context, module, function, memory = u64(), u64(), u64(), u64()
    must(cuda.cuInit(0))
    must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    must(cuda.cuCtxSetCurrent(context))
    must(cuda.cuMemAlloc_v2(ctypes.byref(memory), u64(256)))
    text = (HEADER + (ORDER if case == "order" else CASES[case][0]) + "\tret;\n}\n").encode()
    must(cuda.cuModuleLoadData(ctypes.byref(module), text))
    must(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"broken"))
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
    if case == "order":
        last = ctypes.c_uint32()
        for _ in range(8):
            must(cuda.cuLaunchKernel(function, 64, 1, 1, 32, 1, 1, 0, None, arguments, None))
            must(cuda.cuMemcpyDtoH_v2(ctypes.byref(last), memory, ctypes.c_size_t(4)))
            print(last.value)
        return
    launched = cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, arguments, None)
    print(name(launched), name(cuda.cuCtxSynchronize()), name(cuda.cuMemFree_v2(memory)))


def run(path, case, settings):
    return subprocess.run([sys.executable, __file__, path, case], text=True, timeout=60,
                          env=os.environ | settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def check_order(path):
    """Ascending without a seed; by a seed the same order each time, with a + behind it another."""
    orders = {seed: run(path, "order", {"KERNELAB_SOFTGPU_SEED": seed}).stdout.split() for seed in ("0", "7", "7+")}
    good = (orders["0"] == ["63"] * 8 and orders["7"] == orders["7"][:1] * 8 and orders["7"][0] != "63" and
            orders["7+"][0] == orders["7"][0] and len(set(orders["7+"])) > 1)
    return [] if good else [f"last blocks by seed: {orders}"]


def main(path):
    failures = check_order(path)
    for case, (_, settings, error, words) in CASES.items():
        done = run(path, case, settings)
        launch = error if settings.get("CUDA_LAUNCH_BLOCKING") else "SUCCESS"
        if done.stdout.split() != [launch, error, error]:
            failures.append(f"{case}: {done.stdout.strip()} {done.stderr.strip()}")
        log = done.stderr
        if words and not log.startswith("kernelab softgpu: "):
            failures.append(f"{case}: nothing in the log")
        failures += [f"{case}: no '{w}' in the log: {log.strip()}" for w in words if w not in log]
        if not words and log:
            failures.append(f"{case}: log should be empty: {log.strip()}")
    for variable, value in BAD_SETTINGS.items():
        done = run(path, "fine", {variable: value})
        if "INVALID_VALUE" not in done.stderr or variable not in done.stderr:
            failures.append(f"{variable}={value} was taken: {done.stdout} {done.stderr}")
    small = run(path, "fine", {"KERNELAB_SOFTGPU_MEMORY": "1M"})
    if "OUT_OF_MEMORY" not in small.stderr:
        failures.append(f"1 MiB of memory was enough: {small.stdout} {small.stderr}")
    print("\n".join(failures) or f"{len(CASES) + len(BAD_SETTINGS) + 4} cases")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) > 2:
        client(sys.argv[1], sys.argv[2])
    else:
        sys.exit(main(sys.argv[1]))
