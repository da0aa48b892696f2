#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles tests/apps/kernels.py, or one labelled edit of it, into cache entries and a manifest.

    make-kernels.py OUT [EDIT]      with the Python of a Triton installation; needs no GPU

OUT gets what TRITON_CACHE_DIR would hold (a folder an image with .json .source .ttir .ptx .cubin) and
`manifest`, one line an image, which tests/apps/kernels.c reads. The result depends on nothing but the
Triton version: paths written into kernels are neutral. scripts/make-test-kernels makes all sets.
"""
import argparse
import json
import linecache
import os
import re
import shutil
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))
NEUTRAL = "/home/user/demo/kernels.py"
ARCH = 90

# Argument kinds: p f32 pointer, h bf16 pointer, i i32 pointer, n i32, f f32. Upper case is Triton's
# specialisation: the pointer is 16-byte aligned, the integer a multiple of 16. In the client the
# parameters and their gradients lie in flat buffers, where the matrices are aligned and most vectors
# are not; so cast_bf16 comes in two specialisations (vector and scalar loads). Leading dimensions
# are multiples of 16: then tiles go through shared memory by plain vector stores.
# entry: [(argument kinds, constexprs, num_warps), ...]
MATMUL = [({"BM": 32, "BN": 32, "BK": 16}, 4), ({"BM": 16, "BN": 32, "BK": 32}, 2),
          ({"BM": 32, "BN": 64, "BK": 16}, 4)]
IMAGES = {
    "cast_bf16": [(kinds, {"BLOCK": 1024}, 4) for kinds in ("PHN", "pHN")],
    "embed_fwd": [("HIPnn", {"BLOCK": 128}, 4)],
    "matmul": [("PPPnnnNNN", block, warps) for block, warps in MATMUL],
    "transpose": [("PPnnNN", {"BR": 32, "BC": 32}, 4)],
    "bias_gelu": [("PpPnn", {"BLOCK": 1024}, 4)],
    "layernorm_fwd": [("PppPPPnf", {"BLOCK": 128}, 4)],
    "softmax_xent": [("PPIPPnN", {"BLOCK": 64}, 2)],
    "xent_bwd": [("PPIPPnNf", {"BLOCK": 64}, 2)],
    "predict": [("PPInN", {"BLOCK": 64}, 1)],
    "loss_sum": [("PPn", {"BLOCK": 16}, 1)],
    "layernorm_bwd": [("PPpPPPPn", {"BLOCK": 128}, 4)],
    "gelu_bwd": [("PpPPnn", {"BLOCK": 512}, 4)],
    "column_sum": [("Ppnnn", {"BR": 16, "BC": 32}, 4)],
    "embed_bwd": [("PIPnnn", {"BLOCK": 128}, 4)],
    "adam": [("PPPPnffffff", {"BLOCK": 1024}, 4)],
}
KINDS = {"p": "*fp32", "h": "*bf16", "e": "*fp16", "q": "*fp8e4nv", "d": "*fp64", "i": "*i32", "b": "*i8",
         "n": "i32", "f": "fp32"}


def load_kernels(edit):
    """The module kernels, edited, under its neutral file name."""
    with open(os.path.join(HERE, "kernels.py"), encoding="utf-8") as f:
        text = f.read()
    if edit:
        if text.count(edit["old"]) != 1 or edit["old"].count("\n") != edit["new"].count("\n"):
            sys.exit("make-kernels: the edit does not replace exactly one place line by line")
        text = text.replace(edit["old"], edit["new"])
    return module_of(text, NEUTRAL)


def module_of(text, name):
    """Kernels from their text, under a file name that is the same wherever they are made."""
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    module = types.ModuleType("kernels")
    exec(compile(text, name, "exec"), module.__dict__)
    return module


def neutral_library_paths():
    """Triton's own device functions get file names relative to the package."""
    import triton
    import triton.language.standard as standard
    from triton.runtime.jit import JITFunction
    root = os.path.dirname(os.path.dirname(triton.__file__)) + os.sep
    for value in vars(standard).values():
        if isinstance(value, JITFunction):
            code = value.fn.__code__
            value.fn.__code__ = code.replace(co_filename=code.co_filename.replace(root, ""))
            if hasattr(value, "file_name"):  # Triton 3.9 keeps a copy
                value.file_name = value.fn.__code__.co_filename
    return root


def compile_image(module, entry, kinds, constants, warps):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    fn = getattr(module, entry)
    names = [n for n in fn.arg_names if n not in constants]
    if len(names) != len(kinds):
        sys.exit(f"make-kernels: {entry} has {len(names)} arguments, the table says {kinds}")
    signature = {n: KINDS[k.lower()] for n, k in zip(names, kinds)}
    signature.update({n: "constexpr" for n in constants})
    signature = {n: signature[n] for n in fn.arg_names}
    attrs = {(fn.arg_names.index(n),): [["tt.divisibility", 16]]
             for n, k in zip(names, kinds) if k.isupper()}
    source = ASTSource(fn, signature, {(fn.arg_names.index(n),): v for n, v in constants.items()},
                       attrs)
    return triton.compile(source, target=GPUTarget("cuda", ARCH, 32),
                          options={"num_warps": warps, "num_stages": 1})


def find_entry(out, before, entry):
    new = [d for d in os.listdir(out) if d not in before]
    if len(new) != 1:
        sys.exit(f"make-kernels: {entry}: {len(new)} new cache folders, expected one")
    return new[0]


def tidy(folder, entry, root):
    """Keeps the files that matter and takes this installation's path out of the metadata."""
    for name in os.listdir(folder):
        if name.startswith("__grp__") or name.endswith((".llir", ".ttgir")):
            os.remove(os.path.join(folder, name))
    path = os.path.join(folder, entry + ".json")
    with open(path, encoding="utf-8") as f:
        text = f.read().replace(root, "")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as f:
            if root.encode() in f.read():
                sys.exit(f"make-kernels: {name} holds the path of this installation")


def scratch_count(ptx, kinds):
    """Hidden scratch pointers behind the arguments: how many differs between Triton versions."""
    head = ptx[ptx.index(".entry"):]
    return len(re.findall(r"\.param\s+\.", head[:head.index(")")])) - len(kinds)


def manifest_line(folder, entry, kinds, constants, warps):
    with open(os.path.join(folder, entry + ".json"), encoding="utf-8") as f:
        meta = json.load(f)
    with open(os.path.join(folder, entry + ".ptx"), encoding="utf-8") as f:
        ptx = f.read()
    blocks = ",".join(str(v) for v in constants.values())
    return (f"{entry} {os.path.basename(folder)}/{entry}.cubin args={kinds} "
            f"scratch={scratch_count(ptx, kinds)} warps={warps} shared={meta['shared']} "
            f"blocks={blocks}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("out")
    parser.add_argument("edit", nargs="?")
    args = parser.parse_args()
    edit = None
    if args.edit:
        sys.path.insert(0, HERE)
        from edits import EDITS
        if args.edit not in EDITS:
            sys.exit(f"make-kernels: no such edit: {args.edit}")
        edit = EDITS[args.edit]
    out = os.path.abspath(args.out)
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    os.environ["TRITON_CACHE_DIR"] = out
    for name in ("TRITON_PTXAS_PATH", "TRITON_KERNEL_DUMP", "TRITON_DISABLE_LINE_INFO"):
        os.environ.pop(name, None)
    root = neutral_library_paths()
    module = load_kernels(edit)
    lines = []
    for entry, images in IMAGES.items():
        if edit and entry != edit["kernel"]:
            continue
        for kinds, constants, warps in images:
            before = set(os.listdir(out))
            compile_image(module, entry, kinds, constants, warps)
            folder = os.path.join(out, find_entry(out, before, entry))
            tidy(folder, entry, root)
            lines.append(manifest_line(folder, entry, kinds, constants, warps))
    with open(os.path.join(out, "manifest"), "w", encoding="utf-8") as f:
        f.writelines(lines)


if __name__ == "__main__":
    main()
