# SPDX-License-Identifier: MIT
"""The scope of faults that lie in a part of the configs, launches or types of a family only.

    test_scope.py BUILD_DIR        what make_scope.py made, on the software device
"""
import json
import os
import sys
import tempfile

import scope_data

if len(sys.argv) != 2:
    sys.exit(__doc__)
kernelab = scope_data.kernelab_of(sys.argv[1])

# family, type: bucket, kind of scope, clauses (with, counts, in, in_failed, out, out_failed), words
EXPECTED = {
    ("scope_stages", "f32"): (3, "exact", [("num_stages=3", "configs", 4, 4, 8, 0)],
                              "all 4 configs with num_stages=3 fail, none of the 8 others"),
    ("scope_tail", "f32"): (3, "exact", [("K % 32 ≠ 0", "launches", 2, 2, 2, 0)],
                            "both launches with K % 32 ≠ 0 fail, none of the 2 others"),
    ("scope_both", "f32"): (3, "exact", [("num_stages=3 and blocks=32x32", "configs", 2, 2, 10, 0),
                                         ("K % 32 ≠ 0", "launches", 4, 4, 4, 0)],
                            "in these only launches with K % 32 ≠ 0 (4 of 4, none of the 4 others)"),
    ("scope_all", "f32"): (3, "all", [],
                           "fails in both configs and all 6 launches tested: nothing separates"),
    ("scope_types", "f16"): (3, "all", [], "fails only as f16, not as "),
    ("scope_types", "f32"): (1, None, [], None),
    ("scope_types", "bf16"): (1, None, [], None),
}
problems = []


def check(name, family):
    bucket, kind, clauses, words = EXPECTED[name]
    scope = family["scope"]
    got = [tuple(c.values()) for c in scope["clauses"]] if scope else []
    if family["bucket"] != bucket or (scope["kind"] if scope else None) != kind or got != clauses:
        problems.append(f"{name}: bucket {family['bucket']}, {scope}")
    elif words and words not in scope["text"]:
        problems.append(f"{name}: {scope['text']!r} lacks {words!r}")


with tempfile.TemporaryDirectory(prefix="kernelab-scope-") as work:
    a, b, verdict = (os.path.join(work, n) for n in ("a", "b", "verdict.json"))
    data = scope_data.ScopeData(kernelab, work)
    data.capture("a", a, "--per-class", "4")
    data.capture("b", b, "--per-class", "4", "--no-data")
    text = scope_data.run([kernelab, "diff", a, "--b", b, "--device", "soft", "--json", verdict], (1,)).stdout
    with open(verdict, encoding="utf-8") as f:
        families = json.load(f)["families"]
found = {}
for one in families:
    pointer = next(x["type"] for x in one["signature"] if x["type"].startswith("!tt.ptr"))
    found[one["name"], pointer[8:].split(",")[0].rstrip(">")] = one
if set(found) != set(EXPECTED):
    problems.append(f"families {sorted(found)}")
for key in sorted(set(found) & set(EXPECTED)):
    check(key, found[key])
if " ".join(text.split()).count("scope: ") != 5:
    problems.append(f"not 5 scopes in the table:\n{text}")
sys.exit("\n".join(problems) if problems else 0)
