# SPDX-License-Identifier: MIT
"""How the glue gets into a Python, and that it is not noticed there; a package that looks like Triton stands in for it.

test_glue_start.py KERNELAB SHIM
"""
import json
import os
import subprocess
import sys
import tempfile

kernelab, shim = sys.argv[1:3]
if "__asan" in subprocess.run(["nm", "-D", shim], capture_output=True, text=True).stdout:
    sys.exit(77)
problems = []

KNOBS = """
class compilation_knobs:
    listener = None
compilation = compilation_knobs()
"""
AUTOTUNER = """
class Config:
    def __init__(self, **kwargs):
        self.kwargs, self.num_warps = kwargs, 4
class Autotuner:
    def __init__(self, function, configs):
        self.base_fn, self.configs, self.nargs, self.cache = function, configs, {}, {}
    def prune_configs(self, kwargs):
        return self.configs[1:]
"""
COMPILER = """
import os, triton.knobs
class Source:
    fn = None
def compile(folder, name):
    path = os.path.join(folder, name + ".cubin")
    open(path, "wb").write(name.encode() * 100)
    if triton.knobs.compilation.listener:
        triton.knobs.compilation.listener(src=Source(), metadata={"name": name}, times=None, cache_hit=False,
                                          metadata_group={name + ".cubin": path})
"""
PRINT_STATE = """
import sys
module = sys.modules.get("sitecustomize")
print(module and module.__file__, "triton" in sys.modules, getattr(sys, "own", None), sys.flags.no_site)
"""


def write(folder, files):
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


def run(top, program, *options, python=(sys.executable,), path="", environment=None):
    """(stdout, stderr, output folder); the same program must print the same without kernelab."""
    source = os.path.join(top, "program.py")
    with open(source, "w", encoding="utf-8") as f:
        f.write(program)
    out = tempfile.mkdtemp(dir=top)
    variables = {**os.environ, **(environment or {})}
    variables.pop("PYTHONPATH", None)
    if path:
        variables["PYTHONPATH"] = path
    plain = subprocess.run([*python, source], capture_output=True, text=True, env=variables)
    done = subprocess.run([kernelab, "capture", "-o", out, "--device", "soft", *options, "--", *python, source],
                          capture_output=True, text=True, env=variables)
    said = "".join(line + "\n" for line in done.stderr.splitlines() if not line.startswith("kernelab: capture:"))
    if (plain.returncode, plain.stdout) != (done.returncode, done.stdout):
        problems.append(f"{program}: {plain.returncode} {plain.stdout!r} alone, {done.returncode} {done.stdout!r} "
                        f"{done.stderr!r} captured")
    return done.stdout, said, out


def expect(condition, said):
    if not condition:
        problems.append(said)


def notes(out):
    folder = os.path.join(out, "glue")
    return {json.load(open(os.path.join(folder, name), encoding="utf-8"))["kernel"]
            for name in os.listdir(folder) if name.endswith(".json")} if os.path.isdir(folder) else set()


def check_unnoticed(top):
    """Python without and with a sitecustomize of its own, one that fails, and Pythons that import none."""
    run(top, PRINT_STATE)
    own = os.path.join(top, "own")
    write(own, {"sitecustomize.py": "import sys\nsys.own = 1\n"})
    stdout, _, _ = run(top, PRINT_STATE, path=own)
    expect(own in stdout and " 1 " in stdout, f"own sitecustomize not run: {stdout!r}")
    failing = os.path.join(top, "failing")
    write(failing, {"sitecustomize.py": "import sys\nsys.own = 2\nraise ValueError('own')\n"})
    _, said, _ = run(top, PRINT_STATE, path=failing)
    expect("Error in sitecustomize" in said and "ValueError: own" in said, f"own failure hidden: {said!r}")
    for flags in (["-S"], ["-I"], ["-E"], ["-s"]):
        run(top, PRINT_STATE, python=(sys.executable, *flags))


PROGRAM = """
import sys
sys.path.insert(0, {fake!r})
import triton.knobs, triton.compiler
folder = {folder!r}
triton.compiler.compile(folder, "first")
seen = []
triton.knobs.compilation.listener = lambda **kwargs: seen.append(kwargs["metadata"]["name"])
triton.compiler.compile(folder, "second")
saved = triton.knobs.compilation.listener
triton.knobs.compilation.listener = None
triton.compiler.compile(folder, "third")
triton.knobs.compilation.listener = saved
triton.compiler.compile(folder, "fourth")
print(seen)
"""
TUNING = """
import sys
sys.path.insert(0, {fake!r})
import triton.runtime.autotuner as a
def function():
    pass
tuner = a.Autotuner(function, [a.Config(B=1), a.Config(B=2)])
kept = tuner.prune_configs({{}})
tuner.cache[(7,)] = kept[0]
print(len(kept), a.Autotuner.prune_configs.__name__)
"""
FAILING = """
import os, sys
sys.path.insert(0, {fake!r})
import triton.knobs, triton.compiler
if os.path.isdir(os.environ.get("KERNELAB_OUTPUT", "") + "/glue"):
    os.rmdir(os.environ["KERNELAB_OUTPUT"] + "/glue")
for name in "abc":
    triton.compiler.compile({folder!r}, name)
print("alive")
"""
UNWRITABLE = """
import os, sys
if os.environ.get("KERNELAB_OUTPUT"):
    open(os.environ["KERNELAB_OUTPUT"] + "/glue", "w").close()
sys.path.insert(0, {fake!r})
import triton.knobs, triton.runtime.autotuner
print(triton.knobs.compilation.listener)
"""


def check_listening(top, fake):
    text = PROGRAM.format(fake=fake, folder=top)
    stdout, said, out = run(top, text)
    expect(stdout == "['second', 'fourth']\n", f"the program's own listener saw {stdout!r}")
    expect(notes(out) == {"first", "second", "third", "fourth"}, f"notes of {notes(out)}")
    expect(not said, said)
    _, _, out = run(top, text, "--no-glue")
    expect(not notes(out) and not os.path.exists(os.path.join(out, "glue")), "--no-glue was not heeded")
    _, _, out = run(top, text, environment={"KERNELAB_NO_GLUE": "1"})
    expect(not notes(out), "KERNELAB_NO_GLUE was not heeded")
    _, _, out = run(top, TUNING.format(fake=fake))
    lines = [json.loads(line) for name in os.listdir(os.path.join(out, "glue"))
             for line in open(os.path.join(out, "glue", name), encoding="utf-8")]
    expect([line["event"] for line in lines] == ["configs", "winner"] and lines[0]["left_out"] == [0] and
           lines[1]["config"]["B"] == 2, f"autotuner: {lines}")


def check_failures(top, fake):
    stdout, said, _ = run(top, FAILING.format(fake=fake, folder=top))
    expect(stdout == "alive\n" and said.count("kernelab: glue:") == 1, f"failing notes: {stdout!r} {said!r}")
    stdout, said, _ = run(top, UNWRITABLE.format(fake=fake))
    expect(stdout == "None\n" and said.count("kernelab: glue:") == 1, f"no folder: {stdout!r} {said!r}")
    # Without the preload library there is nothing to note for.
    bare = subprocess.run([sys.executable, "-c", PROGRAM.format(fake=fake, folder=top)], capture_output=True, text=True,
                          env={**os.environ, "KERNELAB_OUTPUT": os.path.join(top, "nobody"),
                               "PYTHONPATH": os.path.join(os.path.dirname(kernelab), "../scripts/glue")})
    expect(bare.stdout == "['second', 'fourth']\n" and not bare.stderr and
           not os.path.exists(os.path.join(top, "nobody")), f"without the shim: {bare}")


with tempfile.TemporaryDirectory() as folder:
    folder = os.path.realpath(folder)
    package = os.path.join(folder, "fake")
    write(package, {"triton/__init__.py": "__version__ = '3.99'\n", "triton/knobs.py": KNOBS,
                    "triton/compiler.py": COMPILER, "triton/runtime/__init__.py": "",
                    "triton/runtime/autotuner.py": AUTOTUNER})
    check_unnoticed(folder)
    check_listening(folder, package)
    check_failures(folder, package)
print("\n".join(problems))
sys.exit(bool(problems))
