# SPDX-License-Identifier: MIT
"""The HTML report in headless Chromium: sorts, filters, draws; no error. Skipped without Chromium."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

kernelab, make_results = (os.path.abspath(a) for a in sys.argv[1:3])
chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if not chromium:
    print("no Chromium")
    sys.exit(77)
problems = []

# Runs in the page after its own script; what it finds goes into an element that --dump-dom shows.
DRIVER = """
<script>
window.addEventListener("load", () => {
	const found = { title: document.title, errors: window.failures };
	const names = () => [...document.querySelectorAll("#table tbody tr")].filter((r) => !r.hidden)
		.map((r) => r.cells[2].textContent);
	const heads = [...document.querySelectorAll("#table thead button")];
	found.start = names();
	heads[2].click();
	found.byName = names();
	heads[2].click();
	found.byNameDown = names();
	found.sorted = heads[2].parentElement.getAttribute("aria-sort");
	heads[0].click();
	found.byBucket = names();
	const input = document.getElementById("filter");
	input.value = "NORM small";
	input.dispatchEvent(new Event("input"));
	found.filtered = names();
	found.shown = document.getElementById("shown").textContent;
	found.details = [...document.querySelectorAll("details.family")].filter((d) => !d.hidden).length;
	document.dispatchEvent(new KeyboardEvent("keydown", { key: "/" }));
	found.focused = document.activeElement === input;
	input.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
	document.querySelector("button.filter[data-bucket='3u']").click();
	found.noUnproven = names();
	document.querySelector("button.filter[data-bucket='3u']").click();
	for (const family of document.querySelectorAll("details.family"))
		family.open = true;
	document.querySelector("button.filter[data-bucket='1']").click();
	let waits = 0; // what was held back comes when the browser has nothing else to do
	const look = () => {
		if (document.querySelector("noscript.later") && ++waits < 1000) {
			setTimeout(look, 20);
			return;
		}
		const figures = [...document.querySelectorAll("figure")];
		found.figures = figures.map((f) => f.querySelector("h5").textContent.split(" ")[0]);
		found.marks = figures.map((f) => f.querySelectorAll("rect, path").length);
		found.colours = [...document.querySelectorAll("canvas")].map((c) => {
			const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, seen = new Set();
			for (let i = 0; i < d.length; i += 4)
				seen.add(d.slice(i, i + 4).join());
			return seen.size;
		});
		found.hints = document.querySelectorAll(".pictures .missing").length;
		found.held = document.querySelectorAll("noscript.later").length;
		found.cells = document.querySelectorAll("#matrix tbody td a").length;
		found.lines = [...document.querySelectorAll("#matrix tbody tr")].map((r) => r.hidden);
		found.rows = [...document.querySelectorAll("details.family")].map((d) => d.hidden);
		found.tiles = document.querySelectorAll(".tile").length;
		location.hash = "#f1c0";
		setTimeout(() => {
			found.focus = document.activeElement.id;
			const out = document.createElement("pre");
			out.id = "found";
			out.textContent = JSON.stringify(found);
			document.body.append(out);
		}, 100);
	};
	setTimeout(look, 300);
});
</script>
"""
CATCH = """<script>window.failures = [];
window.addEventListener("error", (e) => window.failures.push(e.message));
window.addEventListener("securitypolicyviolation", (e) => window.failures.push(e.violatedDirective));
</script>"""


def expect(condition, message):
    if not condition:
        problems.append(message)


def browse(path, *options):
    return subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                           f"--user-data-dir={os.getcwd()}/profile", "--virtual-time-budget=30000", *options,
                           "file://" + os.path.abspath(path)],
                          capture_output=True, text=True, timeout=200)


def drive(result):
    subprocess.run([kernelab, "analyze", result, "--html", "plain.html"], capture_output=True)
    with open("plain.html", encoding="utf-8") as f:
        text = f.read()
    with open("driven.html", "w", encoding="utf-8") as f:
        f.write(text.replace("<title>", CATCH + "<title>", 1).replace("</body>", DRIVER + "</body>"))
    done = browse("driven.html", "--dump-dom")
    for line in done.stderr.splitlines():
        expect("CONSOLE" not in line, f"{result}: {line}")
    match = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.S)
    if not match:
        problems.append(f"{result}: the page's script did not end: {done.stderr[-400:]}")
        return None
    text = match[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return json.loads(text)


def check_page():
    found = drive("page.klab")
    if not found:
        return
    expect(found["errors"] == [], f"errors: {found['errors']}")
    expect(found["title"].startswith("kernelab: "), f"title {found['title']!r}")
    start = found["start"]
    expect(len(start) == 6 and start[-1] == "same_k", f"order at the start: {start}")
    known = [n for n in found["byName"] if n.endswith("_k")]
    expect(known == sorted(known) and found["byName"] != start, f"by name: {found['byName']}")
    expect(found["byNameDown"] == found["byName"][::-1] and found["sorted"] == "descending",
           f"by name, descending: {found['byNameDown']}")
    expect(found["byBucket"] == start, f"by bucket: {found['byBucket']}")
    expect(found["filtered"] == ["layernorm_k"] and found["details"] == 1
           and found["shown"] == "1 of 6 shown", f"filtered: {found['filtered']}, {found['shown']}")
    expect(found["focused"], "/ does not lead to the filter")
    expect(sorted(found["noUnproven"] + ["never_k"]) == sorted(start), f"{found['noUnproven']}")
    expect(found["figures"] == ["Where", "|difference|", "Signed", "Distribution"] * 4,
           f"figures: {found['figures']}")
    expect(all(n > 1 for n in found["marks"][1::4] + found["marks"][2::4] + found["marks"][3::4]),
           f"a picture is empty: {found['marks']}")
    expect(len(found["colours"]) == 4 and all(n > 1 for n in found["colours"]),
           f"colours of the heat maps: {found['colours']}")
    expect(found["colours"][0] > 3 and found["tiles"] >= 1, "the wrong tile or its grid is not there")
    expect(found["hints"] == 0, "pictures are said to need JavaScript beside them")
    expect(found["held"] == 0 and found["cells"] == 6, f"held back: {found['held']}, {found['cells']} cells")
    expect(found["lines"] == found["rows"] and True in found["lines"], "the matrix is not filtered as the table is")
    expect(found["focus"] == "f1c0", f"a link into the matrix leads to {found['focus']!r}")


FRAME = """<!DOCTYPE html><iframe sandbox="allow-same-origin"></iframe><script>
const frame = document.querySelector("iframe");
frame.addEventListener("load", () => {
	const page = frame.contentDocument, out = document.createElement("pre");
	const parts = [...page.querySelectorAll("noscript.later")];
	out.id = "found";
	out.textContent = JSON.stringify({ parts: parts.length,
		markup: parts.filter((p) => p.querySelector("td")).length,
		target: Boolean(page.getElementById("f1c0")),
		hints: page.querySelectorAll(".pictures .missing").length });
	document.body.append(out);
});
frame.srcdoc = TEXT;
</script>"""


def check_unscripted():
    """Where no script runs nothing is held back."""
    with open("plain.html", encoding="utf-8") as f:
        text = json.dumps(f.read()).replace("<", "\\u003c")
    with open("frame.html", "w", encoding="utf-8") as f:
        f.write(FRAME.replace("TEXT", text))
    match = re.search(r'<pre id="found">(.*?)</pre>', browse("frame.html", "--dump-dom").stdout, re.S)
    found = json.loads(match[1]) if match else None
    expect(found == {"parts": 7, "markup": 7, "target": True, "hints": 4}, f"without scripts: {found}")


def check_many():
    found = drive("many.klab")
    if found:
        expect(found["errors"] == [] and len(found["start"]) == 400, "400 families")


with tempfile.TemporaryDirectory(prefix="kernelab-browser-", ignore_cleanup_errors=True) as temporary:
    subprocess.run([make_results, temporary], check=True)
    os.chdir(temporary)
    check_page()
    check_unscripted()
    check_many()
    os.chdir("/")
for problem in problems:
    print(problem)
print(f"{len(problems)} problems")
sys.exit(1 if problems else 0)
