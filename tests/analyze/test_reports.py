# SPDX-License-Identifier: MIT
"""kernelab analyze on made results: table, Markdown, JSON and its schema, exit status, bad input.

With KERNELAB_GOLDEN_WRITE=1 the golden files are written anew (look at the difference).
"""
import json
import os
import pty
import re
import stat
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import schema

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GOLDEN = os.path.join(ROOT, "tests", "data", "analyze")
kernelab, make_results = (os.path.abspath(a) for a in sys.argv[1:3])
problems = []


def expect(condition, message):
    if not condition:
        problems.append(message)


def analyze(*args, status=None):
    done = subprocess.run([kernelab, "analyze", *args], capture_output=True, text=True, timeout=60)
    if status is not None:
        expect(done.returncode == status, f"analyze {args}: status {done.returncode}, expected "
               f"{status}; {done.stderr}")
    return done


def golden(name, text):
    path = os.path.join(GOLDEN, name)
    if os.environ.get("KERNELAB_GOLDEN_WRITE") == "1":
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    with open(path, encoding="utf-8") as f:
        wanted = f.read()
    if text == wanted:
        return
    for mine, other in zip(text.splitlines(), wanted.splitlines()):
        if mine != other:
            problems.append(f"{name}: {mine!r} instead of {other!r}")
            return
    problems.append(f"{name}: {len(text)} characters instead of {len(wanted)}")


def check_table():
    done = analyze("gpu.klab", status=1)
    golden("gpu.txt", done.stdout)
    expect(done.stderr == "", f"stderr: {done.stderr}")
    expect("\033" not in done.stdout, "escape sequences although not on a terminal")
    for line in done.stdout.splitlines():
        if "repro:" not in line:
            expect(len(line) <= 100, f"{len(line)} columns: {line}")
    golden("soft.txt", analyze("soft.klab", status=0).stdout)


def read_all(fd):
    data = b""
    while True:
        try:
            part = os.read(fd, 65536)
        except OSError:
            return data
        if not part:
            return data
        data += part


def check_colour():
    for environment, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        master, slave = pty.openpty()
        env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        child = subprocess.Popen([kernelab, "analyze", "gpu.klab"], stdout=slave,
                                 stderr=subprocess.DEVNULL,
                                 env={**env, "TERM": "xterm", **environment})
        os.close(slave)
        data = read_all(master)
        child.wait()
        os.close(master)
        expect((b"\033[31m" in data) == coloured, f"colour on a terminal with {environment}")
        expect(b"\033[31m\xef" not in data, "a kernel's name sets the colour")


def read_json(*args, status):
    done = analyze(*args, "--json", "-", status=status)
    try:
        return json.loads(done.stdout)
    except ValueError as e:
        problems.append(f"analyze {args}: no JSON: {e}")
        return None


def check_json():
    with open(os.path.join(ROOT, "docs", "report.schema.json"), encoding="utf-8") as f:
        rules = json.load(f)
    for args, status in ((("gpu.klab",), 1), (("soft.klab",), 0), (("cut.klab",), 2)):
        report = read_json(*args, status=status)
        if report:
            problems.extend(schema.check(report, rules, rules))
    report = read_json("gpu.klab", status=1)
    expect(list(report)[:3] == ["schema", "tool_version", "results"], "key order")
    expect(report["counts"] == {"families": 9, "bitwise": 1, "small": 1, "suspicious": 7,
                                "unproven": 2, "accepted": 0}, f"counts: {report['counts']}")
    families = {f["name"]: f for f in report["families"]}
    expect(len(families) == 9, "a family is named twice")
    output = families["softmax_k"]["configs"][0]["cases"][0]["outputs"][0]
    expect(output["metrics"]["class_changes"] == [{"a": "finite", "b": "NaN", "count": 128}],
           f"class changes: {output['metrics']['class_changes']}")
    expect(output["metrics"]["nan"] == [0, 128] and len(output["metrics"]["top"]) == 5,
           "NaN counts or top elements")
    expect(output["metrics"]["top"][0]["severity"] == "+inf", "infinite severity")
    expect(families["never_k"]["configs"][0]["bucket"] is None, "untested config has a bucket")
    golden("gpu.json", json.dumps(families["matmul_k"], indent=1, ensure_ascii=False) + "\n")
    again = analyze("gpu.klab", "--json", "-").stdout
    expect(again == analyze("gpu.klab", "--json", "-").stdout, "two runs differ")
    # The checker itself sees what is wrong.
    for spoil in (lambda r: r.pop("counts"), lambda r: r.update(schema="kernelab-verdict/2"),
                  lambda r: r["families"][0].update(bucket=4),
                  lambda r: r["families"][0].update(extra=1),
                  lambda r: r["sides"]["A"].update(version=3),
                  lambda r: r["families"][0]["configs"][0].update(key="xyz")):
        bad = json.loads(again)
        spoil(bad)
        expect(schema.check(bad, rules, rules), "the schema checker lets a bad report pass")


def check_files():
    done = analyze("gpu.klab", "--json", "v.json", "--markdown", "v.md", status=1)
    golden("gpu.txt", done.stdout)
    with open("v.md", encoding="utf-8") as f:
        golden("gpu.md", f.read())
    with open("v.json", encoding="utf-8") as f:
        expect(json.load(f)["schema"] == "kernelab-verdict/1", "schema name")
    expect(analyze("gpu.klab", "--markdown", "-").stdout.startswith("## kernelab: 7 suspicious"),
           "Markdown on standard output")
    expect(not [n for n in os.listdir(".") if n.endswith(".tmp")], "temporary files are left")


def check_pipe():
    """What is no regular file is written to, not replaced: else root would lose /dev/null."""
    os.mkfifo("pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append(open("pipe", encoding="utf-8").read()), daemon=True)
    reader.start()
    done = analyze("gpu.klab", "--json", "pipe")
    reader.join(10)
    expect(stat.S_ISFIFO(os.stat("pipe").st_mode), "a pipe was replaced by a file")
    expect(got and json.loads(got[0])["schema"].startswith("kernelab-verdict"), f"through a pipe: {done.stderr}")
    os.unlink("pipe")


def check_explain():
    done = analyze("gpu.klab", "--explain", "^(softmax|matmul)_k$", status=1)
    golden("explain.txt", done.stdout)
    for line in done.stdout.splitlines():
        expect(len(line) <= 100, f"{len(line)} columns: {line}")
    for words in ("rule 3   classes", "fired: decides", "128, limit 0", "not asked",
                  "a trial of B failed where A runs through", "B/A 1.00"):
        expect(words in done.stdout, f"--explain lacks {words!r}")
    report = json.loads(analyze("gpu.klab", "--json", "-").stdout)
    family = next(f for f in report["families"] if f["name"] == "softmax_k")
    chain = {s["number"]: s for s in family["worst"]["chain"]}
    expect(chain["3"]["state"] == "fired" and chain["3"]["figure"] == 128
           and chain["int"]["state"] == "not asked" and chain["int"]["figure"] is None
           and chain["2"]["state"] == "not fired", f"chain: {chain}")
    expect(family["time_us"] == {"A": 10.0, "B": 10.0, "range_A": [10.0, 10.0], "range_B": [10.0, 10.0],
                                 "B_is": "equal", "launches": 1}, f"{family['time_us']}")
    for args, words in ((("--explain", "nothing"), "no family matches"),
                        (("--explain", "("), "--explain ("),
                        (("--explain", "k", "--json", "-"), "both")):
        done = analyze("gpu.klab", *args, status=2)
        expect(words in done.stderr, f"{args}: {done.stderr!r} lacks {words!r}")


def check_shape():
    """Rows and columns given by hand; the inference is shown."""
    args = ("gpu.klab", "--explain", "^dropped_tail_k$")
    expect("taken as 32 rows of 32 (flat" in analyze(*args, status=1).stdout, "no inference shown")
    for rule, words in (("dropped_tail_k.out_ptr=16x64", "taken as 16 rows of 64 (--shape dropped"),
                        ("dropped_tail_k.out_ptr=*x256", "taken as 4 rows of 256"),
                        ("dropped_tail_k.out_ptr=11x100", "taken as 11 rows of 100")):
        done = analyze(*args, "--shape", rule, status=1)
        expect(words in done.stdout, f"--shape {rule}: {done.stdout}")
    done = analyze(*args, "--shape", "dropped_tail_k.out_ptr=16x64", status=1)
    expect("only in row 1 of 16, column 13 of 64" in " ".join(done.stdout.split()), done.stdout)
    done = analyze("gpu.klab", "--shape", "dropped_tail_k.out_ptr=16x64", "--html", "-", status=1)
    expect("16 × 64 (--shape dropped_tail_k.out_ptr=16x64)" in done.stdout, "HTML without --shape")
    for rule, words in (("dropped_tail_k.out_ptr=16x63", "none of its 1 outputs"),
                        ("dropped_tail_k.x_ptr=16x64", "no kernel of that name has such an output"),
                        ("none.out_ptr=16x64", "no kernel of that name"),
                        ("dropped_tail_k=16x64", "KERNEL.ARG=MxN"), ("k.a=16", "KERNEL.ARG=MxN"),
                        ("k.a=0x64", "KERNEL.ARG=MxN"), ("k.a=16x0", "KERNEL.ARG=MxN"),
                        ("k.a=16x64x1", "KERNEL.ARG=MxN"), ("k.=1x1", "KERNEL.ARG=MxN"),
                        ("k.a=9999999999999999999x1", "KERNEL.ARG=MxN"),
                        ("k.a=999999999999999999x999", "KERNEL.ARG=MxN")):
        done = analyze("gpu.klab", "--shape", rule, "--json", "shape.json", status=2)
        expect(words in done.stderr and rule in done.stderr and done.stderr.count("\n") == 1,
               f"--shape {rule}: {done.stderr!r}")
    expect(not os.path.exists("shape.json"), "a report in spite of a bad --shape")


def write(path, data):
    with open(path, "w", encoding="utf-8") as f:
        json.dump(data, f)
    return path


def judge(*args, status):
    """JSON report, checked by the schema."""
    with open(os.path.join(ROOT, "docs", "report.schema.json"), encoding="utf-8") as f:
        rules = json.load(f)
    report = read_json(*args, status=status)
    problems.extend(f"{args}: {p}" for p in schema.check(report, rules, rules))
    return report


def check_policy():
    policy = {"policy": "kernelab-policy/1", "thresholds": {"noise": 0.5}}
    done = analyze("gpu.klab", "--policy", write("policy.json", policy), status=1)
    expect("Thresholds changed by policy policy.json:\n  noise: 0.5 instead of 1.52588e-05"
           in done.stdout, "the policy is not named")
    report = judge("gpu.klab", "--policy", "policy.json", status=1)
    families = {f["name"]: f for f in report["families"]}
    expect(families["dropped_tail_k"]["bucket"] == 2, "a wider limit changes nothing")
    noise = next(t for t in report["thresholds"] if t["name"] == "noise")
    expect(noise["value"] == 0.5 and abs(noise["default"] / 2 ** -16 - 1) < 1e-6, f"{noise}")
    for text, words in (('{"policy": "kernelab-policy/1", "thresholds": {"nois": 1}}', "'nois'"),
                        ('{"policy": "kernelab-policy/1", "thresholds": {"noise": "1"}}', "noise"),
                        ('{"policy": "kernelab-policy/1", "thresholds": {"noise": 0}}', "above 0"),
                        ('{"policy": "kernelab-policy/2", "thresholds": {}}', "kernelab-policy/1"),
                        ('{"policy": "kernelab-policy/1", "threshold": {}}', "thresholds"),
                        ('[]', "kernelab-policy/1"), ('{"policy"\n: ', "line 2")):
        with open("bad.json", "w", encoding="utf-8") as f:
            f.write(text)
        done = analyze("gpu.klab", "--policy", "bad.json", status=2)
        expect("bad.json" in done.stderr and words in done.stderr, f"{text}: {done.stderr!r}")


def check_baseline():
    analyze("gpu.klab", "--write-baseline", "base.json", status=1)
    done = analyze("gpu.klab", "--baseline", "base.json", status=0)
    expect("Accepted by baseline base.json (marked *): 7 families" in done.stdout
           and "\n3 3*   " in done.stdout and ", 7 accepted earlier" in done.stdout,
           f"baseline: {done.stdout[:900]}")
    report = judge("gpu.klab", "--baseline", "base.json", status=0)
    expect(report["counts"]["accepted"] == 7 and report["counts"]["suspicious"] == 7, "counts")
    analyze("gpu.klab", "--baseline", "base.json", "--fail-on", "2", status=1)
    with open("base.json", encoding="utf-8") as f:
        base = json.load(f)
    entries = {e["family"]: e for e in base["accepted"]}
    cases = (({"expires": "2001-01-31"}, "was accepted until 2001-01-31 only"),
             ({"expires": "2999-01-31"}, None), ({"reason": "known <b>"}, None),
             ({"rule": "2"}, "bucket 3 by rule 2 was accepted, it is bucket 3 by rule 9m now"),
             ({"bucket": 2}, "bucket 2 by rule 9m was accepted"),
             ({"severity": 0.001}, "dropped_tail_k has grown"),
             ({"key": "0" * 32}, "is not among the families"))
    for change, words in cases:
        one = dict(base, accepted=[dict(e, **change) if e["family"] == "dropped_tail_k" else e
                                   for e in base["accepted"]])
        report = judge("gpu.klab", "--baseline", write("one.json", one), status=1 if words else 0)
        notes = " ".join(report["baseline"]["notes"])
        expect((words or "") in notes and bool(notes) == bool(words), f"{change}: {notes!r}")
        family = next(f for f in report["families"] if f["name"] == "dropped_tail_k")
        expect((family["accepted"] is None) == bool(words), f"{change}: {family['accepted']}")
    loose = dict(base, accepted=[{k: v for k, v in entries["softmax_k"].items() if k in
                                  ("family", "rule", "bucket")}])
    report = judge("gpu.klab", "--baseline", write("one.json", loose), status=1)
    expect(report["counts"]["accepted"] == 1, "an entry without key, severity and reason")
    for change, words in (({"family": 1}, "family"), ({"rule": None}, "rule"), ({"bucket": 1}, "bucket"),
                          ({"key": "x"}, "key"), ({"expires": "soon"}, "2027-01-31"),
                          ({"severity": "x"}, "severity")):
        bad = dict(base, accepted=[dict(entries["softmax_k"], **change)])
        done = analyze("gpu.klab", "--baseline", write("bad.json", bad), status=2)
        expect("bad.json: entry 0" in done.stderr and words in done.stderr,
               f"{change}: {done.stderr!r}")
    done = analyze("gpu.klab", "--baseline", write("bad.json", {"baseline": "x"}), status=2)
    expect("kernelab-baseline/1" in done.stderr, done.stderr)


def check_since():
    analyze("gpu.klab", "--json", "now.json", status=1)
    report = judge("gpu.klab", "--since", "now.json", status=1)
    expect(report["since"] == {"path": "now.json", "worse": 0, "better": 0, "same": 9, "new": 0,
                               "gone": []}, f"since itself: {report['since']}")
    with open("now.json", encoding="utf-8") as f:
        then = json.load(f)
    for family in then["families"]:
        if family["name"] == "softmax_k":
            family.update(bucket=1, rule={"number": "1", "name": "bits"})
        if family["name"] == "layernorm_k":
            family.update(bucket=3, key="1" * 32)  # its source has moved: found by name
        if family["name"] == "argmax_k":
            family.update(name="old_k", key="2" * 32)
    done = analyze("gpu.klab", "--since", write("then.json", then), status=1)
    for words in ("Since then.json: 1 worse, 1 better, 6 in the same bucket, 1 new, 1 gone",
                  "worse: softmax_k, bucket 3 by rule 3, was 1 by rule 1", "better: layernorm_k",
                  "new: argmax_k", "gone: old_k"):
        expect(words in done.stdout, f"--since lacks {words!r}")
    page = analyze("gpu.klab", "--since", "then.json", "--html", "-").stdout
    expect("worse: softmax_k" in page, "the HTML report lacks what is worse")
    markdown = analyze("gpu.klab", "--since", "then.json", "--markdown", "-").stdout
    expect("gone: old" in markdown.replace("\\", ""), "the Markdown report lacks what is gone")
    report = judge("gpu.klab", "--since", "then.json", status=1)
    before = {f["name"]: f["before"] for f in report["families"]}
    expect(before["argmax_k"] is None and before["softmax_k"] ==
           {"bucket": 1, "unproven": False, "rule": "1"}, f"before: {before}")
    del then["families"][3]["rule"]
    done = analyze("gpu.klab", "--since", write("then.json", then), status=2)
    expect("then.json: family 3" in done.stderr, done.stderr)
    expect("none.json" in analyze("gpu.klab", "--since", "none.json", status=2).stderr, "no file")


def check_status():
    for args, status in ((("equal.klab",), 0), (("equal.klab", "--fail-on", "1"), 1),
                         (("soft.klab",), 0), (("soft.klab", "--fail-on", "2"), 1),
                         (("gpu.klab", "--fail-on", "3"), 1)):
        analyze(*args, status=status)
    merged = read_json("equal.klab", "soft.klab", status=0)
    expect(merged["families"][0]["bucket"] == 2 and len(merged["results"]) == 2, "shards merge")


def check_bad_input():
    os.mkdir("empty")
    os.mkdir("folder")
    with open("text.klab", "w", encoding="utf-8") as f:
        f.write("no bundle\n" * 100)
    for args, words in (((), "no result given"), (("none.klab",), "none.klab"),
                        (("text.klab",), "text.klab"), (("empty",), "no bundle in"),
                        (("gpu.klab", "stranger.klab"), "do not belong together"),
                        (("soft.klab", "stranger.klab"), "software device"),
                        (("gpu.klab", "--fail-on", "4"), "--fail-on"),
                        (("gpu.klab", "--fail-on", "0"), "--fail-on"),
                        (("gpu.klab", "--fail-on", "x"), "fail-on"),
                        (("gpu.klab", "--html", "nowhere/v.html"), "nowhere/v.html"),
                        (("gpu.klab", "--json", "-", "--markdown", "-"), "only one"),
                        (("gpu.klab", "--json", "nowhere/v.json"), "nowhere/v.json"),
                        (("gpu.klab", "--json", "folder"), "folder"),
                        (("/dev/null",), "/dev/null"), (("text.klab", "gpu.klab"), "text.klab")):
        done = analyze(*args, status=2)
        expect(words in done.stderr, f"analyze {args}: {done.stderr!r} lacks {words!r}")
        expect(done.stderr.count("\n") == 1, f"analyze {args}: not one line: {done.stderr!r}")
    expect(os.listdir("folder") == [] and not [n for n in os.listdir(".") if ".tmp" in n],
           "temporary files are left")
    done = analyze("cut.klab", status=2)
    expect("INCOMPLETE" in done.stdout and "cut.klab" in done.stderr, "a cut result is not marked")


with tempfile.TemporaryDirectory(prefix="kernelab-reports-") as temporary:
    subprocess.run([make_results, temporary], check=True)
    os.chdir(temporary)
    for check in (check_table, check_colour, check_json, check_files, check_pipe, check_explain, check_shape, check_policy,
                  check_baseline, check_since, check_status,
                  check_bad_input):
        check()
    os.chdir(ROOT)
for problem in problems:
    print(problem)
print(f"{len(problems)} problems")
sys.exit(1 if problems else 0)
