# SPDX-License-Identifier: MIT
"""kernelab analyze on made results: table, Markdown, JSON and its schema, exit status, bad input.

With KERNELAB_GOLDEN_WRITE=1 the golden files are written anew (look at the difference).
"""
import json
import os
import pty
import re
import subprocess
import sys
import tempfile

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
                                "unproven": 2}, f"counts: {report['counts']}")
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
    expect(family["time_us"] == {"A": 10.0, "B": 10.0, "launches": 1}, f"{family['time_us']}")
    for args, words in ((("--explain", "nothing"), "no family matches"),
                        (("--explain", "("), "--explain ("),
                        (("--explain", "k", "--json", "-"), "both")):
        done = analyze("gpu.klab", *args, status=2)
        expect(words in done.stderr, f"{args}: {done.stderr!r} lacks {words!r}")


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
    for check in (check_table, check_colour, check_json, check_files, check_explain, check_status,
                  check_bad_input):
        check()
    os.chdir(ROOT)
for problem in problems:
    print(problem)
print(f"{len(problems)} problems")
sys.exit(1 if problems else 0)
