# SPDX-License-Identifier: MIT
"""Does an autotuner choose the same configs with and without a capture? Needs a GPU and PyTorch.

usage: winner.py BUILD_DIR [--runs N] [--triton-only] [--json FILE]
Runs a program with triton.autotune kernels and Inductor's pointwise and reduction kernels (max_autotune_pointwise)
N times without and N times with kernelab capture, alternating, on the same compiled kernels; no winner is kept between
runs. Timing decides, so a program need not agree with itself: what counts is whether capture changes how often which
config wins.
"""
import argparse
import collections
import gc
import json
import os
import subprocess
import sys
import tempfile


def inductor_winners(winners):
    import torch
    import torch._inductor.config
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner
    torch._inductor.config.max_autotune_pointwise = True
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
        torch.compile(function)(torch.randn(shape, device="cuda"))
        torch.cuda.synchronize()
        for tuner in [o for o in gc.get_objects() if issubclass(type(o), CachingAutotuner)]:
            if any(tuner is other for other in seen):
                continue
            seen.append(tuner)
            known = len(tuner.configs or ()) or len(getattr(tuner, "compile_results", ()))
            if len(tuner.launchers) == 1:
                winners[f"{name}: {tuner.fn.__name__} ({known} configs)"] = str(tuner.launchers[0].config)


def program():
    import torch
    import triton
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/gpu"))
    import matmul_tuned
    torch.manual_seed(0)
    winners = {}
    for m, n, k, dtype in [(1024, 1024, 1024, "float16"), (2048, 2048, 512, "bfloat16"), (500, 300, 200, "float32")]:
        matmul_tuned.matmul(m, n, k, getattr(torch, dtype))
        winners[f"matmul {m}x{n}x{k} {dtype}"] = str(matmul_tuned.matmul_k.best_config)
    if "--triton-only" not in sys.argv:
        inductor_winners(winners)
    print(json.dumps({"triton": triton.__version__, "torch": torch.__version__, "winners": winners}))


def run(command, env):
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, **env))
    if done.returncode:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout.strip().split("\n")[-1])["winners"]


def compare(plain, captured):
    """(row texts, kernels that are the same throughout, kernels whose winners with are not all among those without)"""
    rows, same, new = [], 0, 0
    for kernel in plain[0]:
        without = collections.Counter(run.get(kernel, "not run") for run in plain)
        having = collections.Counter(run.get(kernel, "not run") for run in captured)
        same += len(without | having) == 1
        new += bool(set(having) - set(without))
        counts = [", ".join(f"{n}× {config}" for config, n in c.most_common()) for c in (without, having)]
        rows.append(f"| {kernel} | {counts[0]} | {counts[1] if counts[1] != counts[0] else 'the same'} |")
    return rows, same, new


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--triton-only", action="store_true", help="leave Inductor's kernels out")
    parser.add_argument("--json")
    options = parser.parse_args()
    kernelab = os.path.join(os.path.abspath(options.build), "tools/kernelab")
    command = [sys.executable, os.path.abspath(__file__), "--program"]
    command += ["--triton-only"] if options.triton_only else []
    with tempfile.TemporaryDirectory() as caches:
        env = {"TRITON_CACHE_DIR": f"{caches}/triton", "TORCHINDUCTOR_CACHE_DIR": caches,
               "TORCHINDUCTOR_AUTOTUNE_LOCAL_CACHE": "0"}
        run(command, env)  # fills the caches
        plain, captured = [], []
        for n in range(options.runs):
            plain.append(run(command, env))
            captured.append(run([kernelab, "capture", "-o", f"{caches}/out{n}", "--", *command], env))
            print(json.dumps({"without": plain[-1], "with": captured[-1]}), file=sys.stderr, flush=True)
    rows, same, new = compare(plain, captured)
    print("| kernel | winners without | winners with capture |\n|---|---|---|")
    print("\n".join(rows))
    print(f"\n{len(rows)} kernels, {options.runs} runs each: {same} have one winner in all runs; {new} have with capture "
          "one that no run without had.")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as f:
            json.dump({"without": plain, "with": captured}, f, indent=1)


if sys.argv[1:2] == ["--program"]:
    program()
else:
    main()
