# SPDX-License-Identifier: MIT
"""tritonparse and kernelab beside each other on training steps of tests/gpu/train_big.py. Needs a GPU and PyTorch.

usage: beside_tritonparse.py BUILD_DIR --with FOLDER [--steps N] [--layers N] [--rounds N] [--rows LIST] [--limit S]
    --with FOLDER  an unpacked tritonparse (and zstandard, if Python has none): pip install --target FOLDER tritonparse
    --steps N      of a run (default 60); the second half, when all is recorded, is looked at
    --layers N     of the model (default 4 of its 8: compilation is most of the time)
    --rounds N     runs without anything and with kernelab, alternating (default 2); one run of each tritonparse mode,
                   with fresh caches, as it needs them
    --rows LIST    of nothing,kernelab,no-data,trace,blobs: what to run (default all)
    --limit S      seconds after which a run is given up (default 600); its row says what it had written until then
The share of launches: what a tool wrote down of a Triton kernel's launch, against those that the driver saw (kernelab ls).
"""
import argparse
import json
import os
import re
import runpy
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TRAIN = os.path.join(HERE, "../../tests/gpu/train_big.py")


def traced(folder, blobs, arguments):
    """Child: train_big.py under tritonparse as its documentation says. Its first lines are not the program's."""
    import tritonparse.structured_logging
    tritonparse.structured_logging.init(folder, enable_trace_launch=True, enable_tensor_blob_storage=blobs,
                                        tensor_save_max_runs=1 if blobs else None)
    sys.argv = [TRAIN, *arguments]
    runpy.run_path(TRAIN, run_name="__main__")


def run(command, env, limit=600):
    """Figures of a run; None where it took longer than limit."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, **env), timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return {"first": float(re.search(r"first ([\d.]+)", done.stdout)[1]),
            "step": float(re.search(r"later steps ms ([\d.]+)", done.stdout)[1]),
            "loss": re.search(r"loss (\S+)", done.stdout)[1]}


def size_of(folder):
    return sum(os.lstat(os.path.join(top, name)).st_size for top, _, names in os.walk(folder) for name in names)


def is_launch(line):
    try:
        return json.loads(line).get("event_type") == "launch"
    except ValueError:  # the last line of a run that was given up
        return False


def launches_traced(folder):
    count = 0
    for top, _, names in os.walk(folder):
        for name in names:
            if not name.endswith(".ndjson"):
                continue
            with open(os.path.join(top, name), encoding="utf-8", errors="replace") as f:
                count += sum(is_launch(line) for line in f if line.strip())
    return count


def launches_seen(kernelab, folder):
    shown = subprocess.run([kernelab, "ls", "--json", folder], capture_output=True, text=True, check=True)
    return sum(f["seen"] for f in json.loads(shown.stdout)["families"])


def caches(folder):
    return {"TRITON_CACHE_DIR": f"{folder}/triton", "TORCHINDUCTOR_CACHE_DIR": folder}


class Comparison:
    def __init__(self, options):
        self.kernelab = os.path.join(os.path.abspath(options.build), "tools/kernelab")
        self.arguments = ["default", str(options.steps), str(options.layers)]
        self.parse = os.path.abspath(getattr(options, "with"))
        self.limit = options.limit
        self.rows = {}  # tool: (runs, bytes, launches)

    def plain(self, env):
        self.add("nothing", run([sys.executable, TRAIN, *self.arguments], env), 0, None)

    def captured(self, top, env, name, *options):
        out = tempfile.mkdtemp(dir=top)
        done = run([self.kernelab, "capture", "-o", out, *options, "--", sys.executable, TRAIN, *self.arguments], env)
        self.add(name, done, size_of(out), launches_seen(self.kernelab, out))

    def traced(self, top, name, blobs):
        out, cache = tempfile.mkdtemp(dir=top), tempfile.mkdtemp(dir=top)
        path = os.pathsep.join(filter(None, [self.parse, os.environ.get("PYTHONPATH")]))
        env = {**caches(cache), "PYTHONPATH": path, "TORCHINDUCTOR_RUN_JIT_POST_COMPILE_HOOK": "1"}
        done = run([sys.executable, os.path.abspath(__file__), "--child", out, "blobs" if blobs else "trace",
                    *self.arguments], env, self.limit)
        self.add(name, done, size_of(out), launches_traced(out))

    def add(self, name, done, size, launches):
        runs, _, _ = self.rows.get(name, ([], 0, 0))
        self.rows[name] = (runs + [done], size, launches)
        print(name, done or f"given up after {self.limit} s", size, launches, file=sys.stderr, flush=True)

    def table(self):
        base = statistics.median(r["step"] for r in self.rows["nothing"][0]) if "nothing" in self.rows else None
        total = self.rows["kernelab capture"][2] if "kernelab capture" in self.rows else None
        print("| with | runs | first step | later steps, median | added | bytes | Triton launches seen | loss |")
        print("|---|--:|--:|--:|--:|--:|--:|---|")
        for name, (runs, size, launches) in self.rows.items():
            share = "" if launches is None else str(launches)
            if launches is not None and total:
                share += f" of {total} ({100 * launches / total:.1f} %)"
            if None in runs:
                print(f"| {name} | {len(runs)} | given up after {self.limit} s | | | {size / 1e6:.1f} MB | {share} | |")
                continue
            step = statistics.median(r["step"] for r in runs)
            added = f"{step - base:+.2f} ms ({100 * (step / base - 1):+.1f} %)" if base else ""
            losses = " ".join(sorted({r["loss"] for r in runs}))
            print(f"| {name} | {len(runs)} | {statistics.median(r['first'] for r in runs):.1f} s | {step:.2f} ms | "
                  f"{added} | {size / 1e6:.1f} MB | {share} | {losses} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--with", required=True)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--rows", default="nothing,kernelab,no-data,trace,blobs")
    parser.add_argument("--limit", type=int, default=600)
    options = parser.parse_args()
    comparison, rows = Comparison(options), options.rows.split(",")
    with tempfile.TemporaryDirectory() as top:
        env = caches(os.path.join(top, "caches"))
        if {"nothing", "kernelab", "no-data"} & set(rows):
            run([sys.executable, TRAIN, "default", "4", str(options.layers)], env)  # fills them
        for _ in range(options.rounds):
            if "nothing" in rows:
                comparison.plain(env)
            if "kernelab" in rows:
                comparison.captured(top, env, "kernelab capture")
        if "no-data" in rows:
            comparison.captured(top, env, "kernelab capture --no-data", "--no-data")
        if "trace" in rows:
            comparison.traced(top, "tritonparse, launch tracing", False)
        if "blobs" in rows:
            comparison.traced(top, "tritonparse, first launch of a kernel with tensor blobs", True)
        comparison.table()


if sys.argv[1:2] == ["--child"]:
    traced(sys.argv[2], sys.argv[3] == "blobs", sys.argv[4:])
else:
    main()
