# SPDX-License-Identifier: MIT
"""Does an autotuner choose the same configs with and without a capture? Needs a GPU and PyTorch.

usage: winner.py BUILD_DIR [--runs N] [--parts LIST] [--json FILE]
    --runs N      times that each kernel is tuned, with and without (default 5)
    --parts LIST  of triton, pointwise, gemm (default: all): kernels of triton.autotune; Inductor's pointwise and reduction
                  kernels (max_autotune_pointwise); its GEMM templates against cuBLAS (max_autotune_gemm)
    --json FILE   all winners
Two programs, one of them under kernelab capture, tune the kernels in turns, each time in a new process (a fork, made before
CUDA was touched) and on the same compiled kernels; no winner is kept between these. Timing decides, so a program need not
agree with itself: what counts is whether capture changes how often which config wins.
"""
import argparse
import collections
import gc
import json
import os
import subprocess
import sys
import tempfile

PARTS = ("triton", "pointwise", "gemm")


def forget_winners():
    import torch._functorch.config
    import torch._inductor.config
    torch._inductor.config.autotune_local_cache = False
    torch._inductor.config.fx_graph_cache = False
    torch._functorch.config.enable_autograd_cache = False


def pointwise(winners):
    import torch
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner
    layernorm = torch.nn.functional.layer_norm
    functions = {
        "layernorm": (lambda x: layernorm(x, x.shape[-1:]), (2048, 4096)),
        "softmax": (lambda x: torch.softmax(x * 2, -1), (4096, 1000)),
        "transpose": (lambda x: (x.t() + 1).contiguous(), (4096, 2048)),
        "column sums": (lambda x: (x * x).sum(0), (8192, 1024)),
    }
    seen = []  # kept alive: identity is what tells them apart
    for name, (function, shape) in functions.items():
        torch._dynamo.reset()
        torch.compile(function, options={"max_autotune_pointwise": True})(torch.randn(shape, device="cuda"))
        torch.cuda.synchronize()
        for tuner in [o for o in gc.get_objects() if issubclass(type(o), CachingAutotuner)]:
            if any(tuner is other for other in seen):
                continue
            seen.append(tuner)
            known = len(tuner.configs or ()) or len(getattr(tuner, "compile_results", ()))
            if len(tuner.launchers) == 1:
                winners[f"{name}: {tuner.fn.__name__} ({known} configs)"] = str(tuner.launchers[0].config)


def gemm(winners):
    import torch
    from torch._inductor import select_algorithm

    def note(timings, name, nodes, *_):
        best = min(timings, key=timings.get)
        shapes = " @ ".join("x".join(str(s) for s in node.get_size()) for node in nodes)
        winners[f"{name} {shapes} {nodes[0].get_dtype()} ({len(timings)} choices)"] = best.description or best.name

    select_algorithm.add_feedback_saver(note)
    for m, n, k, dtype in [(1024, 1024, 1024, torch.float16), (512, 2048, 4096, torch.bfloat16)]:
        torch._dynamo.reset()
        a, b = torch.randn(m, k, device="cuda", dtype=dtype), torch.randn(k, n, device="cuda", dtype=dtype)
        torch.compile(lambda a, b: a @ b, options={"max_autotune_gemm": True})(a, b)
    torch.cuda.synchronize()


def triton(winners):
    import matmul_tuned
    import torch
    for m, n, k, dtype in [(1024, 1024, 1024, "float16"), (2048, 2048, 512, "bfloat16"), (500, 300, 200, "float32")]:
        matmul_tuned.matmul(m, n, k, getattr(torch, dtype))
        winners[f"matmul {m}x{n}x{k} {dtype}"] = str(matmul_tuned.matmul_k.best_config)


def tune(parts):
    import torch
    torch.manual_seed(0)
    winners = {}
    for part in parts:
        {"triton": triton, "pointwise": pointwise, "gemm": gemm}[part](winners)
    print(json.dumps(winners), flush=True)


def serve(parts):
    """Tunes once, in a fork, for each line of standard input."""
    import matmul_tuned  # noqa: F401  slow to import, and without CUDA: before the forks
    import torch._dynamo  # noqa: F401  torch._inductor asks for a GPU
    for _ in sys.stdin:
        child = os.fork()
        if not child:
            tune(parts)
            return
        status = os.waitpid(child, 0)[1]
        if status:
            sys.exit(f"tuning ended with status {status}")


class Program:
    """This file in another process, under `prefix`: what is --serve or --once."""

    def __init__(self, prefix, what, parts, env):
        self.process = subprocess.Popen([*prefix, sys.executable, os.path.abspath(__file__), what, parts], text=True,
                                        env=dict(os.environ, **env), stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self):
        print(file=self.process.stdin, flush=True)

    def answer(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        return sys.exit("a tuning program has ended: see above")

    def end(self):
        self.process.stdin.close()
        if self.process.wait():
            sys.exit(f"a tuning program ended with status {self.process.returncode}")


def compare(plain, captured):
    """(row texts, kernels that are the same throughout, those that vary without capture, those with a winner that no run
    without had)"""
    rows, same, vary, new = [], 0, 0, 0
    for kernel in plain[0]:
        without = collections.Counter(run.get(kernel, "not run") for run in plain)
        having = collections.Counter(run.get(kernel, "not run") for run in captured)
        same += len(without | having) == 1
        vary += len(without) > 1
        new += bool(set(having) - set(without))
        counts = [", ".join(f"{n}× {config}" for config, n in c.most_common()) for c in (without, having)]
        rows.append(f"| {kernel} | {counts[0]} | {counts[1] if counts[1] != counts[0] else 'the same'} |")
    return rows, same, vary, new


def alternate(kernelab, runs, parts, folder):
    env = {"TRITON_CACHE_DIR": f"{folder}/triton", "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor"}
    fill = [Program([], "--once", part, env) for part in parts]  # beside each other: this is for compilation only
    for program in fill:
        program.answer()
        program.end()
    env["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    plain, captured = [], []
    under = [kernelab, "capture", "-o", f"{folder}/out", "--"]
    servers = (Program([], "--serve", ",".join(parts), env), plain), (Program(under, "--serve", ",".join(parts), env), captured)
    for n in range(runs):
        for server, winners in servers if n % 2 == 0 else servers[::-1]:
            server.ask()
            winners.append(server.answer())
        print(json.dumps({"without": plain[-1], "with": captured[-1]}), file=sys.stderr, flush=True)
    for server, _ in servers:
        server.end()
    return plain, captured


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--json")
    options = parser.parse_args()
    parts = options.parts.split(",")
    if not set(parts) <= set(PARTS):
        parser.error(f"--parts: of {', '.join(PARTS)}")
    kernelab = os.path.join(os.path.abspath(options.build), "tools/kernelab")
    with tempfile.TemporaryDirectory() as folder:
        plain, captured = alternate(kernelab, options.runs, parts, folder)
    rows, same, vary, new = compare(plain, captured)
    print("| kernel | winners without | winners with capture |\n|---|---|---|")
    print("\n".join(rows))
    print(f"\n{len(rows)} kernels, {options.runs} runs each: {same} have one winner in all runs; {vary} vary without capture; "
          f"{new} have with capture one that no run without had.")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as f:
            json.dump({"without": plain, "with": captured}, f, indent=1)


if sys.argv[1:2] in (["--serve"], ["--once"]):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/gpu"))
    forget_winners()
    (serve if sys.argv[1] == "--serve" else tune)(sys.argv[2].split(","))
else:
    main()
