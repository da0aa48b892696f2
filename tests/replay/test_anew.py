# SPDX-License-Identifier: MIT
"""Where recorded addresses are taken in one process, replay and diff start anew in another."""
import json
import os
import subprocess
import sys
import tempfile

KERNELAB, MAKE, TAKEN = (os.path.abspath(path) for path in sys.argv[1:4])
DEVICE = sys.argv[4]
if DEVICE == "gpu" and not os.path.exists("/dev/nvidiactl"):
    sys.exit(77)
ANEW, LOST = "starts anew", "cannot be restored"
problems = []


def run(*args, taken, status=0, before=(), **more):
    """kernelab, with the addresses taken in its first starts."""
    done = subprocess.run([*before, "env", f"LD_PRELOAD={TAKEN}", KERNELAB, *args, "--device", DEVICE],
                          capture_output=True, text=True,
                          env={**os.environ, "TAKEN": str(taken), "TMPDIR": temporary}, **more)
    if done.returncode != status:
        problems.append(f"{done.args}: status {done.returncode}: {done.stderr}")
    return done


def expect(done, anew, lost):
    counts = done.stderr.count(ANEW), done.stderr.count(LOST)
    if counts != (anew, lost):
        problems.append(f"{done.args}: {counts} of {ANEW!r} and {LOST!r}: {done.stderr}")


with tempfile.TemporaryDirectory(prefix="kernelab-anew-") as folder:
    temporary = f"{folder}/tmp"
    os.mkdir(temporary)
    a, b = f"{folder}/a.klab", f"{folder}/b.klab"
    for path, *words in (a, "scale"), (b, "other", "no-data"):
        subprocess.run([MAKE, path, *words], check=True)
    sides = [a, "--b", b]

    whole = f"{folder}/whole.klab"
    expect(run("replay", *sides, "-o", whole, taken=0), 0, 0)
    done = run("replay", *sides, "-o", f"{folder}/once.klab", taken=1)
    expect(done, 1, 0)
    if "1 faithful" not in done.stderr or "0 unfaithful" not in done.stderr:
        problems.append(f"started anew: {done.stderr}")
    subprocess.run([KERNELAB, "verify", f"{folder}/once.klab"], check=True, stdout=subprocess.DEVNULL)

    # It gives up with a result that says what is missing.
    done = run("replay", *sides, "-o", f"{folder}/never.klab", taken=9)
    expect(done, 2, 1)
    if "0 faithful" not in done.stderr:
        problems.append(f"restored without addresses: {done.stderr}")

    # A replay that goes on with a result.
    cut = f"{folder}/cut.klab"
    with open(whole, "rb") as f, open(cut, "wb") as out:
        content = f.read()
        out.write(content[:len(content) // 2])
    done = run("replay", *sides, "-o", cut, "--resume", taken=1)
    expect(done, 1, 0)
    if "1 faithful" not in done.stderr:
        problems.append(f"resumed anew: {done.stderr}")
    subprocess.run([KERNELAB, "verify", cut], check=True, stdout=subprocess.DEVNULL)

    # diff: one report, of the second start, and no temporary file is left.
    report = f"{folder}/report.json"
    expect(run("diff", *sides, "--json", report, taken=1, status=1), 1, 0)
    with open(report, encoding="utf-8") as f:
        if len(json.load(f)["families"]) != 1:
            problems.append("diff: not one family")
    if os.listdir(temporary) or [n for n in os.listdir(folder) if n.endswith((".tmp", ".resumed"))]:
        problems.append(f"left behind: {os.listdir(temporary)} {os.listdir(folder)}")

    # In vain, or not the same a second time: a layout that does not vary, a pipe that was read.
    fixed = ["setarch", "-R"]
    if not subprocess.run([*fixed, "true"], capture_output=True).returncode:
        expect(run("replay", *sides, "-o", f"{folder}/fixed.klab", taken=1, before=fixed), 0, 1)
    read_end, write_end = os.pipe()
    os.close(write_end)
    expect(run("replay", *sides, "-o", f"{folder}/pipe.klab", f"--pair=/dev/fd/{read_end}", taken=1,
               pass_fds=[read_end]), 0, 1)

for problem in problems:
    print(problem)
print(f"{len(problems)} problems")
sys.exit(1 if problems else 0)
