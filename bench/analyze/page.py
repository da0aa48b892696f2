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
import time

TIMES = """<script>addEventListener("load", () => setTimeout(() => {
	const n = performance.getEntriesByType("navigation")[0], p = document.createElement("pre");
	p.id = "found";
	p.textContent = JSON.stringify({paint: performance.getEntriesByType("paint")[0]?.startTime,
		interactive: n.domInteractive, load: n.loadEventEnd});
	document.body.append(p);
}, 200));</script>"""
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
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu",
                               "--virtual-time-budget=20000", f"--user-data-dir={folder}/profile",
                               "--dump-dom", f"file://{folder}/timed.html"],
                              capture_output=True, text=True, check=True)
        match = re.search(r'<pre id="found">(.*?)</pre>', done.stdout)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print("opened, ms:", {k: round(v) for k, v in json.loads(match[1]).items() if v}
              if match else "the page did not load", f"; browser's start and end included {cpu:.1f} s of CPU")
