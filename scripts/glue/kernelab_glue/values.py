# SPDX-License-Identifier: MIT
"""Values of a Triton program as JSON: constexprs, tensors' shapes, Python functions with all that they read."""
import ast
import hashlib
import inspect
import math
import sys
import textwrap

MAX_FUNCTIONS = 200
MAX_ITEMS = 1000  # of a tuple or list


def is_function(value):
    """A @triton.jit function (or one of Gluon, or a constexpr_function) of any Triton."""
    return isinstance(getattr(value, "src", None), str) and callable(getattr(value, "fn", None))


def importable(module, name, value):
    """True if the installation alone, without the program's own files, gives this value."""
    if not isinstance(module, str) or not isinstance(name, str) or "<" in name:
        return False
    if not module.startswith(("triton.", "torch.")):
        return False
    found = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is value


def known_module(name):
    top = name.split(".")[0]
    return top in ("triton", "torch") or top in getattr(sys, "stdlib_module_names", ("math", "functools"))


def unknown(value):
    """By its type alone: the repr of a tensor would launch kernels and wait for them."""
    if isinstance(value, type) or type(value).__name__ == "dtype":
        return {"repr": str(value)[:200]}
    return {"repr": f"{type(value).__module__}.{type(value).__qualname__}"}


def dump(value, functions=None):
    """A value as JSON that recompile.py can make again; {"repr": …} where it cannot."""
    if value is None or isinstance(value, (bool, str)):
        return value
    kind = type(value).__name__
    if kind == "dtype" and type(value).__module__.startswith("triton."):
        return {"dtype": str(value)}
    if kind == "constexpr":
        return {"constexpr": dump(value.value, functions)}
    if isinstance(value, int):
        return {"enum": [type(value).__module__, kind, int(value)]} if type(value) is not int else value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, (tuple, list)) and len(value) <= MAX_ITEMS:
        items = [dump(v, functions) for v in value]
        return items if type(value) is list else {"tuple": items}
    if is_function(value):
        return function_of(value, functions) if functions is not None else unknown(value)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if importable(getattr(value, "__module__", None), name, value):
        return {"import": [value.__module__, name]}
    inner = getattr(value, "fn", None) or getattr(value, "__wrapped__", None)
    if inner is not None and importable(getattr(inner, "__module__", None), getattr(inner, "__qualname__", ""), value):
        return {"import": [inner.__module__, inner.__qualname__]}
    return unknown(value)


def shape_of(value):
    """Shape, strides and type of what looks like a tensor or a tensor descriptor."""
    base = getattr(value, "base", None)
    if hasattr(base, "data_ptr") and hasattr(value, "block_shape"):
        return {"shape": [int(n) for n in value.shape], "stride": [int(n) for n in value.strides],
                "block": [int(n) for n in value.block_shape], "dtype": str(base.dtype)}
    if not hasattr(value, "data_ptr"):
        return None
    out = {"dtype": str(value.dtype)} if hasattr(value, "dtype") else {}
    if hasattr(value, "shape"):
        out["shape"] = [int(n) for n in value.shape]
    stride = getattr(value, "stride", None)
    if callable(stride):
        out["stride"] = [int(n) for n in stride()]
    return out


def shapes_of(arguments):
    shapes = {}
    for name, value in arguments.items():
        shape = shape_of(value)
        if shape:
            shapes[str(name)] = shape
    return shapes


def names_used(tree):
    """{name: {attributes behind it, as tuples}} of all names that the function reads."""
    used = {}
    for node in ast.walk(tree):
        chain = []
        while isinstance(node, ast.Attribute):
            chain.insert(0, node.attr)
            node = node.value
        if isinstance(node, ast.Name):
            used.setdefault(node.id, set()).add(tuple(chain))
    return used


def dump_module(module, chains, functions):
    """A module: those of an installation by name, others by what is used of them."""
    if known_module(module.__name__):
        return {"module": module.__name__}
    names = {}
    for chain in sorted(chains):
        if chain and hasattr(module, chain[0]):
            names.setdefault(chain[0], set()).add(chain[1:])
    return {"names": {name: dump_global(getattr(module, name), rest, functions) for name, rest in names.items()}}


def dump_global(value, chains, functions):
    if isinstance(value, type(sys)):
        return dump_module(value, chains, functions)
    return dump(value, functions)


def scope_of(function):
    scope = dict(function.fn.__globals__)
    for name, cell in zip(function.fn.__code__.co_freevars, function.fn.__closure__ or ()):
        try:
            scope[name] = cell.cell_contents
        except ValueError:  # not set yet
            pass
    return scope


def options_of_function(function):
    names = ("noinline", "do_not_specialize", "do_not_specialize_on_alignment")
    return {name: dump(getattr(function, name)) for name in names if getattr(function, name, None)}


def function_of(function, functions):
    """Notes a @triton.jit function and all it reads; {"import": …} or {"function": number in functions}."""
    module, name = function.fn.__module__, function.fn.__qualname__
    if importable(module, name, function):
        return {"import": [module, name]}
    for number, other in enumerate(functions):
        if other["object"] is function:
            return {"function": number}
    if len(functions) >= MAX_FUNCTIONS:
        raise ValueError(f"more than {MAX_FUNCTIONS} functions behind one kernel")
    source = function.src
    first = getattr(function, "starting_line_number", function.fn.__code__.co_firstlineno)
    raw = textwrap.dedent("".join(getattr(function, "raw_src", None) or inspect.getsourcelines(function.fn)[0]))
    at = raw.find(source)
    entry = {"object": function, "name": function.fn.__name__, "qualname": name, "module": module,
             "file": function.fn.__code__.co_filename, "line": first + raw[:at].count("\n") if at >= 0 else first,
             "source": source, "sha256": hashlib.sha256(source.encode()).hexdigest()}
    if type(function).__name__ not in ("JITFunction", "JITCallable"):
        entry["kind"] = type(function).__name__
    options = options_of_function(function)
    if options:
        entry["options"] = options
    number = len(functions)
    functions.append(entry)
    scope = scope_of(function)
    code = function.fn.__code__
    local = set(code.co_varnames + code.co_cellvars)
    builtins = sys.modules["builtins"]
    entry["globals"] = {
        name: dump_global(scope[name], chains, functions) for name, chains in
        sorted(names_used(ast.parse(source)).items())
        if name in scope and name not in local and scope[name] is not getattr(builtins, name, scope)
    }
    return {"function": number}


def plain(value):
    """Options as JSON: what is not a plain value becomes its text."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if isinstance(value, (set, frozenset)):
        return sorted(plain(v) for v in value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    return {k: plain(v) for k, v in vars(value).items()} if hasattr(value, "__dict__") else repr(value)
