# SPDX-License-Identifier: MIT
"""The HTML report as text: whole, self-contained, every text of a bundle escaped, pictures' data right."""
import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile

kernelab, make_results = (os.path.abspath(a) for a in sys.argv[1:3])
problems = []
VOID = {"meta", "input", "br", "img", "link"}
OPTIONAL = {"td", "th", "tr", "li", "dt", "dd", "p"}  # HTML lets their end tags away


def expect(condition, message):
    if not condition:
        problems.append(message)


class Page(html.parser.HTMLParser):
    """Tags in balance, counts, texts of scripts, ids and links."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.counts, self.ids, self.links, self.attributes = [], {}, [], [], []
        self.scripts, self.texts = [], []
        self.feed(text)
        self.close()
        left = [t for t in self.open if t not in OPTIONAL]
        expect(not left, f"not closed: {left}")

    def handle_starttag(self, tag, attrs):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        given = dict(attrs)
        self.attributes += [(tag, *a) for a in attrs]
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "a":
            self.links.append(given.get("href", ""))
        expect(tag != "noscript" or "noscript" not in self.open, "noscript within noscript")
        if tag == "script":
            self.scripts.append([given, ""])
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open[-1] != tag and self.open[-1] in OPTIONAL:
            self.open.pop()
        if self.open and self.open[-1] == tag:
            self.open.pop()
        else:
            problems.append(f"</{tag}> closes {self.open[-1:]}")

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1][1] += data
        elif not (self.open and self.open[-1] == "style"):
            self.texts.append(data)


def page_of(*results, status):
    done = subprocess.run([kernelab, "analyze", *results, "--html", "-"], capture_output=True,
                          timeout=120)
    expect(done.returncode == status, f"analyze {results}: status {done.returncode}: {done.stderr}")
    text = done.stdout.decode("utf-8")
    expect(not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text), f"{results}: control characters")
    return text, Page(text)


def check_whole(results, families, status):
    text, page = page_of(*results, status=status)
    expect(text.startswith("<!DOCTYPE html>"), "no doctype")
    expect("default-src 'none'" in text, "no content security policy")
    for tag, name, value in page.attributes:
        expect(name not in ("src", "onerror", "onclick", "style"), f"<{tag} {name}={value!r}>")
        if name == "href":
            expect(value.startswith("#"), f"<{tag} href={value!r}> leaves the page")
    expect(not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", text),
           "something is loaded from elsewhere")
    expect(len(page.ids) == len(set(page.ids)), "an id is there twice")
    for link in page.links:
        expect(link[1:] in page.ids, f"{link} leads nowhere")
    expect(page.counts["details"] >= families and len([i for i in page.ids if re.fullmatch(r"f\d+", i)])
           == families, f"{results}: not {families} families")
    plain = [s for given, s in page.scripts if given.get("type") is None]
    expect(len(plain) == 1 and plain[0].count('"use strict"') == 1, "not exactly one script")
    return page


def pictures_of(page):
    return [json.loads(s) for given, s in page.scripts if given.get("class") == "picture"]


def check_page():
    page = check_whole(["page.klab"], 6, 1)
    everything = "".join(page.texts)
    hostile = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">&lt;'\\"
    expect(everything.count(hostile) >= 6, f"the hostile name is shown {everything.count(hostile)} times")
    expect("img" not in page.counts, "a kernel's name became an element")
    for word in ("3 unproven", "3 suspicious", "2 small", "1 bitwise", "Evidence, rule by rule",
                 "nothing was tested", "not fired", "decides"):
        expect(word in everything, f"the page lacks {word!r}")
    marks = set(re.findall(r"<td>bits<td>.*?<span class=\"step (\w+)\">([a-z ]+)<", page_of("page.klab", status=1)[0]))
    expect(marks == {("passed", "fired"), ("open", "not fired")}, f"how rule 1 is marked: {marks}")
    pictures = pictures_of(page)
    expect(len(pictures) == 4, f"{len(pictures)} pictures of 4 families that differ")
    tile = next(p for p in pictures if p["how"].startswith("M="))
    expect((tile["rows"], tile["columns"], tile["tile"]) == (256, 256, [32, 64]), "shape or tile")
    expect(tile["how"] == "M=256 × N=256", tile["how"])
    heat = tile["heat"]
    cells = [heat["cells"][i:i + 4] for i in range(0, len(heat["cells"]), 4)]
    where = {(c[0] // heat["columns"], c[0] % heat["columns"]) for c in cells}
    expect(where == {(0, 2)} | {(r, c) for r in range(32, 48) for c in range(64, 96)},
           "the heat map does not show the wrong tile, and the infinity at element 5")
    expect([c[2] for c in cells if c[0] == 2] == [1] and sum(c[2] for c in cells) == 1,
           "class changes of the heat map")
    differing = sum(c[1] for c in cells)
    expect(sum(tile["ulp_above"]) + sum(tile["ulp_below"]) == differing, "ulp counts")
    expect(tile["ulp_equal"] + differing == 65536, "equal elements of the ulp histogram")
    expect(sum(tile["scatter"][1::2]) + sum(tile["from_zero"]) == differing - 1,
           "differences: all but the infinite one")
    expect(sum(tile["values_a"]) == 65536 and sum(tile["values_b"]) == 65535
           and tile["not_finite"] == [0, 1], "distributions")


def check_empty():
    page = check_whole(["equal.klab"], 1, 0)
    expect(not pictures_of(page), "pictures of equal outputs")
    page = check_whole(["gpu.klab"], 9, 1)
    expect(len(pictures_of(page)) == 6, f"gpu.klab: {len(pictures_of(page))} pictures")
    text, page = page_of("cut.klab", status=2)
    expect("Incomplete." in "".join(page.texts), "a cut result is not marked")


def check_many():
    text, _ = page_of("many.klab", status=0)
    page = check_whole(["many.klab"], 400, 0)
    # to a browser that runs scripts what is held back is text: what is left must stay small
    first = re.sub(r'<noscript class="later">.*?</noscript>', "", text, flags=re.S)
    expect(len(re.findall("<[a-z]", first)) < 25 * 400 < len(re.findall("<[a-z]", text)) / 10,
           f"{len(re.findall('<[a-z]', first))} elements at the start, {len(re.findall('<[a-z]', text))} in all")
    cells = [a for a in page.links if re.fullmatch(r"#f\d+c\d+", a)]
    expect(len(cells) == 12000, f"{len(cells)} cells of the matrix")


with tempfile.TemporaryDirectory(prefix="kernelab-html-") as temporary:
    subprocess.run([make_results, temporary], check=True)
    os.chdir(temporary)
    for check in (check_page, check_empty, check_many):
        check()
    os.chdir("/")
for problem in problems:
    print(problem)
print(f"{len(problems)} problems")
sys.exit(1 if problems else 0)
