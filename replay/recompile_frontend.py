# SPDX-License-Identifier: MIT
"""Makes a kernel's first IR from its recorded Python source: the note of the glue, docs/glue.md."""
import importlib
import inspect
import linecache
import types


class Unknown:
    """Stands for a global that could not be written down; Triton's frontend refuses it if the kernel needs it."""


class Cycle(Exception):
    """A function that is just being made was asked for."""


class Program:
    def __init__(self, note):
        self.note, self.made, self.making, self.lines = note, {}, set(), {}

    def value(self, v):
        """The reverse of dump in the glue's values.py."""
        if isinstance(v, list):
            return [self.value(item) for item in v]
        if not isinstance(v, dict):
            return v
        (kind, inner), = v.items()
        return getattr(self, "make_" + kind)(inner)

    def make_tuple(self, items):
        return tuple(self.value(item) for item in items)

    def make_dtype(self, name):
        import triton.language as tl
        return tl.dtype(name)

    def make_constexpr(self, inner):
        import triton.language as tl
        return tl.constexpr(self.value(inner))

    def make_float(self, text):
        return float(text)

    def make_enum(self, parts):
        module, kind, number = parts
        try:
            return getattr(importlib.import_module(module), kind)(number)
        except (ImportError, AttributeError):  # of the program: its value is what the compiler sees
            return number

    def make_import(self, parts):
        module, name = parts
        found = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return found

    def make_module(self, name):
        return importlib.import_module(name)

    def make_names(self, names):
        module = types.ModuleType("recorded")
        for name, value in names.items():
            setattr(module, name, self.value(value))
        return module

    def make_repr(self, _):
        return Unknown()

    def make_function(self, number):
        """@triton.jit of the recorded text, at its recorded file and line, so that locations in the IR are the same."""
        import triton
        if number in self.made:
            return self.made[number]
        if number in self.making:
            raise Cycle
        entry = self.note["functions"][number]
        kind = entry.get("kind", "JITFunction")
        if kind not in ("JITFunction", "JITCallable", "ConstexprFunction"):
            raise ValueError(f"{entry['name']} is a {kind}")
        self.place(entry)
        scope = {"__name__": entry["module"], "__builtins__": __builtins__}
        self.making.add(number)
        # Annotations and defaults are worked out when the def runs; only functions that call each other come after it.
        later = [name for name, value in entry["globals"].items() if not self.give(scope, name, value)]
        exec(compile("\n" * (entry["line"] - 1) + entry["source"], entry["file"], "exec"), scope)
        options = {name: self.value(v) for name, v in entry.get("options", {}).items()}
        wrap = triton.constexpr_function if kind == "ConstexprFunction" else triton.jit
        self.made[number] = wrap(scope[entry["name"]], **options)
        for name in later:
            self.give(scope, name, entry["globals"][name])
        return self.made[number]

    def give(self, scope, name, value):
        try:
            scope[name] = self.value(value)
        except Cycle:
            return False
        return True

    def place(self, entry):
        """Triton asks inspect for the source, which asks linecache."""
        lines = self.lines.setdefault(entry["file"], [])
        text = entry["source"].splitlines(keepends=True)
        first = entry["line"] - 1
        lines.extend("\n" for _ in range(first + len(text) - len(lines)))
        for i, line in enumerate(text):
            if lines[first + i] not in ("\n", line):
                raise ValueError(f"two functions in the same lines of {entry['file']}")
            lines[first + i] = line if line.endswith("\n") else line + "\n"
        linecache.cache[entry["file"]] = (sum(map(len, lines)), None, lines, entry["file"])


def signature_type(value):
    return tuple(signature_type(v) for v in value) if isinstance(value, list) else value


def make_ir(note, target, options, backend, context):
    """The MLIR module, as triton.compile would have it after its first step."""
    from triton.compiler import ASTSource
    if note.get("ir") or note.get("language", "TRITON") != "TRITON":
        raise ValueError("not from Triton's language")
    program = Program(note)
    signature = {name: signature_type(note["signature"][name]) for name in note["arguments"] if name in note["signature"]}
    constexprs = {tuple(c["path"]): program.value(c["value"]) for c in note["constexprs"]}
    attrs = {tuple(path): value for path, value in note["attrs"]}
    source = ASTSource(program.value(note["root"]), signature, constexprs, attrs)
    given = {"target": target, "options": options, "codegen_fns": backend.get_codegen_implementation(options),
             "module_map": backend.get_module_map(), "context": context}
    names = inspect.signature(source.make_ir).parameters
    unknown = set(names) - set(given)
    if unknown:
        raise ValueError(f"this Triton's make_ir also wants {sorted(unknown)}")
    return source.make_ir(**{name: given[name] for name in names})
