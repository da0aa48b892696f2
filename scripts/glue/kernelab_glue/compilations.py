# SPDX-License-Identifier: MIT
"""One note for each compiled image: DIR/glue/<id of the image>.json, "kernelab-glue/1"."""
import ctypes
import hashlib
import json
import os
import re
import sys
import threading

from kernelab_glue import folder
from kernelab_glue.guard import guarded
from kernelab_glue.values import dump, function_of, is_function, plain, shapes_of

SCHEMA = "kernelab-glue/1"
LAUNCH_FRAMES = 40  # how far below the compilation the launch is looked for
MAX_TEXT = 1 << 20

_image_id = None
_after = []  # called after a note


def find_hash():
    """The preload library's hash of images. False: it is not in this process."""
    global _image_id
    if _image_id is None:
        try:
            _image_id = ctypes.CDLL(None).kernelab_image_id
        except (OSError, AttributeError):
            return False
        _image_id.restype = None
    return True


def after(callback):
    _after.append(callback)


def launch_arguments():
    """Arguments of the launch that this compilation is for: of the frame of JITFunction.run above us."""
    frame = sys._getframe(1)
    for _ in range(LAUNCH_FRAMES):
        if frame is None:
            return {}
        code = frame.f_code
        if code.co_name == "run" and code.co_filename.replace(os.sep, "/").endswith("triton/runtime/jit.py"):
            return dict(frame.f_locals.get("bound_args") or {})
        frame = frame.f_back
    return {}


def name_of(path, names):
    text = names[path[0]] if isinstance(path[0], int) and path[0] < len(names) else str(path[0])
    return text + "".join(f"[{part}]" for part in path[1:])


def path_of(key, names):
    if isinstance(key, tuple):
        return key
    return (names.index(key),) if key in names else (key,)


def ptxas_of(metadata):
    """Path and version of the ptxas that this Triton runs for the target; from what it has asked itself for its cache key."""
    from triton.backends.nvidia import compiler
    arch = metadata["target"].arch
    for arguments in (arch,), ():
        try:
            path = compiler.get_ptxas(*arguments).path
            if not compiler.get_ptxas_version.cache_info().currsize:
                return {}
            said = compiler.get_ptxas_version(*arguments)
        except TypeError:
            continue
        found = re.search(r", V([0-9.]+)", said)
        return {"ptxas_path": path, "ptxas_version": found[1]} if found else {}
    return {}


def describe(src, metadata, cache_hit):
    import triton
    fn = getattr(src, "fn", None)
    functions = []
    out = {"schema": SCHEMA, "triton": triton.__version__, "pid": os.getpid(), "cache_hit": bool(cache_hit),
           "kernel": str(metadata.get("name", getattr(src, "name", ""))), "options": plain(dict(metadata))}
    try:
        out.update(ptxas_of(metadata))
    except (ImportError, AttributeError, KeyError):  # another backend, or a Triton that has it elsewhere
        pass
    language = getattr(getattr(src, "language", None), "name", None)
    if language:
        out["language"] = language
    if not is_function(fn):
        out["ir"] = True  # compiled from an IR file: there is no Python behind it
        return out
    names = list(fn.arg_names)
    out["arguments"] = names
    out["signature"] = {str(k): plain(v) for k, v in src.signature.items()}
    constants = getattr(src, "constants", None) or getattr(src, "constexprs", None) or {}
    out["constexprs"] = []
    for key, value in constants.items():
        path = path_of(key, names)
        out["constexprs"].append({"name": name_of(path, names), "path": list(path), "value": dump(value, functions)})
    out["attrs"] = [[list(path_of(k, names)), plain(v)] for k, v in (src.attrs or {}).items()] \
        if isinstance(src.attrs, dict) else []
    out["root"] = function_of(fn, functions)
    for function in functions:
        del function["object"]
    out["functions"] = functions
    if functions:
        out["function_sha256"] = closure_hash(functions)
    shapes = shapes_of(launch_arguments())
    if shapes:
        out["tensors"] = shapes
    return out


def closure_hash(functions):
    """Of the kernel's and its helpers' source texts: not of files and lines, nor of the installation's functions."""
    text = "\0".join(f["name"] + "\0" + f["source"] for f in sorted(functions, key=lambda f: (f["name"], f["sha256"])))
    return hashlib.sha256(text.encode()).hexdigest()


def write_whole(path, text):
    """Whole or not at all: others read it at any time."""
    part = f"{path}.{os.getpid()}.{threading.get_ident()}.part"
    with open(part, "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(part, path)


def image_path(metadata_group):
    for name, path in metadata_group.items():
        if name.endswith(".cubin"):
            return path
    return None


@guarded
def compiled(src, metadata, metadata_group, cache_hit):
    path = image_path(metadata_group)
    if path is None:
        return
    with open(path, "rb") as f:
        image = f.read()
    text = ctypes.create_string_buffer(33)
    _image_id(image, ctypes.c_size_t(len(image)), text)
    target = os.path.join(folder(), text.value.decode() + ".json")
    if os.path.exists(target):
        return
    said = json.dumps(describe(src, metadata, cache_hit), allow_nan=False, sort_keys=True)
    if len(said) > MAX_TEXT:
        raise ValueError(f"{len(said)} bytes about one kernel")
    write_whole(target, said + "\n")


class Chain:
    """Our listener before the program's."""

    def __init__(self, theirs):
        self.theirs = theirs

    def __call__(self, *args, **kwargs):
        note_compilation(kwargs)
        if self.theirs is not None:
            return self.theirs(*args, **kwargs)
        return None


@guarded
def note_compilation(kwargs):
    compiled(kwargs["src"], kwargs["metadata"], kwargs["metadata_group"], kwargs.get("cache_hit", False))
    for callback in _after:
        callback()


class Listener:
    """Stands for knobs.compilation.listener: the program may set and take away its own at any time."""

    def __get__(self, knobs, owner=None):
        return None if knobs is None else Chain(vars(knobs).get("listener"))

    def __set__(self, knobs, value):
        vars(knobs)["listener"] = value.theirs if isinstance(value, Chain) else value

    def __delete__(self, knobs):
        vars(knobs).pop("listener", None)


def attach(module):
    if hasattr(type(module.compilation), "listener"):
        type(module.compilation).listener = Listener()
