# SPDX-License-Identifier: MIT
"""--siblings: A compiled with other num_warps joins the noise floor, is never judged, and cannot hide a fault."""
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "apps"))
sys.path.insert(0, HERE)
import fake_triton  # noqa: E402
from whole_tool import DATA, Tool  # noqa: E402

tool = Tool(sys.argv[1])
EDITS = os.path.join(DATA, "edits")


def outputs(family):
    return [o for config in family["configs"] for case in config["cases"] for o in case["outputs"]]


def count(family, what):
    """The greatest count of synthetic siblings, used or left out, of an output that differs."""
    return max((o["recorded"][what] for o in outputs(family) if o["recorded"]), default=0)


with tempfile.TemporaryDirectory(prefix="kernelab-siblings-") as tmp:
    os.environ["TMPDIR"] = f"{tmp}/tmp"
    os.mkdir(f"{tmp}/tmp")
    # Its column_sum adds as a tree with other num_warps, its softmax_xent drops the tail's mask.
    os.environ.update(fake_triton.make(f"{tmp}/fake", os.path.join(DATA, "a"), {
        "column_sum": os.path.join(EDITS, "benign-column-sum-tree"),
        "softmax_xent": os.path.join(EDITS, "bug-softmax-tail-mask")}))
    a = f"{tmp}/a"
    tool.capture(a, "a", steps=1)
    for edit in "benign-column-sum-tree", "bug-softmax-tail-mask":
        tool.capture(f"{tmp}/{edit}", "a", [edit], ["--no-data"], steps=1)
    siblings = ["--siblings", sys.executable]

    # Recorded on both sides: nothing has another machine code, nothing is compiled.
    report, families, done = tool.diff(a, "recorded", f"{tmp}/same.json", 0, siblings)
    tool.check_proved(families)
    tool.expect(all(f["bucket"] == 1 for f in families.values()), "same kernels: not bitwise")

    b = f"{tmp}/benign-column-sum-tree"
    for more, used in ([], 0), (siblings, 2):
        report, families, done = tool.diff(a, b, f"{tmp}/{used}.json", 0, ["--family", "^column_sum$", *more])
        tool.check_proved(families)
        family = families["column_sum"]
        tool.expect(family["bucket"] == 2 and len(family["configs"]) == 1, f"column_sum: {family}")
        tool.expect(count(family, "synthetic_siblings") == used, f"{used} siblings: {json.dumps(family)}")
        said = [o["evidence"] for o in outputs(family)]
        tool.expect(any("2 synthetic siblings of A in the noise" in text for text in said) == bool(used), said)
    repro = [c["repro"] for f in report["families"] for k in f["configs"] for c in k["cases"]]
    tool.expect(repro and all("--siblings " in r for r in repro), f"repro: {repro}")

    # A sibling as wrong as B is no excuse for B.
    b = f"{tmp}/bug-softmax-tail-mask"
    report, families, done = tool.diff(a, b, f"{tmp}/bug.json", 1, ["--family", "^softmax_xent$", *siblings])
    family = families["softmax_xent"]
    tool.expect(family["bucket"] == 3, f"softmax_xent: {family}")
    tool.expect(not count(family, "synthetic_siblings") and count(family, "synthetic_siblings_left_out") == 2,
                f"siblings with the bug: {json.dumps(family)}")

    # What there will be, what the result says, parts that go on, and a Python that has no Triton.
    done = tool.run([tool.kernelab, "replay", a, "--b", b, *siblings, "--dry-run"], 0)
    lines = [line for line in done.stdout.splitlines() if "synthetic" in line]
    tool.expect(lines and all("2 synthetic siblings" in line for line in lines), done.stdout)
    result = f"{tmp}/r.klab"
    replay = [tool.kernelab, "replay", a, "--b", b, "-o", result, "--device", "soft", "--family", "^softmax_xent$"]
    tool.run([*replay, *siblings], 0)
    with open(result, "rb") as f:
        whole = f.read()
    tool.expect(b"1 images with num_warps halved and 1 with num_warps doubled" in whole, "no fact replay.siblings")
    with open(result, "wb") as f:
        f.write(whole[:len(whole) // 2])
    done = tool.run([*replay, "--resume"], 2)
    tool.expect("another" in done.stderr or "not the same" in done.stderr or "differ" in done.stderr, done.stderr)
    tool.run([*replay, *siblings, "--resume"], 0)
    os.unlink(result)
    done = tool.run([*replay, "--siblings", "/nonexistent/python"], 2)
    tool.expect("--siblings" in done.stderr and "/nonexistent/python" in done.stderr, done.stderr)
    # What Triton refuses goes on without.
    os.environ["OTHER"] = "{}"
    done = tool.run([*replay, *siblings], 0)
    tool.expect(re.search(r"--siblings, num_warps halved: .*KeyError", done.stderr), done.stderr)
    tool.expect(not os.listdir(f"{tmp}/tmp"), f"left over: {os.listdir(f'{tmp}/tmp')}")
tool.finish()
