# SPDX-License-Identifier: MIT
"""Two ranks of torchrun under one capture: test_ranks.py KERNELAB

With fewer than two GPUs both ranks use the one, over gloo. Exit status 77 without a GPU, PyTorch or torchrun.
"""
import concurrent.futures
import json
import os
import shutil
import sys
import tempfile

from gpu_test import HERE, finish, need_torch, problems, run, skip

kernelab = os.path.abspath(sys.argv[1])
need_torch()
if not shutil.which("torchrun"):
    skip("torchrun")


def lines(done):
    """What the ranks print: which of them is first is chance."""
    return sorted(done.stdout.split("\n"))


def check_suite(name, without_contents):
    """Both ranks as one run; of which of them contents are recorded."""
    suite = json.loads(run(kernelab, "ls", "--json", name).stdout)
    facts = [{fact["name"]: fact["value"] for fact in bundle["facts"]} for bundle in suite["bundles"]]
    for bundle, f in zip(suite["bundles"], facts):
        print(bundle["path"], bundle["complete"], f.get("rank"), f.get("capture.rank"))
    ranks = sorted(f.get("rank", "none") for f in facts)
    if ranks != ["RANK=0", "RANK=1"] or not all(bundle["complete"] for bundle in suite["bundles"]):
        problems.append(f"{name}: bundles of {ranks}")
    left_out = [f.get("rank") for f in facts if f.get("capture.rank") == "without contents"]
    if left_out != without_contents:
        problems.append(f"{name}: without contents {left_out}")
    print(name, len(suite["families"]), "families,", suite["seen"], "seen,", suite["recorded"], "recorded,",
          sum(image["constexprs"] is not None for f in suite["families"] for c in f["configs"] for image in c["images"]),
          "images with notes")


def check_replay(name):
    """Bundles of both ranks in one replay: (launches, tested ones)."""
    run(kernelab, "diff", name, "--b", "recorded", "--json", name + ".json", statuses=(0, 1))
    families = json.load(open(name + ".json", encoding="utf-8"))["families"]
    total = {key: sum(f["coverage"][key] for f in families)
             for key in ("launches", "launches_tested", "faithful", "nondeterministic", "unfaithful")}
    print(name, total, "buckets", sorted(f["bucket"] for f in families))
    if not total["launches"] or total["faithful"] + total["nondeterministic"] != total["launches_tested"]:
        problems.append(f"{name}: {[(f['name'], f['coverage']) for f in families]}")
    for f in families:
        if f["bucket"] != 1 and not f["nondeterministic"]:
            problems.append(f"{name}: {f['name']} in bucket {f['bucket']} against itself")
    return total["launches"], total["launches_tested"]


with tempfile.TemporaryDirectory() as top:
    caches = {"TRITON_CACHE_DIR": os.path.join(top, "triton"), "TORCHINDUCTOR_CACHE_DIR": os.path.join(top, "inductor")}
    torchrun = ["torchrun", "--standalone", "--nproc-per-node", "2", os.path.join(HERE, "train.py"), "compile"]
    both, one = os.path.join(top, "both"), os.path.join(top, "one")
    captured = run(kernelab, "capture", "-o", both, "--", *torchrun, **caches)
    print(captured.stderr.strip().split("\n")[-1])
    with concurrent.futures.ThreadPoolExecutor() as pool:
        plain = pool.submit(run, *torchrun, **caches)
        single = pool.submit(run, kernelab, "capture", "-o", one, "--ranks", "0", "--", *torchrun, **caches)
        plain, single = plain.result(), single.result()
    print(plain.stdout)
    if plain.stdout.count("step 5 ") != 2:
        problems.append(f"printed {plain.stdout!r}")
    for name, done in (("captured", captured), ("--ranks 0", single)):
        if lines(done) != lines(plain):
            problems.append(f"{name}: {done.stdout!r} instead of {plain.stdout!r}")
    if not problems:
        check_suite(both, [])
        check_suite(one, ["RANK=1"])
        one_of, one_tested = check_replay(one)
        both_of, both_tested = check_replay(both)
        if both_tested != both_of or not 0 < one_tested < one_of:
            problems.append(f"tested {both_tested} of {both_of} of two ranks, {one_tested} of {one_of} with contents of one")
finish()
