# SPDX-License-Identifier: MIT
"""Labelled pairs: each edit of edits.py moves its family into the bucket that its row names."""
import os
import sys
import tempfile

import whole_tool
from edits import EDITS

if len(sys.argv) != 2:
    sys.exit("usage: test_pairs.py BUILD_DIR")
tool = whole_tool.Tool(sys.argv[1])


def check(name, edit, families):
    expected = {family: 1 for family in whole_tool.FAMILIES}
    expected[edit["kernel"]] = edit["bucket"]
    got = {family: f["bucket"] for family, f in families.items()}
    for family in sorted(expected.keys() | got.keys()):
        want, have = expected.get(family), got.get(family)
        tool.expect(want == have, f"{name}: {family} is in bucket {have}, expected {want}: "
                    f"{families[family]['evidence'] if family in families else 'not named'}")
    family = families.get(edit["kernel"])
    if family:
        rule = family["rule"]["number"]
        tool.expect(rule in edit["rules"],
                    f"{name}: rule {rule} fired, expected {' or '.join(edit['rules'])}")
        print(f"{name}: bucket {family['bucket']}, rule {rule}: {family['evidence']}")


with tempfile.TemporaryDirectory(prefix="kernelab-pairs-") as folder:
    good = os.path.join(folder, "good")
    tool.capture(good, "a", steps=1)
    for name, edit in EDITS.items():
        edited = os.path.join(folder, name)
        tool.capture(edited, "a", edits=[name], options=["--no-data"], steps=1)
        status = 1 if edit["bucket"] == 3 else 0
        verdict = os.path.join(folder, name + ".json")
        _, families, _ = tool.diff(good, edited, verdict, status)
        tool.check_proved(families)
        check(name, edit, families)
tool.finish()
