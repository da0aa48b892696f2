# SPDX-License-Identifier: MIT
"""The same comparison as it is done by hand, and by kernelab: 100 launches x 2 sides x 4 configs.

usage: by_hand.py all BUILD_DIR PTXAS_A PTXAS_B   both ways, a Markdown table (needs a GPU, PyTorch, Triton)
       by_hand.py save DIR          inputs of 100 launches into files
       by_hand.py run DIR SIDE      loads them, runs every config, saves the outputs under DIR/SIDE
       by_hand.py compare DIR       loads outputs of a and b, counts what is equal
By hand each launch runs once a config and side: no repeats, no poison, no changed inputs, nothing restored.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

LAUNCHES = 100
CONFIGS = ((64, 64, 32, 4, 2), (128, 64, 32, 4, 3), (128, 128, 64, 8, 3), (64, 128, 64, 4, 4))


def shapes():
    return [(192 + i, 256, 320, "float16" if i % 2 else "bfloat16") for i in range(LAUNCHES)]


if sys.argv[1:2] == ["run"]:  # at the module's level: Triton looks names up there
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def matmul_by_hand(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
        rm = tl.program_id(0) * BM + tl.arange(0, BM)
        rn = tl.program_id(1) * BN + tl.arange(0, BN)
        rk = tl.arange(0, BK)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            left = K - k * BK
            a = tl.load(A + rm[:, None] * K + k * BK + rk[None, :],
                        mask=(rm[:, None] < M) & (rk[None, :] < left), other=0.)
            b = tl.load(B + (k * BK + rk[:, None]) * N + rn[None, :],
                        mask=(rk[:, None] < left) & (rn[None, :] < N), other=0.)
            acc += tl.dot(a, b)
        tl.store(C + rm[:, None] * N + rn[None, :], acc.to(C.dtype.element_ty),
                 mask=(rm[:, None] < M) & (rn[None, :] < N))


def save(folder):
    import torch
    torch.manual_seed(0)
    for i, (m, n, k, dtype) in enumerate(shapes()):
        kind = getattr(torch, dtype)
        torch.save((torch.randn(m, k).to(kind), torch.randn(k, n).to(kind)), f"{folder}/input{i}.pt")


def run(folder, side):
    os.makedirs(f"{folder}/{side}", exist_ok=True)
    for i, (m, n, k, _) in enumerate(shapes()):
        a, b = (t.cuda() for t in torch.load(f"{folder}/input{i}.pt"))
        outputs = []
        for bm, bn, bk, warps, stages in CONFIGS:
            c = torch.empty(m, n, device="cuda", dtype=a.dtype)
            matmul_by_hand[(-(-m // bm), -(-n // bn))](a, b, c, m, n, k, BM=bm, BN=bn, BK=bk, num_warps=warps,
                                                       num_stages=stages)
            outputs.append(c.cpu())
        torch.save(outputs, f"{folder}/{side}/output{i}.pt")


def compare(folder):
    import torch
    equal = 0
    for i in range(LAUNCHES):
        a, b = (torch.load(f"{folder}/{side}/output{i}.pt") for side in "ab")
        equal += sum(torch.equal(x, y) for x, y in zip(a, b))
    print(f"{equal} of {LAUNCHES * len(CONFIGS)} outputs are equal")


def timed(command, **environment):
    start = time.time()
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return time.time() - start, done.stdout + done.stderr


def both_ways(build, ptxas_a, ptxas_b):
    kernelab = os.path.join(os.path.abspath(build), "tools/kernelab")
    me = [sys.executable, os.path.abspath(__file__)]
    sides = {"a": ptxas_a, "b": ptxas_b}
    with tempfile.TemporaryDirectory() as folder:
        def env(side, way):
            return {"TRITON_PTXAS_PATH": sides[side], "TRITON_CACHE_DIR": f"{folder}/cache-{way}-{side}"}

        timed([*me, "save", folder])
        hand = [timed([*me, "run", folder, side], **env(side, "hand"))[0] for side in "ab"]
        again, _ = timed([*me, "run", folder, "a"], **env("a", "hand"))
        seconds, said = timed([*me, "compare", folder])
        record, text = timed([kernelab, "capture", "-o", f"{folder}/ka", "--", *me, "run", folder, "a"],
                             **env("a", "kernelab"))
        shadow, _ = timed([kernelab, "capture", "--no-data", "-o", f"{folder}/kb", "--", *me, "run", folder, "b"],
                          **env("b", "kernelab"))
        replay, told = timed([kernelab, "replay", f"{folder}/ka", "--b", f"{folder}/kb", "-o", f"{folder}/r.klab"])
        judge, _ = timed([kernelab, "analyze", f"{folder}/r.klab", "--json", f"{folder}/r.json"])
        with open(f"{folder}/r.json", encoding="utf-8") as f:
            report = json.load(f)
    cost, trials = report["replay_cost"], report["replay_cost"]["trials"]
    launches = 2 * LAUNCHES * len(CONFIGS)
    print("| what | s | launches | a second |\n|---|---|---|---|")
    print(f"| by hand: A, B (kernels compiled), compare | {hand[0]:.1f} + {hand[1]:.1f} + {seconds:.1f} | {launches} "
          f"| {launches / (sum(hand) + seconds):.0f} |")
    print(f"| by hand, one side, kernels compiled before | {again:.1f} | {launches // 2} | {launches / 2 / again:.0f} |")
    print(f"| kernelab capture of A, of B (--no-data) | {record:.1f} + {shadow:.1f} | | |")
    print(f"| kernelab replay, analyze | {replay:.1f} + {judge:.1f} | {cost['launches']:.0f} in {trials:.0f} trials "
          f"| {trials / replay:.0f} |")
    print(f"\nBy hand: {said.strip()}. kernelab: {json.dumps(report['counts'])}.")
    print("\n".join(line for line in (text + told).splitlines() if re.match("kernelab: ", line)))


if __name__ == "__main__":
    verbs = {"all": both_ways, "save": save, "run": run, "compare": compare}
    if len(sys.argv) < 3 or sys.argv[1] not in verbs:
        sys.exit(__doc__)
    verbs[sys.argv[1]](*sys.argv[2:])
