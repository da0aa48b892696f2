# SPDX-License-Identifier: MIT
"""What a model uses against what is tested: by its own launches, by existing tests; and their outcomes.

    test_use.py BUILD_DIR        with what make_scope.py made, on the software device
"""
import json
import os
import sys
import tempfile

import scope_data
from scope_data import run

if len(sys.argv) != 2:
    sys.exit(__doc__)
kernelab = scope_data.kernelab_of(sys.argv[1])
JUNIT = """<?xml version="1.0"?><testsuites><testsuite name="pytest"><!-- <testcase name="no"/> -->
<testcase classname="t.k" name="test_a[x&lt;1&#x3E;]"/><testcase classname="t&#46;k" name="test&#x5F;b">{b}</testcase>
<testcase classname="t.k" name="test_c"><skipped message="a > b"/></testcase>
<testcase name='test_d' time="1"><system-out><![CDATA[<failure/>]]></system-out></testcase>
</testsuite></testsuites>"""
problems = []


def expect(condition, message):
    if not condition:
        problems.append(message)


def diff(*operands, status=(0, 1)):
    done = run([kernelab, "diff", *operands, "--b", "recorded", "--device", "soft", "--trials", "none",
                "--repeats", "1", "--json", verdict], status)
    if status == (2,):
        return None, done.stderr
    with open(verdict, encoding="utf-8") as f:
        report = json.load(f)
    for d, count in report["use"].items():
        total = sum(f["use"]["counts"][d]["tested"] for f in report["families"])
        expect(total == count["tested"], f"sum of {d}: {total}, {count}")
    return report, done.stdout


def file(name, text):
    path = os.path.join(work, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


with tempfile.TemporaryDirectory(prefix="kernelab-use-") as work:
    verdict = os.path.join(work, "verdict.json")
    data = scope_data.ScopeData(kernelab, work)
    # 24 launches of scope_stages, then 2 of 4 of scope_tail; scope_both and what follows is counted.
    model = data.capture("a", os.path.join(work, "model"), "--max-launches", "26")
    tests = data.capture("a", os.path.join(work, "tests"), "--origin-name", "test", "--kernels",
                    "^scope_tail$", KERNELAB_TEST_NAMES="1")
    report, text = diff(model)
    use = report["use"]
    expect(use["configs"]["used"] == 30 and use["configs"]["tested"] == 13, f"configs: {use}")
    expect("Tested of what the model uses: 13 of 30 configs" in text, text)
    families = {(f["name"], f["signature"][0]["type"]): f for f in report["families"]}
    tail = next(f for f in report["families"] if f["name"] == "scope_tail")
    counts = tail["use"]["counts"]["shape classes"]
    expect(counts == {"used": 4, "tested": 2, "by_model": 2, "by_tests": 0, "by_derived": 0,
                      "in_tests": 0}, f"classes of the model: {counts}")
    left = [i for i in tail["use"]["items"] if i["untested"]]
    expect(len(left) == 2 and all(i["launches"] == 1 and i["reason"] for i in left), f"{left}")

    # Parts of a replay tell the same of the run: it counts once.
    parts = [os.path.join(work, f"part{i}.klab") for i in range(2)]
    for i, part in enumerate(parts):
        run([kernelab, "replay", model, "--b", "recorded", "--device", "soft", "--trials", "none",
             "--repeats", "1", "--shard", f"{i}/2", "-o", part], (0,))
    for order in (parts, parts[::-1]):
        run([kernelab, "analyze", *order, "--json", verdict], (0, 1))
        with open(verdict, encoding="utf-8") as f:
            merged = json.load(f)
        expect([f["use"] for f in merged["families"]] == [f["use"] for f in report["families"]],
               "parts of a replay tell another use than the whole")

    # Existing tests launch all four: those that the model's budget left out are tested by them.
    report, text = diff(model, tests)
    tail = next(f for f in report["families"] if f["name"] == "scope_tail")
    counts = tail["use"]["counts"]["shape classes"]
    expect(counts == {"used": 4, "tested": 4, "by_model": 2, "by_tests": 4, "by_derived": 0,
                      "in_tests": 4}, f"classes with tests: {counts}")
    expect(all("K=" in i["item"] for i in tail["use"]["items"] if i["dimension"] == "shape classes"),
           "classes without scalars")
    expect("by existing tests" in text, text)

    # Outcomes of the tests themselves.
    a = file("a.xml", JUNIT.format(b=""))
    b = file("b.xml", JUNIT.format(b="<failure message='&quot;x&quot;'>assert</failure>"))
    report, text = diff(model, "--a-junit", a, "--b-junit", b)
    expect(report["tests"]["A"] == {"path": a, "passed": 3, "failed": 0, "skipped": 1,
                                    "failures": []}, f"A: {report['tests']['A']}")
    expect(report["tests"]["B"]["failures"] == ["t.k::test_b"], f"B: {report['tests']['B']}")
    expect("t.k::test_b: passes under A, fails under B" in text and "test_a" not in text, text)
    # Which test launched what is recorded, so outcomes are told by kernel.
    names = [f"test_scope_tail[[{k}]::1]" for k in (64, 63, 65, 96)]
    case = '<testcase classname="t.k" name="{}">{}</testcase>'
    tested = file("tested.xml", "".join(case.format(n, "<error/>" if "65" in n else "") for n in names[1:]))
    report, text = diff(model, tests, "--b-junit", tested)
    tail = next(f for f in report["families"] if f["name"] == "scope_tail")
    expect(tail["use"]["tests"] == [{"name": "t/k.py::" + n, "A": None, "B": "failed" if "65" in n
                                     else None if "64" in n else "passed"} for n in sorted(names)],
           f"tests by kernel: {tail['use']['tests']}")
    expect(not any(f["use"]["tests"] for f in report["families"] if f["name"] != "scope_tail"), "others")
    done = run([kernelab, "diff", model, tests, "--b", "recorded", "--device", "soft", "--trials", "none",
                "--repeats", "1", "--b-junit", tested, "--html", "-"], (0, 1))
    expect("existing tests seen to launch it: 4; under B 2 pass, 1 fails (t.k::test_scope_tail[[65]::1])"
           ", 1 not in its file" in done.stdout, "HTML does not tell outcomes by kernel")
    for name, bad in (("none.xml", "<a/>"), ("cut.xml", JUNIT[:150]), ("empty.xml", ""),
                      ("open.xml", "<testcase name='x'/><!-- ")):
        _, text = diff(model, "--b-junit", file(name, bad), status=(2,))
        expect(name in text and text.count("\n") == 1, f"{name}: {text!r}")
sys.exit("\n".join(problems) if problems else 0)
