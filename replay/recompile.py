# SPDX-License-Identifier: MIT
"""Compiles recorded Triton IR with the Triton of the Python that runs this. Needs no GPU.

recompile.py about FOLDER                    writes about.json: version, commit, ptxas
recompile.py compile FOLDER FIRST STEP END   for N in range(FIRST, END, STEP): N.in.mlir and
    N.in.json (metadata; its num_warps is the config's) to N.json, N.ttir, N.ttgir, N.ptx, N.cubin, or
    N.error. With N.in.glue, the Python glue's note: from its source text, then N.source too

Where there is a note all stages of that Triton run, its Python frontend first; N.frontend says "ran", or
why not. Without one, or where the frontend refuses it, they run from make_ttir on. Each N is compiled
in a process of its own, for MLIR ends the process where an assertion fails.
"""
import importlib
import inspect
import json
import os
import re
import subprocess
import sys

# Worked out anew by each version from the target, or naming files of the recorded installation.
COMPUTED = {"arch", "backend_name", "supported_fp8_dtypes", "deprecated_fp8_dot_operand_dtypes",
            "allowed_dot_input_precisions", "max_num_imprecise_acc_default", "cluster_dims",
            "extern_libs", "warp_size", "ir_override"}

KEPT = ("ttir", "ttgir", "ptx", "cubin")


def hashable(value):
    return tuple(hashable(v) for v in value) if isinstance(value, list) else value


def find_ptxas(arch):
    """Path of the ptxas that this Triton would run; its spelling changed often."""
    from triton.backends.nvidia import compiler
    for name, arguments in (("get_ptxas", (arch,)), ("get_ptxas", ()), ("_path_to_binary", ("ptxas",))):
        function = getattr(compiler, name, None)
        if function is None:
            continue
        try:
            found = function(*arguments)
        except TypeError:
            continue
        return found[0] if isinstance(found, tuple) else getattr(found, "path", found)
    return ""


def commit_of(triton):
    """Of a version like 3.6.0+git1234abcd, or of the checkout that an editable install lies in."""
    match = re.search(r"\+git([0-9a-f]{7,40})", triton.__version__)
    if match:
        return match.group(1)
    folder = os.path.dirname(os.path.realpath(triton.__file__))
    top = subprocess.run(["git", "-C", folder, "ls-files", "--error-unmatch", "__init__.py"],
                         capture_output=True)
    if top.returncode:
        return ""
    return subprocess.run(["git", "-C", folder, "rev-parse", "HEAD"], capture_output=True,
                          text=True).stdout.strip()


def about(folder):
    import triton
    ptxas = find_ptxas(90)
    said = subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout if ptxas else ""
    version = re.search(r", V([0-9.]+)", said)
    try:
        commit = commit_of(triton)
    except OSError:
        commit = ""
    with open(os.path.join(folder, "about.json"), "w", encoding="utf-8") as f:
        json.dump({"version": triton.__version__, "commit": commit, "ptxas": ptxas,
                   "ptxas_version": version.group(1) if version else "",
                   "package": os.path.dirname(triton.__file__)}, f)


def add_stages(backend, stages, options, gluon):
    if len(inspect.signature(backend.add_stages).parameters) < 3:
        backend.add_stages(stages, options)
        return
    from triton.backends.compiler import Language
    backend.add_stages(stages, options, Language.GLUON if gluon else Language.TRITON)


def extern_libraries(listed):
    """Those beside Triton's own libdevice, by name: pairs of name and path; fbtriton lists names only."""
    libraries = {}
    for entry in listed:
        name, path = entry if isinstance(entry, list) else (entry, "")
        if name != "libdevice":
            if not path:
                raise ValueError(f"the path of its library {name} was not recorded")
            libraries[name] = path
    return libraries


def first_ir(base, target, options, backend, context):
    """(module, whether the frontend made it)"""
    from triton._C.libtriton import ir
    if os.path.exists(base + ".in.glue"):
        try:
            import recompile_frontend
            with open(base + ".in.glue", encoding="utf-8") as f:
                module = recompile_frontend.make_ir(json.load(f), target, options, backend, context)
            text = str(module)
            said = "ran"
        except Exception as e:  # whatever a compiler throws
            said = f"{type(e).__name__}: {e}"
        write(base + ".frontend", " ".join(said.split())[:1000])
        if said == "ran":
            write(base + ".source", text)
            return module, True
    module = ir.parse_mlir_module(base + ".in.mlir", context)
    module.context = context
    return module, False


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def compile_one(base):
    import triton
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend
    with open(base + ".in.json", encoding="utf-8") as f:
        old = json.load(f)
    if old.get("ir_override"):
        raise ValueError("its IR was replaced by a file of the recorded run")
    target = GPUTarget("cuda", int(old["target"]["arch"]), int(old["target"]["warp_size"]))
    backend = make_backend(target)
    given = {k: hashable(v) for k, v in old.items() if v is not None and k not in COMPUTED}
    libraries = extern_libraries(old.get("extern_libs") or [])
    if libraries:
        given["extern_libs"] = libraries
    options = backend.parse_options(given)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module, fresh = first_ir(base, target, options, backend, context)
    with open(base + ".in.mlir", encoding="utf-8") as f:
        text = f.read()
    if old.get("kernelab_other_warps") and "ttg.num-warps" in text and not fresh:
        raise ValueError("its first IR is laid out for the warps that it has")
    metadata = {"hash": old.get("hash", ""), "target": target, **options.__dict__}
    metadata["triton_version"] = triton.__version__
    stages = {}
    add_stages(backend, stages, options, "ttg.num-warps" in text)
    done_already = {"ttir"} if old.get("kernelab_from_ttir") and not fresh else set()
    for name, stage in stages.items():
        if name in done_already:
            continue
        module = stage(module, metadata)
        if name in KEPT:
            # Whole, or not there at all.
            with open(f"{base}.{name}.part", "wb") as f:
                f.write(module if isinstance(module, bytes) else str(module).encode())
    if json.loads(json.dumps(metadata.get("tensordesc_meta") or [], default=vars)) != \
            (old.get("tensordesc_meta") or []):
        raise ValueError("its TMA descriptors are laid out otherwise than the recorded ones")
    with open(base + ".json", "w", encoding="utf-8") as f:
        json.dump(metadata, f, default=vars)
    for name in [name for name in KEPT if os.path.exists(f"{base}.{name}.part")]:
        os.rename(f"{base}.{name}.part", f"{base}.{name}")


def note(base, text):
    write(base + ".error", " ".join(text.split())[:2000])


def compile_in_child(base):
    child = os.fork()
    if child:
        status = os.waitpid(child, 0)[1]
        if status and not os.path.exists(base + ".error"):
            said = ""
            if os.path.exists(base + ".log"):
                with open(base + ".log", encoding="utf-8", errors="replace") as f:
                    said = f.read(4000)
            how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"status {status >> 8}"
            note(base, f"the compiler ended by {how}: {said}")
        return
    status = 1
    try:
        log = os.open(base + ".log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        compile_one(base)
        status = 0
    except BaseException as e:  # whatever a compiler throws
        sys.stderr.flush()
        with open(base + ".log", encoding="utf-8", errors="replace") as f:
            said = f.read(1000)
        note(base, f"{type(e).__name__}: {e} {said}")
    os._exit(status)


def import_before(notes):
    """PyTorch takes seconds to import: once, before forking, where a kernel of Inductor's needs its helpers."""
    names = set()
    for path in notes:
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                names.update(re.findall(r'"(torch\.[a-z_.]+)"', f.read()))
    for name in sorted(names):
        try:
            importlib.import_module(name)
        except Exception as e:  # each image then says so, or does without
            print(f"{name}: {e}", file=sys.stderr)


def main():
    if sys.argv[1] == "about":
        about(sys.argv[2])
        return
    import triton  # noqa: F401  once, before forking
    folder = sys.argv[2]
    first, step, end = map(int, sys.argv[3:6])
    import_before([os.path.join(folder, f"{n}.in.glue") for n in range(first, end, step)])
    for n in range(first, end, step):
        base = os.path.join(folder, str(n))
        if os.path.exists(base + ".in.mlir"):
            compile_in_child(base)


main()
