# SPDX-License-Identifier: MIT
"""Replays in parts: the table of pairs and its rules, shards, what is missing of them."""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "apps"))
from whole_tool import DATA, Tool  # noqa: E402

tool = Tool(sys.argv[1])
for name in "SLURM_ARRAY_TASK_ID", "RANK", "WORLD_SIZE":
    os.environ.pop(name, None)


def replay(a, b, *options, status=0, **environment):
    return tool.run([tool.kernelab, "replay", a, "--b", b, "--device", "soft", *options], status,
                    **environment)


def analyze(results, report, status):
    return tool.run([tool.kernelab, "analyze", *results, "--json", report], status)


def verdicts(report):
    """What a report says of each config and launch."""
    with open(report, encoding="utf-8") as f:
        families = json.load(f)["families"]
    return sorted((f["name"], f["bucket"], f["coverage"]["launches_tested"],
                   [(c["key"], c["bucket"], c["pairing"], sorted(x["launch"] for x in c["cases"]))
                    for c in f["configs"]]) for f in families)


def table(done):
    rows = [line.split("\t") for line in done.stdout.splitlines() if not line.startswith("# ")]
    tool.expect(rows and rows[0][0] == "#family" and all(len(r) == 8 for r in rows), done.stdout)
    return rows[1:]


def check_pairs(tmp, a, b):
    rows = table(replay(a, b, "--pairs"))
    tool.expect({r[3] for r in rows} <= {"exact", "source changed"}, f"pairings: {rows}")
    matmul = [r for r in rows if r[0] == "matmul"]
    tool.expect(len(matmul) == 3 and all(r[1] != "-" and r[7] == "-" for r in matmul), f"{matmul}")

    # Its own output is a rule file that changes nothing but the word.
    with open(f"{tmp}/rules.tsv", "w", encoding="utf-8") as f:
        f.write(replay(a, b, "--pairs").stdout)
    again = table(replay(a, b, "--pairs", "--pair", f"{tmp}/rules.tsv"))
    tool.expect([r[:3] for r in again] == [r[:3] for r in rows], "rules changed the pairs")
    tool.expect({r[3] for r in again} == {"by rule"}, f"{again}")

    # Two configs of matmul exchanged by their first digits, one without a partner.
    one, two, three = matmul
    with open(f"{tmp}/swap.tsv", "w", encoding="utf-8") as f:
        f.write(f"# exchanged\n\nmatmul\t{one[1][:12]}\t{two[2][:12]}\nmatmul\t{two[1]}\t{one[2]}\n"
                f"matmul\t{three[1]}\t-\n")
    swapped = [r for r in table(replay(a, b, "--pairs", "--pair", f"{tmp}/swap.tsv"))
               if r[0] == "matmul"]
    tool.expect([r[2] for r in swapped[:3]] == [two[2], one[2], "-"], f"{swapped}")
    tool.expect("line 5" in swapped[2][7], f"{swapped}")

    wrong = {"matmul\tzz\t-": "line 1", f"\nmatmul\t{one[1]}\t00000000": "line 2",
             f"adam\t{one[1]}\t-": "0 configs", f"matmul {one[1]} -": "tabs",
             f"matmul\t{one[1]}\t-\nmatmul\t{one[1]}\t-": "line 1 too"}
    for text, words in wrong.items():
        with open(f"{tmp}/wrong.tsv", "w", encoding="utf-8") as f:
            f.write(text + "\n")
        done = replay(a, b, "--pairs", "--pair", f"{tmp}/wrong.tsv", status=2)
        tool.expect("wrong.tsv, line" in done.stderr and words in done.stderr,
                    f"{text!r}: {done.stderr}")
    done = replay(a, b, "--pairs", "--pair", f"{tmp}/none.tsv", status=2)
    tool.expect("none.tsv" in done.stderr, done.stderr)

    # Every listed kernel must have a result.
    with open(f"{tmp}/suite.json", "w", encoding="utf-8") as f:
        f.write(tool.run([tool.kernelab, "ls", "--json", a], 0).stdout)
    diff = [tool.kernelab, "diff", a, "--b", b, "--device", "soft", "--trials", "none"]
    tool.run([*diff, "--suite", f"{tmp}/suite.json"], 0)
    done = tool.run([*diff, "--suite", f"{tmp}/suite.json", "--family", "^adam$"], 2)
    tool.expect("no result of bias_gelu" in done.stderr and "16 of 17" in done.stderr, done.stderr)
    with open(f"{tmp}/suite.json", encoding="utf-8") as f:
        suite = json.load(f)
    suite["families"] = [f for f in suite["families"] if f["name"] == "adam"]
    with open(f"{tmp}/adam.json", "w", encoding="utf-8") as f:
        json.dump(suite, f)
    tool.run([*diff, "--suite", f"{tmp}/adam.json", "--family", "^adam$"], 0)
    done = tool.run([*diff, "--suite", f"{tmp}/rules.tsv"], 2)
    tool.expect("rules.tsv" in done.stderr, done.stderr)

    done = replay(a, b, "--dry-run")
    tool.expect("device memory for the largest" in done.stdout, done.stdout)


def check_shards(tmp, a, b):
    replay(a, b, "-o", f"{tmp}/whole.klab")
    analyze([f"{tmp}/whole.klab"], f"{tmp}/whole.json", 0)
    parts = [f"{tmp}/part{i}.klab" for i in range(3)]
    replay(a, b, "-o", parts[0], "--shard", "0/3")
    # An array of tasks 4 to 6.
    replay(a, b, "-o", parts[1], SLURM_ARRAY_TASK_ID="5", SLURM_ARRAY_TASK_MIN="4",
           SLURM_ARRAY_TASK_MAX="6", SLURM_ARRAY_TASK_COUNT="3")
    replay(a, b, "-o", parts[2], "--shard", "rank", RANK="2", WORLD_SIZE="3")
    analyze(parts, f"{tmp}/parts.json", 0)
    tool.expect(verdicts(f"{tmp}/parts.json") == verdicts(f"{tmp}/whole.json"),
                f"shards: {verdicts(f'{tmp}/parts.json')}\nwhole: {verdicts(f'{tmp}/whole.json')}")

    done = analyze([parts[0], parts[2]], f"{tmp}/two.json", 2)
    tool.expect("shard 1/3 is missing" in done.stdout + done.stderr, done.stdout + done.stderr)
    replay(a, b, "-o", f"{tmp}/half.klab", "--shard", "0/2")
    done = analyze([*parts, f"{tmp}/half.klab"], f"{tmp}/mixed.json", 2)
    tool.expect("cut differently" in done.stdout + done.stderr, done.stdout + done.stderr)

    # The other half, but of a replay with other trials.
    replay(a, b, "-o", f"{tmp}/other.klab", "--shard", "1/2", "--repeats", "4")
    done = analyze([f"{tmp}/half.klab", f"{tmp}/other.klab"], f"{tmp}/mixed.json", 2)
    for text in (f"shard 1/2 is missing of the replay of {tmp}/half.klab",
                 f"shard 0/2 is missing of the replay of {tmp}/other.klab"):
        tool.expect(text in done.stdout + done.stderr, done.stdout + done.stderr)

    # A diff judges at once: an array's task number is no reason to run a part of it.
    tool.run([tool.kernelab, "diff", a, "--b", b, "--device", "soft", "--family", "^adam$"], 0,
             SLURM_ARRAY_TASK_ID="5", SLURM_ARRAY_TASK_MIN="4", SLURM_ARRAY_TASK_COUNT="3")
    for text in "3/3", "1", "-1/2", "0/0", "a/b", "1/2/3", "rank":
        done = replay(a, b, "--dry-run", "--shard", text, status=2)
        tool.expect("--shard" in done.stderr, done.stderr)
    done = replay(a, b, "--dry-run", status=2, SLURM_ARRAY_TASK_ID="5", SLURM_ARRAY_TASK_MIN="1",
                  SLURM_ARRAY_TASK_MAX="9", SLURM_ARRAY_TASK_COUNT="3")
    tool.expect("without gaps" in done.stderr, done.stderr)


def check_resume(tmp, a, b):
    """A result cut at any place, or interrupted, goes on to the same verdicts."""
    with open(f"{tmp}/whole.klab", "rb") as f:
        whole = f.read()
    for share in 0.3, 0.8:
        cut = f"{tmp}/cut{share}.klab"
        with open(cut, "wb") as f:
            f.write(whole[:int(len(whole) * share)])
        analyze([cut], f"{tmp}/cut.json", 2)
        done = replay(a, b, "-o", cut, status=2)
        tool.expect("--resume" in done.stderr, done.stderr)
        replay(a, b, "-o", cut, "--resume")
        analyze([cut], f"{tmp}/cut.json", 0)
        tool.expect(verdicts(f"{tmp}/cut.json") == verdicts(f"{tmp}/whole.json"),
                    f"resumed after {share}: {verdicts(f'{tmp}/cut.json')}")
        tool.run([tool.kernelab, "verify", cut], 0)
    # Nothing is left to do: no worker is needed, and nothing is lost.
    done = replay(a, b, "-o", cut, "--resume", KERNELAB_SOFTGPU_LOG="quiet")
    analyze([cut], f"{tmp}/cut.json", 0)
    tool.expect(verdicts(f"{tmp}/cut.json") == verdicts(f"{tmp}/whole.json"), "resumed twice")
    tool.expect(not os.path.exists(f"{cut}.resumed"), "a temporary file is left")
    # Another replay's result, and what is none.
    for options in ["--repeats", "4"], ["--shard", "0/2"], ["--family", "^adam$"]:
        done = replay(a, b, "-o", cut, "--resume", *options, status=2)
        tool.expect("another replay" in done.stderr, f"{options}: {done.stderr}")
    analyze([cut], f"{tmp}/cut.json", 0)
    replay(a, b, "-o", f"{tmp}/fresh.klab", "--resume", "--family", "^adam$")
    analyze([f"{tmp}/fresh.klab"], f"{tmp}/fresh.json", 0)


with tempfile.TemporaryDirectory(prefix="kernelab-parts-") as scratch:
    tool.capture(f"{scratch}/a", "a", steps=1)
    tool.capture(f"{scratch}/b", "b", steps=1, options=["--no-data"])
    check_pairs(scratch, f"{scratch}/a", f"{scratch}/b")
    check_shards(scratch, f"{scratch}/a", f"{scratch}/b")
    check_resume(scratch, f"{scratch}/a", f"{scratch}/b")
tool.finish()
