# SPDX-License-Identifier: MIT
"""How long the HTML report of a large result takes to write, and to open in Chromium.

    page.py BUILD_DIR        400 families, 30 configs each, about 1 GB of outputs (in TMPDIR)
"""
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

OPENS_MOST = 120  # seconds

# The page's own script is before this one. Real time: no virtual clock, what is found comes by the console.
TIMES = """<script>{
	const found = { scripted: performance.now() };
	new PerformanceObserver((list) => {
		for (const entry of list.getEntries())
			found[entry.name] = entry.startTime;
	}).observe({ type: "paint", buffered: true });
	requestAnimationFrame(() => setTimeout(() => {
		found.usable = performance.now(); // sorted, filtered and drawn
		const wait = () => {
			if (document.querySelector("noscript.later")) {
				setTimeout(wait, 20);
				return;
			}
			found.whole = performance.now();
			found.elements = document.querySelectorAll("*").length;
			console.log("found:" + JSON.stringify(found));
		};
		wait();
	}));
}</script>"""


def opened(chromium, folder):
    """What the page says of itself, in ms; None: it did not load."""
    browser = subprocess.Popen([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,800",
                                "--enable-logging=stderr", f"--user-data-dir={folder}/profile",
                                f"file://{folder}/timed.html"], stderr=subprocess.PIPE, text=True, errors="replace")
    too_long = threading.Timer(OPENS_MOST, browser.kill)
    too_long.start()
    match = None
    for line in browser.stderr:
        match = re.search(r'found:(\{.*?\})"', line)
        if match:
            break
    too_long.cancel()
    browser.terminate()
    browser.wait()
    return json.loads(match[1]) if match else None


if len(sys.argv) != 2:
    sys.exit(__doc__)
build = os.path.abspath(sys.argv[1])
chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    os.chdir(folder)
    subprocess.run([os.path.join(build, "tests/analyze/make_results"), ".", "large"], check=True)
    size = os.path.getsize("large.klab")
    start = time.monotonic()
    subprocess.run([os.path.join(build, "tools/kernelab"), "analyze", "large.klab", "--html", "page.html"],
                   stdout=subprocess.DEVNULL, check=False)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"result {size / 1e9:.2f} GB; analyze --html {time.monotonic() - start:.1f} s, peak "
          f"{peak / 1024:.0f} MiB; page {os.path.getsize('page.html') / 1e6:.1f} MB")
    if not chromium:
        sys.exit("no Chromium: the page was not opened")
    with open("page.html", encoding="utf-8") as f:
        text = f.read()
    with open("timed.html", "w", encoding="utf-8") as f:
        f.write(text.replace("</body>", TIMES + "</body>"))
    for _ in range(5):
        found = opened(chromium, folder)
        print("opened, ms:", {k: round(v) for k, v in found.items()} if found else "the page did not load")
