# SPDX-License-Identifier: MIT
"""Compiles the pairs of table.py into kernels of A, of B and a reference in double precision.

    make_corpus.py OUT [--only REGEX] [--other-ptxas PTXAS] [--other-triton PYTHON]…

Runs under the Python of a Triton installation with NVRTC (scripts/make-corpus) and needs no GPU. OUT/a, OUT/b
and OUT/ref hold what TRITON_CACHE_DIR would hold and a manifest (tests/apps/kernels.c reads it);
OUT/plan and OUT/plan.ref have one line a launch (client.c). B keeps the .source of A: what differs
is what a compiler made of it, as between two builds of one. Without --other-ptxas and --other-triton
the pairs that differ by these are left out. Families of families.cu are compiled by NVRTC.
"""
import argparse
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import nvrtc  # noqa: E402
from table import FAMILIES, INPUTS, PAIRS  # noqa: E402

NEUTRAL = "/home/user/corpus/families.py"
WARPS = 4
ELEMENT = {"f32": "p", "bf16": "h", "f16": "e", "fp8": "q", "i32": "i", "i8": "b"}
# What the reference computes in: no rounding in between, no approximation where double has none.
DOUBLE = [(r"tl\.(float32|float16|bfloat16|float8e4nv)\b", "tl.float64"),
          (r"acc = tl\.dot\(ta, tb, acc(, input_precision=\"ieee\")?\)",
           "acc += tl.sum(ta[:, :, None] * tb[None, :, :], axis=1)"),
          (r"acc = tl\.dot\(p\.to\(tl\.float64\), tv, acc\)",
           "acc += tl.sum(p[:, :, None] * tv[None, :, :], axis=1)"),
          (r"tl\.dot\(tq, tl\.trans\(tk\)\)", "tl.sum(tq[:, None, :] * tk[None, :, :], axis=2)")]


def maker():
    path = os.path.join(HERE, "..", "apps", "make-kernels.py")
    spec = importlib.util.spec_from_file_location("make_kernels", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def text_of(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        return f.read()


def fingerprint(names):
    """Of everything that these pairs are made from: data with another one are out of date."""
    rows = [[PAIRS[n][k] for k in ("name", "family", "edits", "ptx", "constants", "ptxas", "warps", "flags", "triton")]
            for n in names]
    plan = [line for n in names for line in plan_lines(n, PAIRS[n]["family"])]
    return hashlib.sha256(repr([text_of("families.py"), text_of("families.cu"), DOUBLE, rows,
                                plan]).encode()).hexdigest()


def ptxas():
    import triton
    return os.path.join(os.path.dirname(triton.__file__), "backends", "nvidia", "bin", "ptxas")


def version(assembler):
    out = subprocess.run([assembler, "--version"], capture_output=True, text=True, check=True).stdout
    return out.split(", V")[1].split()[0]


def instructions(path):
    """What a PTX file executes, with registers in the order of their use."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    text = text[text.index(".entry"):]
    text = re.sub(r"//[^\n]*", "", text[text.index("{") + 1:text.index("\n}")])
    lines = [" ".join(line.split()) for line in text.splitlines()
             if line.strip() and not re.match(r"\s*(\.|\$L__)", line)]
    lines = [re.sub(r"^(ld\.param|mov)\.[us](\d+)", r"\1.b\2", line) for line in lines]
    names = {}
    return re.sub(r"%[a-z]+\d+", lambda m: names.setdefault(m[0], f"%{len(names)}"), "\n".join(lines))


def tritons(pythons):
    """Version → Python of its installation."""
    ask = [sys.executable, "-c", "import triton; print(triton.__version__)"]
    return {subprocess.run([p, *ask[1:]], capture_output=True, text=True, check=True).stdout.strip(): p
            for p in pythons}


class Maker:
    def __init__(self, out):
        self.kernels = maker()
        self.out = out
        self.root = self.kernels.neutral_library_paths()
        self.text = text_of("families.py")
        self.cuda_text = text_of("families.cu")
        self.loaded_nvrtc = None
        self.same = []
        self.lines = {"a": [], "b": [], "ref": []}

    @property
    def nvrtc(self):
        self.loaded_nvrtc = self.loaded_nvrtc or nvrtc.Nvrtc()
        return self.loaded_nvrtc

    def source(self, family, entry, edits=()):
        """The function of a family under another name, edited, on the lines where it stands."""
        start = self.text.index(f"@triton.jit\ndef {family}(")
        end = self.text.find("\n@triton.jit", start + 1)
        body = self.text[start:end if end > 0 else len(self.text)]
        for old, new in edits:
            if old not in body or old.count("\n") != new.count("\n"):
                sys.exit(f"make_corpus: {entry}: the edit does not fit: {old!r}")
            body = body.replace(old, new)
        body = body.replace(f"def {family}(", f"def {entry}(")
        head = self.text[:self.text.index("\n@triton.jit")]
        gap = "\n" * (self.text[:start].count("\n") - head.count("\n"))
        return head + gap + body

    def cuda(self, side, entry, family, edits=(), flags=(), kinds=None):
        """The same for a family of families.cu: helpers, and that kernel."""
        mark = 'extern "C" __global__ void '
        start = self.cuda_text.index(f"{mark}{family}(")
        end = self.cuda_text.find(mark, start + 1)
        body = self.cuda_text[start:end if end > 0 else len(self.cuda_text)]
        text = self.cuda_text[:self.cuda_text.index(mark)] + body
        for old, new in edits:
            if old not in text:
                sys.exit(f"make_corpus: {entry}: the edit does not fit: {old!r}")
            text = text.replace(old, new)
        text = text.replace(f"{mark}{family}(", f"{mark}{entry}(")
        kinds = kinds or FAMILIES[family]["kinds"]
        names = re.findall(r"(\w+)[,)]", body[body.index("("):body.index("{")])
        line = self.cuda_text[:start].count("\n") + 1
        at = nvrtc.write_entry(os.path.join(self.out, side), entry,
                               self.nvrtc.ptx(text, "families.cu", flags), names, kinds, line, WARPS,
                               ptxas())
        self.lines[side].append(self.kernels.manifest_line(at, entry, kinds, {"THREADS": 128}, WARPS))
        return at

    def compile(self, side, entry, text, kinds, constants, warps=WARPS):
        folder = os.path.join(self.out, side)
        os.environ["TRITON_CACHE_DIR"] = folder
        before = set(os.listdir(folder))
        module = self.kernels.module_of(text, NEUTRAL)
        self.kernels.compile_image(module, entry, kinds, constants, warps)
        at = os.path.join(folder, self.kernels.find_entry(folder, before, entry))
        self.kernels.tidy(at, entry, self.root)
        os.remove(os.path.join(at, entry + ".ttir"))
        self.lines[side].append(self.kernels.manifest_line(at, entry, kinds, constants, warps))
        return at

    def assemble(self, folder, entry, edits, assembler):
        path = os.path.join(folder, entry)
        with open(path + ".ptx", encoding="utf-8") as f:
            text = f.read()
        for pattern, new, count in edits:
            text, done = re.subn(pattern, new, text, count=count or 0)
            if not done:
                sys.exit(f"make_corpus: {entry}: nothing in the PTX fits {pattern}")
        with open(path + ".ptx", "w", encoding="utf-8") as f:
            f.write(text)
        arch = re.search(r"^\.target (\w+)", text, re.M).group(1)
        subprocess.run([assembler, "-lineinfo", f"--gpu-name={arch}", path + ".ptx", "-o",
                        path + ".cubin"], check=True)

    def compile_elsewhere(self, python, row):
        """B by another Triton: a process of its own makes the pair's B and hands over the folder."""
        name, out = row["name"], os.path.join(self.out, "other")
        subprocess.run([python, os.path.abspath(__file__), out, "--b-of", name], check=True)
        with open(os.path.join(out, "b", "manifest"), encoding="utf-8") as f:
            line = f.read()
        folder = line.split()[1].split("/")[0]
        at = os.path.join(self.out, "b", folder)
        shutil.move(os.path.join(out, "b", folder), at)
        shutil.rmtree(out)
        self.lines["b"].append(line)
        return at

    def keep_identity(self, at, name, warps):
        """Options are part of a config's identity: what only a compiler would decide is not said."""
        path = os.path.join(at, name + ".json")
        with open(path, encoding="utf-8") as f:
            meta = json.load(f)
        meta["num_warps"] = warps
        with open(path, "w", encoding="utf-8") as f:
            json.dump(meta, f)

    def differ(self, a, b, row):
        """A pair of the same instructions would be none."""
        name = row["name"] + ".ptx"
        return instructions(os.path.join(a, name)) != instructions(os.path.join(b, name))

    def pair(self, row, other, others):
        family, name = FAMILIES[row["family"]], row["name"]
        kinds, constants = family["kinds"], family["constants"]
        if "cuda" in family:
            a = self.cuda("a", name, row["family"])
            b = self.cuda("b", name, row["family"], row["edits"], row["flags"])
        else:
            a = self.compile("a", name, self.source(row["family"], name), kinds, constants)
            b = self.compile_elsewhere(others[row["triton"]], row) if row["triton"] else self.compile(
                "b", name, self.source(row["family"], name, row["edits"]), kinds,
                {**constants, **row["constants"]}, row["warps"] or WARPS)
        if row["warps"]:
            self.keep_identity(b, name, WARPS)
        if row["ptx"] or row["ptxas"]:
            self.assemble(b, name, row["ptx"], other if row["ptxas"] else ptxas())
        if row["triton"] and not self.differ(a, b, row):
            self.same.append(name)
        shutil.copyfile(os.path.join(a, name + ".source"), os.path.join(b, name + ".source"))
        if row["constants"]:  # block sizes are part of how the client knows an image
            self.lines["b"][-1] = re.sub(r"blocks=\S+", self.lines["a"][-1].split()[-1],
                                         self.lines["b"][-1])

    def reference(self, name):
        family = FAMILIES[name]
        if "cuda" in family:
            self.cuda("ref", name, name, flags=["-DREFERENCE"],
                      kinds=re.sub("[PHEQ]", "D", family["kinds"]))
            return
        text = self.source(name, name)
        for pattern, new in DOUBLE:
            text = re.sub(pattern, new, text)
        kinds = re.sub("[PHEQ]", "D", family["kinds"])
        self.compile("ref", name, text, kinds, family["constants"])


def argument(arg, kind, reference):
    if isinstance(arg, int):
        return f"n:{arg}"
    if isinstance(arg, float):
        return f"f:{arg!r}"
    if arg[0] == "index":
        return f"index:i32:{arg[1]}:{arg[2]}"
    type_ = arg[1] + ("/f64" if reference and arg[1] not in ("i32", "i8") else "")
    return f"{arg[0]}:{type_}:{arg[2]}:{kind}"


def plan_lines(entry, family, reference=False):
    """One line a launch: entry, input family, shape, grid, arguments."""
    row = FAMILIES[family]
    for kind in row.get("inputs", INPUTS):
        for shape, value in row["shapes"].items():
            grid, arguments = row["launch"](value, row["constants"])
            yield " ".join([entry, kind, shape, *map(str, grid),
                            *(argument(a, kind, reference) for a in arguments)]) + "\n"


def make_b(work, row):
    family = FAMILIES[row["family"]]
    work.compile("b", row["name"], work.source(row["family"], row["name"]), family["kinds"],
                 family["constants"])
    with open(os.path.join(work.out, "b", "manifest"), "w", encoding="utf-8") as f:
        f.writelines(work.lines["b"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("out")
    parser.add_argument("--only", default="", metavar="REGEX", help="only pairs whose name matches")
    parser.add_argument("--other-ptxas", metavar="PTXAS", help="for the pairs that differ by it alone")
    parser.add_argument("--other-triton", metavar="PYTHON", action="append", default=[],
                        help="with another Triton, likewise; may be repeated")
    parser.add_argument("--b-of", metavar="NAME", help="only B of one pair, by this Triton")
    args = parser.parse_args()
    out = os.path.abspath(args.out)
    for side in ("a", "b", "ref"):
        shutil.rmtree(os.path.join(out, side), ignore_errors=True)
        os.makedirs(os.path.join(out, side))
    for name in ("TRITON_PTXAS_PATH", "TRITON_KERNEL_DUMP", "TRITON_DISABLE_LINE_INFO"):
        os.environ.pop(name, None)
    others = tritons(args.other_triton)
    unknown = others.keys() - {r["triton"] for r in PAIRS.values()}
    if unknown:
        sys.exit(f"make_corpus: no pair of table.py is by Triton {' '.join(sorted(unknown))}")
    rows = [r for r in PAIRS.values() if re.search(args.only, r["name"]) and
            (args.other_ptxas or not r["ptxas"]) and (args.b_of or not r["triton"] or r["triton"] in others)]
    work = Maker(out)
    if args.b_of:
        make_b(work, PAIRS[args.b_of])
        return
    for row in rows:
        work.pair(row, args.other_ptxas, others)
    if work.same:
        sys.exit(f"make_corpus: the same PTX on both sides, no pair: {' '.join(work.same)}")
    families = list(dict.fromkeys(r["family"] for r in rows))
    for family in families:
        work.reference(family)
    for side, lines in work.lines.items():
        with open(os.path.join(out, side, "manifest"), "w", encoding="utf-8") as f:
            f.writelines(lines)
    with open(os.path.join(out, "plan"), "w", encoding="utf-8") as f:
        for row in rows:
            f.writelines(plan_lines(row["name"], row["family"]))
    with open(os.path.join(out, "plan.ref"), "w", encoding="utf-8") as f:
        for family in families:
            f.writelines(plan_lines(family, family, reference=True))
    with open(os.path.join(out, "fingerprint"), "w", encoding="utf-8") as f:
        f.write(fingerprint([r["name"] for r in rows]) + "\n")
    import triton
    with open(os.path.join(out, "versions"), "w", encoding="utf-8") as f:
        f.write(f"triton {triton.__version__} ptxas {version(ptxas())} nvrtc {work.nvrtc.version}\n")
        f.writelines(f"other triton {v}\n" for v in others)
        if args.other_ptxas:
            f.write(f"other ptxas {version(args.other_ptxas)}\n")
    print(f"{len(rows)} pairs of {len(families)} families; left out: {len(PAIRS) - len(rows)}")


if __name__ == "__main__":
    main()
