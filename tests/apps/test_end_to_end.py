# SPDX-License-Identifier: MIT
"""The whole tool on the training program: A against A, and the demo's A against B."""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

import whole_tool

if len(sys.argv) != 2:
    sys.exit("usage: test_end_to_end.py BUILD_DIR")
tool = whole_tool.Tool(sys.argv[1])

# Launches of a step: 6 products, 4 transposes, 4 column sums, 2 casts (aligned and not), one of each
# other family. Recorded is the first of each image and shape class: 18 products (3 configs), 4
# transposes, 2 column sums (three of the four are alike), 2 casts and 11 others. Seen: the first step
# sweeps 6 shapes × 3 configs × 3 launches.
RECORDED = {"matmul": 18, "transpose": 4, "column_sum": 2, "cast_bf16": 2}
STEPS = 4
SEEN = STEPS * (6 + 4 + 4 + 2 + 11) + 6 * 3 * 3


def check_suite(bundle):
    """`ls` shows every family with its source, arguments, configs and counts of launches."""
    suite = json.loads(tool.run([tool.kernelab, "ls", "--json", bundle], 0).stdout)
    families = {f["name"]: f for f in suite["families"]}
    tool.expect(families.keys() == whole_tool.FAMILIES and
                len(families) == len(suite["families"]), f"ls names {sorted(families)}")
    tool.expect(suite["seen"] == SEEN, f"ls: {suite['seen']} launches seen, expected {SEEN}")
    for name, family in families.items():
        want = RECORDED.get(name, 1)
        tool.expect(family["recorded"] == want,
                    f"ls: {name}: {family['recorded']} launches recorded, expected {want}")
        tool.expect(family["origin"] == "triton" and family["source"].endswith("kernels.py"),
                    f"ls: {name}: origin {family['origin']}, source {family['source']}")
    matmul = families.get("matmul", {"args": [], "configs": []})
    tool.expect([a["name"] for a in matmul["args"]] ==
                ["a", "b", "c", "M", "N", "K", "lda", "ldb", "ldc"], "ls: matmul's arguments")
    tool.expect(len(matmul["configs"]) == 3, "ls: matmul has not three configs")


def check_plain_output(done):
    """A captured run prints what a plain run prints."""
    plain = tool.run([tool.train, "--config", "0", "--steps", str(STEPS), "--kernels",
                      os.path.join(whole_tool.DATA, "a")], 0,
                     LD_LIBRARY_PATH=os.path.join(tool.build, "softgpu"))
    tool.expect(plain.stdout == done.stdout and plain.stdout.count("\n") == STEPS,
                f"stdout under capture differs:\n{done.stdout}{plain.stdout}")


def check_launches(families):
    for name, family in families.items():
        launches = family["coverage"]["launches"]
        want = RECORDED.get(name, 1)
        tool.expect(launches == want, f"{name}: {launches} launches replayed, expected {want}")
    tool.expect(families["matmul"]["coverage"]["configs"] == 3, "matmul has not three configs")


def a_against_a(folder):
    a = os.path.join(folder, "a")
    check_plain_output(tool.capture(a, "a", steps=STEPS))
    check_suite(a)
    report, families, _ = tool.diff(a, "recorded", os.path.join(folder, "aa.json"), 0)
    tool.expect(families.keys() == whole_tool.FAMILIES, f"A against A names {sorted(families)}")
    tool.check_proved(families)
    check_launches(families)
    for name, family in families.items():
        tool.expect(family["bucket"] == 1, f"A against A: {name} is in bucket {family['bucket']}: "
                    f"{family['evidence']}")
    tool.expect("PTX level" in (report["device"]["mark"] or ""), "no mark of the software device")


def killed_replay(folder):
    """What a replay had done when it was killed is judged; the rest is untested."""
    result = os.path.join(folder, "whole.klab")
    tool.run([tool.kernelab, "replay", os.path.join(folder, "a"), "--b", "recorded", "-o", result,
              "--device", "soft"], 0)
    with open(result, "rb") as f:
        data = f.read()
    for i in range(2, 8):
        with open(os.path.join(folder, "cut.klab"), "wb") as f:
            f.write(data[:len(data) * i // 8])
        done = tool.run([tool.kernelab, "analyze", f.name, "--json", "-"], 2)
        if not done.stdout:
            tool.expect(False, f"a replay killed after {i}/8: {done.stderr}")
            continue
        report = json.loads(done.stdout)
        tool.expect(not report["complete"], f"killed after {i}/8 and called complete")
        tool.expect((i < 5 or report["counts"]["bitwise"]) and report["counts"]["unproven"],
                    f"a replay killed after {i}/8: {report['counts']}")


def demo(folder):
    out = os.path.join(folder, "demo")
    done = subprocess.run(["sh", os.path.join(whole_tool.HERE, "demo.sh"), tool.build, out, "soft"],
                          capture_output=True, text=True, timeout=900)
    tool.expect(done.returncode == 1, f"demo: status {done.returncode}, expected 1\n"
                f"{done.stdout}{done.stderr}")
    with open(os.path.join(out, "verdict.json"), encoding="utf-8") as f:
        report = json.load(f)
    families = {f["name"]: f for f in report["families"]}
    tool.expect(families.keys() == whole_tool.FAMILIES and
                len(report["families"]) == len(families), f"the demo names {sorted(families)}")
    tool.check_proved(families)
    buckets = {name: f["bucket"] for name, f in families.items()}
    print(sorted(buckets.items(), key=lambda item: (-item[1], item[0])))
    tool.expect(buckets.get("softmax_xent") == 3, "the dropped tail mask is not in bucket 3")
    tool.expect(buckets.get("matmul") == 3, "the dropped step of K in one config is not in bucket 3")
    scope = families["matmul"]["scope"]
    tool.expect(scope and scope["kind"] == "exact" and scope["clauses"][0]["with"] == "num_warps=2",
                f"the scope of a fault in one of three configs: {scope}")
    tool.expect(buckets.get("column_sum") == 2, "the reordered sum is not in bucket 2")
    for name in ("bias_gelu", "xent_bwd", "gelu_bwd", "adam", "cast_bf16"):
        tool.expect(buckets.get(name) == 1, f"{name}: same PTX and machine code, not in bucket 1")
    tool.expect(report["counts"]["suspicious"] == 2 and not report["counts"]["unproven"],
                f"the demo's counts: {report['counts']}")
    tool.expect(not report["open_questions"], f"open questions: {report['open_questions']}")
    check_repro(folder, families)
    for name in families:
        tool.expect(re.search(rf"\b{name}\b", done.stdout), f"the demo's table lacks {name}")


def check_repro(folder, families):
    """The command beside the bug shows the bug again, alone."""
    worst = families["softmax_xent"]["worst"]
    tool.expect(worst["output"] == "loss", f"the bug's worst output is {worst['output']}")
    command = shlex.split(worst["repro"])
    verdict = os.path.join(folder, "repro.json")
    tool.run([tool.kernelab, *command[1:], "--device", "soft", "--json", verdict], 1)
    if os.path.exists(verdict):
        with open(verdict, encoding="utf-8") as f:
            again = json.load(f)["families"]
        tool.expect([(f["name"], f["bucket"]) for f in again] == [("softmax_xent", 3)],
                    f"the repro command says {[(f['name'], f['bucket']) for f in again]}")


with tempfile.TemporaryDirectory(prefix="kernelab-whole-") as temporary:
    a_against_a(temporary)
    killed_replay(temporary)
    demo(temporary)
tool.finish()
