# SPDX-License-Identifier: MIT
"""Compiles CUDA C by NVRTC (PyPI nvidia-cuda-nvrtc-cu12), without a GPU, into what a cache entry holds.

What Triton says of a kernel in its metadata and its .source (names and types of the arguments) is
written by hand here, so that kernelab knows these kernels as it knows Triton's.
"""
import ctypes
import glob
import hashlib
import json
import os
import subprocess

TYPES = {"p": "!tt.ptr<f32>", "h": "!tt.ptr<bf16>", "e": "!tt.ptr<f16>", "q": "!tt.ptr<f8E4M3FN>",
         "i": "!tt.ptr<i32>", "b": "!tt.ptr<i8>", "d": "!tt.ptr<f64>", "n": "i32", "f": "f32"}
ARCH = 90


def library():
    """libnvrtc of the Python packages that this interpreter sees."""
    import nvidia
    for folder in nvidia.__path__:
        found = glob.glob(os.path.join(folder, "cuda_nvrtc", "lib", "libnvrtc.so.*"))
        if found:
            return ctypes.CDLL(found[0])
    raise SystemExit("make_corpus: nvidia-cuda-nvrtc-cu12 is not installed")


class Nvrtc:
    def __init__(self):
        self.lib = library()
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.check(self.lib.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)), None)
        self.version = f"{major.value}.{minor.value}"

    def check(self, status, program):
        if not status:
            return
        log = b""
        if program:
            size = ctypes.c_size_t()
            self.lib.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            self.lib.nvrtcGetProgramLog(program, log)
            log = log.value
        raise SystemExit(f"make_corpus: NVRTC error {status}: {log.decode()}")

    def ptx(self, text, name, flags):
        """PTX of one kernel of the text."""
        program = ctypes.c_void_p()
        self.check(self.lib.nvrtcCreateProgram(ctypes.byref(program), text.encode(), name.encode(), 0,
                                               None, None), None)
        options = [f"--gpu-architecture=compute_{ARCH}", "-std=c++17", *flags]
        packed = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
        self.check(self.lib.nvrtcCompileProgram(program, len(options), packed), program)
        size = ctypes.c_size_t()
        self.check(self.lib.nvrtcGetPTXSize(program, ctypes.byref(size)), program)
        out = ctypes.create_string_buffer(size.value)
        self.check(self.lib.nvrtcGetPTX(program, out), program)
        self.lib.nvrtcDestroyProgram(ctypes.byref(program))
        return out.value.decode()


def source_text(entry, names, kinds, line):
    """The signature as Triton's frontend writes it; the body says what the kernel was made from."""
    arguments = ", ".join(
        f'%{n}: {TYPES[k.lower()]}{" {tt.divisibility = 16 : i32}" if k.isupper() else ""} '
        f'loc("{n}"(#loc))' for n, k in zip(names, kinds))
    return (f'#loc = loc("/home/user/corpus/families.cu":{line}:0)\nmodule {{\n'
            f"  tt.func public @{entry}({arguments}) attributes {{noinline = false}} {{\n"
            "    tt.return loc(#loc)\n  } loc(#loc)\n} loc(#loc)\n")


def write_entry(folder, entry, ptx, names, kinds, line, warps, assembler):
    """folder gets an entry's folder of its own, whose name is returned."""
    key = hashlib.sha256((entry + ptx).encode()).hexdigest()
    at = os.path.join(folder, key[:40].upper())
    os.makedirs(at)
    base = os.path.join(at, entry)
    meta = {"hash": key, "target": {"backend": "cuda", "arch": ARCH, "warp_size": 32},
            "num_warps": warps, "num_ctas": 1, "num_stages": 1, "warp_size": 32, "maxnreg": None,
            "enable_fp_fusion": True, "launch_cooperative_grid": False, "backend_name": "cuda",
            "arch": f"sm{ARCH}", "shared": 0, "name": entry}
    with open(base + ".json", "w", encoding="utf-8") as f:
        json.dump(meta, f)
    with open(base + ".source", "w", encoding="utf-8") as f:
        f.write(source_text(entry, names, kinds, line))
    with open(base + ".ptx", "w", encoding="utf-8") as f:
        f.write(ptx)
    subprocess.run([assembler, "-lineinfo", f"--gpu-name=sm_{ARCH}", base + ".ptx", "-o",
                    base + ".cubin"], check=True)
    return at
