# SPDX-License-Identifier: MIT
"""kernelab replay on the command line: what it refuses and how, what it prints, Ctrl-C."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

KERNELAB, MAKE = sys.argv[1:3]
problems = []


def run(*arguments, **environment):
    env = {**os.environ, "KERNELAB_SOFTGPU_LOG": "quiet", **environment}
    return subprocess.run([KERNELAB, "replay", *arguments], capture_output=True, text=True,
                          timeout=120, env=env)


def expect(done, status, *words):
    """Status, and one line on stderr with all the words."""
    lines = done.stderr.splitlines()
    if done.returncode != status or not any(all(w in line for w in words) for line in lines):
        problems.append(f"{done.args}: status {done.returncode}, expected {status} and a line with "
                        f"{words}\n{done.stdout}{done.stderr}")


def refused(*words, arguments, **environment):
    done = run(*arguments, **environment)
    expect(done, 2, "kernelab", *words)
    if len(done.stderr.splitlines()) > 2:
        problems.append(f"{done.args}: more than a line:\n{done.stderr}")


def make(path, *words):
    subprocess.run([MAKE, path, *words], check=True)


with tempfile.TemporaryDirectory(prefix="kernelab-replay-") as folder:
    def at(name):
        return os.path.join(folder, name)

    a, b, out = at("a.klab"), at("b.klab"), at("out.klab")
    soft = ["--device", "soft"]
    make(a, "scale")
    make(b, "other", "no-data")
    good = [a, "--b", b, "-o", out, *soft]

    # The command line.
    refused("no BUNDLE", arguments=["--b", b, "-o", out])
    refused("--b", arguments=[a, "-o", out])
    refused("-o", arguments=[a, "--b", b])
    refused("--frob", arguments=[*good, "--frob"])
    refused("--device tpu", arguments=[a, "--b", b, "-o", out, "--device", "tpu"])
    refused("--timeout", arguments=[*good, "--timeout", "0"])
    refused("--timeout", "at most 1e+09", arguments=[*good, "--timeout", "1e12"])
    refused("--reference", "at most 1e+09", arguments=[*good, "--reference", "inf"])
    refused("--repeats", arguments=[*good, "--repeats", "0"])
    refused("--family", "(", arguments=[*good, "--family", "("])
    refused("nothing_like_it", arguments=[*good, "--family", "nothing_like_it"])
    refused("launch 99", arguments=[*good, "--launch", "99"])
    refused("ptxas:PATH", arguments=[a, "--b", "ptxas:", "-o", out])
    refused("/nonexistent/ptxas", arguments=[a, "--b", "ptxas:/nonexistent/ptxas", "-o", out])
    refused("/nonexistent/dir", arguments=[a, "--b", "/nonexistent/dir", "-o", out])

    # Inputs.
    os.mkdir(at("empty"))
    with open(at("junk.klab"), "wb") as f:
        f.write(os.urandom(5000))
    with open(a, "rb") as f:
        whole = f.read()
    with open(at("short.klab"), "wb") as f:
        f.write(whole[:20])
    damaged = bytearray(whole)
    damaged[whole.index(b"test device")] ^= 1
    with open(at("damaged.klab"), "wb") as f:
        f.write(damaged)
    for name in "missing.klab", "junk.klab", "short.klab", "damaged.klab", "empty":
        refused(name, arguments=[at(name), "--b", b, "-o", out])
        refused(name, arguments=[a, "--b", at(name), "-o", out])
    refused("/nonexistent/out.klab", arguments=[a, "--b", b, "-o", "/nonexistent/out.klab", *soft])

    # Drivers.
    refused("no software device", arguments=good, KERNELAB_LIBDIR=at("empty"))
    refused("KERNELAB_DRIVER", "/nonexistent", arguments=[a, "--b", b, "-o", out],
            KERNELAB_DRIVER="/nonexistent/libcuda.so.1")
    if os.path.exists(out):
        problems.append("a refused replay left a result")

    # What works.
    done = run(a, "--b", b, "--dry-run")
    if done.returncode or "launch 1" not in done.stdout or "exact" not in done.stdout:
        problems.append(f"dry run: {done.stdout}{done.stderr}")
    done = run(*good)
    expect(done, 0, "1 of 1 configs", "1 faithful", out)

    # What it cost: a line, and facts that every report adds up.
    expect(done, 0, " trials in ", "workers' time:", "PCIe")
    subprocess.run([KERNELAB, "analyze", out, "--json", at("cost.json")], capture_output=True)
    with open(at("cost.json"), encoding="utf-8") as f:
        cost = json.load(f)["replay_cost"]
    trials = int(re.search(r"(\d+) trials in", done.stderr)[1])
    if cost["trials"] != trials or cost["launches"] < trials:
        problems.append(f"{trials} trials on stderr, facts say {cost}")
    if not 0 < cost["input_bytes"] <= cost["uploaded_bytes"] or not cost["kernels_s"] > 0:
        problems.append(f"costs that cannot be: {cost}")
    refused("exists", arguments=good)
    refused("result of a replay", arguments=[out, "--b", b, "-o", at("again.klab")])

    # Several devices: one result, the same as that of one.
    def report(name, *arguments, side=b, **environment):
        done = run(*many, "--b", side, *soft, *arguments, "-o", at(name + ".klab"), **environment)
        expect(done, 0, "7 launches", "7 faithful")
        subprocess.run([KERNELAB, "analyze", at(name + ".klab"), "--json", at(name + ".json")],
                       capture_output=True)
        with open(at(name + ".json"), encoding="utf-8") as f:
            found = json.load(f)
        cost = found.pop("replay_cost")
        return cost, re.sub(r'"time_us": {[^}]*}', "", json.dumps(found)).replace(name + ".klab", "")

    many = [at(f"many{i}.klab") for i in range(7)]
    for path in many:
        make(path, "scale")
    one, three = report("one"), report("three", "--devices", "all", KERNELAB_SOFTGPU_DEVICES="3")
    if one[1] != three[1] or one[0]["trials"] != three[0]["trials"]:
        problems.append(f"three devices give another result than one: {one[0]} {three[0]}")
    # What is not stored where nothing differs changes no verdict, nor does what is run again for it.
    equal, stored = report("equal", side="recorded"), report("stored", "--store-all", side="recorded")
    if (equal[1] != stored[1].replace(" --store-all", "")
            or equal[0]["downloaded_bytes"] >= stored[0]["downloaded_bytes"]):
        problems.append(f"--store-all gives another report, or reads no more: {equal} {stored}")
    great = at("great.klab")
    make(great, "great", "no-data")
    late, stored = report("late", side=great), report("late-stored", "--store-all", side=great)
    if late[1] != stored[1].replace(" --store-all", "") or '"bucket": 3' not in late[1]:
        problems.append(f"a late difference is judged otherwise with --store-all: {late[1]}\n{stored[1]}")
    if (one[0]["devices"], three[0]["devices"]) != (1, 3):
        problems.append(f"devices used: {one[0]}, {three[0]}")
    if report("list", "--devices", "2,0", KERNELAB_SOFTGPU_DEVICES="3")[0]["devices"] != 2:
        problems.append("--devices 2,0 did not use two devices")
    # Workers that are lost on every device, again and again, cost their own launches only.
    make(at("fault.klab"), "fault", "no-data")
    short = ["--trials", "none", "--repeats", "1"]
    lost = [report(name, *short, *more, side=at("fault.klab"), KERNELAB_SOFTGPU_DEVICES="3")
            for name, more in (("lost1", []), ("lost3", ["--devices", "3"]))]
    if lost[0][1] != lost[1][1] or '"suspicious": 1' not in lost[0][1]:
        problems.append(f"lost workers: {lost[0][1][:3000]}, {lost[1][1][:3000]}")

    # One of several that cannot be used is left out by name, whatever it lacks; one whose memory is taken
    # leaves its launches to the others. Without any there is no replay.
    def with_fault(name, fault, status, *words):
        done = run(*many, "--b", b, *soft, *short, "--devices", "all", "-o", at(name + ".klab"),
                   KERNELAB_SOFTGPU_DEVICES="3", KERNELAB_SOFTGPU_FAULT=fault)
        expect(done, status, *words)
        return done.stderr

    name = "kernelab software device"
    for number, fault in enumerate(("cuDevicePrimaryCtxRetain@1:1+:2", "cuStreamCreate@1:1+:999")):
        said = with_fault(f"busy{number}", fault, 0, "7 launches", "7 faithful")
        if said.count(f"device 1 ({name}) cannot be used and is left out: ") != 1 or \
                ("other processes use it" in said) == bool(number):
            problems.append(f"a device that cannot be used: {said}")
    for number, fault in enumerate(("cuMemCreate@1:1+:2", "cuMemCreate@0:1+:2,cuMemCreate@2:1+:2")):
        said = with_fault(f"taken{number}", fault, 0, "7 launches", "7 faithful", "0 untested")
        told = re.findall(rf"device (\d) \({name}\): launch 1 of \S+many\d.klab needs 0\.\d+ GB of device memory; the "
                          r"device has [\d.]+ GB, of which [\d.]+ GB are free.* goes to another device", said)
        if not set(told) <= ({"0", "2"} if number else {"1"}) or not told or len(told) != len(set(told)):
            problems.append(f"a device without free memory: {told}, {said}")
    with_fault("small", "cuMemCreate:1+:2", 0, "7 launches", "0 faithful", "7 untested")
    done = run(*many, "--b", b, *soft, "--devices", "all", "-o", at("none.klab"), KERNELAB_SOFTGPU_DEVICES="3",
               KERNELAB_SOFTGPU_FAULT=",".join(f"cuDevicePrimaryCtxRetain@{i}:1+:2" for i in range(3)))
    expect(done, 2, "no worker on device", name, "other processes use it")
    for devices, words in (("4", "no device 3"), ("0,0", "twice"), ("1-", "--devices 1-"), ("0", "--devices 0"),
                           ("0-3", "no device 3"), ("two", "--devices two"), ("0;1", "--devices 0;1")):
        refused(words, arguments=[*many, "--b", b, *soft, "-o", at("no.klab"), "--devices", devices],
                KERNELAB_SOFTGPU_DEVICES="3")
    refused("device", arguments=[*many, "--b", b, *soft, "-o", at("no.klab")], KERNELAB_SOFTGPU_DEVICES="0")

    # Too little memory: without room for copies everything still works; a launch that does not fit is
    # skipped with its size; a device without any memory is an error.
    expect(run(a, "--b", b, *soft, "-o", at("tight.klab"), KERNELAB_SOFTGPU_MEMORY="5M"), 0, "1 faithful")
    expect(run(a, "--b", b, *soft, "-o", at("large.klab"), KERNELAB_SOFTGPU_FAULT="cuMemCreate:1+:2"), 0,
           "1 untested")
    verdict = subprocess.run([KERNELAB, "analyze", at("large.klab"), "--json", "-"], capture_output=True, text=True)
    if not re.search(r"needs 0\.\d+ GB of device memory; the device has", verdict.stdout):
        problems.append(f"a launch larger than the device is not named: {verdict.stdout}")
    refused("other processes", arguments=[a, "--b", b, *soft, "-o", at("no.klab")],
            KERNELAB_SOFTGPU_FAULT="cuDevicePrimaryCtxRetain:1+:2")
    os.unlink(at("no.klab"))
    refused("other processes", arguments=[a, "--b", b, *soft, "-o", at("no.klab")], KERNELAB_SOFTGPU_MEMORY="2M")
    os.unlink(at("no.klab"))

    # A copy that did not reach the device: unfaithful, and said to be that; of the guard bytes nothing comes of it.
    for upload, faithful in (1, 0), (2, 1):
        expect(run(a, "--b", b, *soft, *short, "-o", at(f"upload{upload}.klab"),
                   KERNELAB_SOFTGPU_FAULT=f"cuMemcpyHtoDAsync_v2:{upload}:lose"), 0, f"{faithful} faithful")
        said = subprocess.run([KERNELAB, "analyze", at(f"upload{upload}.klab"), "--json", "-"], capture_output=True,
                              text=True).stdout
        if bool(re.search(r"memory was not restored: \d+ bytes on the device are not as recorded, first at 0x504", said)) \
                == bool(faithful):
            problems.append(f"upload {upload} was lost: {said}")

    # A damaged chunk costs the launches that need it.
    damaged = bytearray(whole)
    damaged[whole.index(b".version 8.0")] ^= 1
    with open(at("chunk.klab"), "wb") as f:
        f.write(damaged)
    done = run(at("chunk.klab"), "--b", b, "-o", at("chunk-out.klab"), *soft)
    if done.returncode == 0 and "0 faithful" not in done.stderr:
        problems.append(f"a damaged image was used: {done.stderr}")

    # A recording that was cut off: what is there is replayed, and named as not whole.
    with open(at("header.klab"), "wb") as f:
        f.write(whole[:64])
    refused("header.klab", "no kernels", arguments=[at("header.klab"), "--b", b, "-o", at("h.klab")])
    refused("B: ", "header.klab", "no kernels", arguments=[a, "--b", at("header.klab"), "-o", at("h.klab")])
    with open(at("cut.klab"), "wb") as f:
        f.write(whole[:-1])
    expect(run(at("cut.klab"), "--b", b, "-o", at("cut-out.klab"), *soft), 0, "cut.klab: not whole")
    verdict = subprocess.run([KERNELAB, "analyze", at("cut-out.klab")], capture_output=True, text=True)
    expect(verdict, 2, "warning", "cut.klab: ")
    if "INCOMPLETE " not in verdict.stdout:
        problems.append(f"the report has no word of the cut recording: {verdict.stdout}")

    # A report names a result that was kept, and none that was removed.
    for options, wanted in ([], [None]), (["-o", at("kept.klab")], [at("kept.klab")]):
        done = subprocess.run([KERNELAB, "diff", a, "--b", "recorded", "--json", "-", *options, *soft],
                              capture_output=True, text=True)
        if done.returncode or json.loads(done.stdout)["results"] != wanted:
            problems.append(f"diff {options}: {done.returncode}\n{done.stdout[:200]}{done.stderr}")

    # Standard output that takes nothing, or is closed, is noticed.
    with open("/dev/full", "w", encoding="utf-8") as full:
        expect(subprocess.run([KERNELAB, "analyze", at("cut-out.klab")], stdout=full, text=True,
                              stderr=subprocess.PIPE), 2, "standard output")
        expect(subprocess.run([KERNELAB, "diff", a, "--b", "recorded", *soft], stdout=full, text=True,
                              stderr=subprocess.PIPE), 2, "standard output")
    expect(subprocess.run(["sh", "-c", '"$@" >&-', "sh", KERNELAB, "diff", a, "--b", "recorded", "-o",
                           at("closed.klab"), *soft], capture_output=True, text=True),
           2, "standard output")
    if subprocess.run([KERNELAB, "verify", at("closed.klab")], capture_output=True).returncode:
        problems.append("what diff printed with standard output closed went into the result")

    # The repro command, pasted: the same finding, by the same trials, on the same device.
    odd = at("it's a $folder")
    os.mkdir(odd)
    make(os.path.join(odd, "a b.klab"), "scale")
    make(os.path.join(odd, "b;.klab"), "other", "no-data")
    done = run(os.path.join(odd, "a b.klab"), "--b", os.path.join(odd, "b;.klab"), "-o",
               at("odd.klab"), *soft, "--trials", "scaled,derived", "--repeats", "2", "--dtype",
               "k.Y=bf16", "--timeout", "30", "--b-commit", "it's $1")
    expect(done, 0, "1 faithful")

    def verdict(name):
        with open(at(name), encoding="utf-8") as f:
            return json.load(f)

    subprocess.run([KERNELAB, "analyze", at("odd.klab"), "--json", at("odd.json")],
                   capture_output=True)
    first = verdict("odd.json")["families"][0]
    repro = first["worst"]["repro"]
    for word in "--device soft", "--trials scaled,derived", "--repeats 2", "--dtype k.Y=bf16":
        if word not in repro:
            problems.append(f"no {word} in {repro}")
    path = os.path.dirname(os.path.abspath(KERNELAB)) + ":" + os.environ["PATH"]
    done = subprocess.run(["sh", "-c", f"{repro} --json again.json"], cwd=folder, text=True,
                          capture_output=True, env={**os.environ, "PATH": path})
    if done.returncode != 1:
        problems.append(f"{repro}: status {done.returncode}: {done.stderr}")
    else:
        again = verdict("again.json")
        if again["sides"]["B"]["commit"] != "it's $1" or any(
                again["families"][0][k] != first[k] for k in ("bucket", "rule", "evidence")):
            problems.append(f"{repro}: {again['families'][0]} instead of {first}")

    # Which side is nearer to A's kernel in double precision.
    make(at("third.klab"), "third")
    make(at("coarse.klab"), "coarse", "no-data")
    done = subprocess.run([KERNELAB, "diff", at("third.klab"), "--b", at("coarse.klab"), *soft, "--trials", "scaled",
                           "--reference", "10", "--json", at("reference.json")], capture_output=True, text=True,
                          env={**os.environ, "KERNELAB_SOFTGPU_LOG": "quiet"})
    if "reference in double precision: A is nearer: rms error A 0.272, B 121 ulp" not in done.stdout:
        problems.append(f"--reference: {done.stdout}{done.stderr}")
    with open(at("reference.json")) as file:
        found = json.load(file)["families"][0]["configs"][0]["cases"][0]["outputs"][0]["reference"]
    if (found["nearer"], found["compared"], found["ties"]) != ("A", 1000, 0):
        problems.append(f"--reference: {found}")

    # An image for another device: said in the result, no failure of the command.
    make(at("new.klab"), "scale", "other-arch")
    expect(run(at("new.klab"), "--b", "recorded", "-o", at("new-out.klab"), *soft), 0,
           "1 unfaithful", "0 of 1 configs")

    # Ctrl-C, the end of a batch job, a terminal that goes away.
    make(at("loop.klab"), "loop", "no-data")
    for stop in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        stopped = at(f"{stop.name}.klab")
        process = subprocess.Popen(
            [KERNELAB, "replay", a, "--b", at("loop.klab"), "-o", stopped, *soft],
            stderr=subprocess.PIPE, text=True, env={**os.environ, "KERNELAB_SOFTGPU_LOG": "quiet"})
        for _ in range(600):
            if os.path.exists(stopped) and os.path.getsize(stopped) > 2000:
                break
            time.sleep(0.05)
        time.sleep(0.3)
        process.send_signal(stop)
        _, text = process.communicate(timeout=60)
        if process.returncode != 130:
            problems.append(f"{stop.name}: status {process.returncode}: {text}")
        if subprocess.run([KERNELAB, "verify", stopped], capture_output=True).returncode:
            problems.append(f"{stop.name}: the interrupted result is not whole")

for problem in problems:
    print(problem)
print(f"{len(problems)} problems")
sys.exit(1 if problems else 0)
