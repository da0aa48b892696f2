# SPDX-License-Identifier: MIT
"""Contents on their way into the bundle: all there however they go, within bounds, or told why not.

test_copies.py KERNELAB CLIENT DUMP SHIM NO_THREADS SOFTGPU_FOLDER CUBIN CACHE
"""
import glob
import os
import re
import subprocess
import sys
import tempfile
import time

kernelab, client, dumper, shim, no_threads, softgpu, cubin, cache = sys.argv[1:9]
if "__asan" in subprocess.run(["nm", "-D", shim], capture_output=True, text=True).stdout:
    PRELOAD = {"ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
    INSTRUMENTED = True
else:
    PRELOAD = {}
    INSTRUMENTED = False
ENV = {k: v for k, v in os.environ.items() if not k.startswith(("KERNELAB_", "TRITON_", "LD_"))}
MIB = 1 << 20
problems = []


def fail(name, text):
    problems.append(f"{name}: {text}")


class Run:
    def __init__(self, top, name, mode, pairs, elements, preload=shim, **env):
        self.name, self.folder = name, f"{top}/{name}"
        os.mkdir(self.folder)
        env = {"KERNELAB_" + k: str(v) for k, v in env.items()}
        if preload:
            env = {"LD_PRELOAD": preload, "KERNELAB_OUTPUT": self.folder, "KERNELAB_CACHE_ROOTS": cache,
                   "KERNELAB_PER_CLASS": "100"} | PRELOAD | env
        start = time.time()
        done = subprocess.run([client, cubin, mode, str(pairs), str(elements)], capture_output=True, text=True,
                              env={**ENV, "LD_LIBRARY_PATH": softgpu, "KERNELAB_SOFTGPU_LOG": "quiet", **env},
                              timeout=170)
        if os.environ.get("TIMES"):
            print(name, round(time.time() - start, 2), file=sys.stderr)
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
        found = re.search(r"^resident (\d+)$", done.stderr, re.M)
        self.resident = int(found.group(1)) if found else 0
        found = re.search(r"^tasks (\d+)$", done.stderr, re.M)
        self.tasks = int(found.group(1)) if found else 0
        self.bundles = glob.glob(f"{self.folder}/*.klab")
        if done.returncode:
            fail(name, f"status {done.returncode}: {done.stderr}")
        if preload and len(self.bundles) != 1:
            fail(name, f"{len(self.bundles)} bundles: {done.stderr}")

    def shown(self, *args):
        done = subprocess.run([kernelab, *args], capture_output=True, text=True)
        if done.returncode:
            fail(self.name, f"{args}: {done.returncode} {done.stdout}{done.stderr}")
        return done.stdout

    def dump(self):
        """All contents, a line a launch, read from the bundle."""
        self.shown("verify", self.bundles[0])
        done = subprocess.run([dumper, self.bundles[0]], capture_output=True, text=True)
        if done.returncode:
            fail(self.name, f"contents: {done.stderr}")
        self.facts = [line for line in done.stdout.splitlines() if line.startswith("fact ")]
        return sorted(line for line in done.stdout.splitlines() if line.startswith("launch "))

    def fact(self, name):
        found = [line.split(" ", 2)[2] for line in self.facts if line.startswith(f"fact {name} ")]
        # Counts without what they are.
        return found[-1].split(" ")[0] if found and found[-1][0].isdigit() else found[-1] if found else None

    def ls(self):
        return self.shown("ls", self.bundles[0])


def same(a, b):
    if a.dump() != b.dump():
        fail(b.name, f"other contents than {a.name}:\n" + "\n".join(a.dump()[:6]) + "\ninstead of\n"
             + "\n".join(b.dump()[:6]))
    if a.out != b.out:
        fail(b.name, f"the program printed {b.out} instead of {a.out}")


def whole(run, launches):
    if "without contents" in run.ls():
        fail(run.name, run.ls())
    if len(run.dump()) != launches:
        fail(run.name, f"{len(run.dump())} launches, not {launches}")
    return run


def expect_reason(run, count, reason):
    """`count` launches have no contents, for that reason; the others are whole."""
    shown = run.ls()
    if not re.search(rf"{count} recorded launch(es)? without contents: .*{reason}", shown):
        fail(run.name, f"nobody says {count} × '{reason}': {shown}")


def killed(top, number):
    """A bundle of a program that was killed refers to nothing that is not there."""
    folder = f"{top}/killed{number}"
    os.mkdir(folder)
    env = {**ENV, **PRELOAD, "LD_PRELOAD": shim, "LD_LIBRARY_PATH": softgpu, "KERNELAB_OUTPUT": folder,
           "KERNELAB_CACHE_ROOTS": cache, "KERNELAB_PER_CLASS": "100", "KERNELAB_RING": "1"}
    with subprocess.Popen([client, cubin, "once", "32", "300000"], env=env, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        for _ in range(2000):  # until so many launches are under way or done
            size = sum(os.path.getsize(f) for f in glob.glob(f"{folder}/*.klab"))
            if size > 4000000 * (number + 1) or process.poll() is not None:
                break
            time.sleep(0.002)
        process.kill()
    bundle = glob.glob(f"{folder}/*.klab")
    dump = subprocess.run([dumper, *bundle], capture_output=True, text=True)
    if dump.returncode or not dump.stdout:
        fail(f"killed {number}", f"{dump.returncode} {dump.stdout}{dump.stderr}")
    return dump.stdout.count("launch ")


def check(top):
    def run(name, mode, pairs, elements, **env):
        return Run(top, name, mode, pairs, elements, **env)

    # The same contents through pinned memory, pageable memory, a small ring, with and without extents.
    small = ("once", 6, 200000)
    pinned = whole(run("pinned", *small), 6)
    if any("capture.copies" in line for line in pinned.facts):
        fail("pinned", "copies are pageable")
    if pinned.out != Run(top, "alone", *small, preload=None).out:
        fail("pinned", f"the program printed {pinned.out}")
    pageable = whole(run("pageable", *small, SOFTGPU_FAULT="cuMemHostRegister_v2:1+:2"), 6)
    if not any(re.match("fact capture.copies pageable cuMemHostRegister: .*OUT_OF_MEMORY", line)
               for line in pageable.facts):
        fail("pageable", f"no fact: {pageable.facts}")
    same(pinned, pageable)
    words = whole(run("no words", *small, SOFTGPU_FAULT="cuStreamWriteValue32_v2:1+:801"), 6)
    same(pinned, words)
    if not (words.fact("capture.copies") or "").startswith("pageable cuStreamWriteValue32"):
        fail("no words", "\n".join(words.facts))
    same(pinned, whole(run("some words", *small, SOFTGPU_FAULT="cuStreamWriteValue32_v2:3:999"), 6))
    same(pinned, whole(run("no address", *small, SOFTGPU_FAULT="cuMemHostGetDevicePointer_v2:1+:1"), 6))
    same(pinned, whole(run("one pinned", *small, SOFTGPU_FAULT="cuMemHostRegister_v2:2+:2"), 6))
    same(pinned, whole(run("small ring", *small, RING=1), 6))
    if not INSTRUMENTED:
        alone = whole(run("no threads", *small, RING=1, preload=f"{no_threads}:{shim}"), 6)
        same(pinned, alone)
        if pinned.tasks < 2 or alone.tasks != 1:
            fail("no threads", f"{alone.tasks} threads, with workers {pinned.tasks}")
    stored = whole(run("stored", *small, COMPRESS="none"), 6)
    same(pinned, stored)
    if os.path.getsize(stored.bundles[0]) <= os.path.getsize(pinned.bundles[0]):
        fail("stored", "no larger than a compressed bundle")
    off = whole(run("off", *small, EXTENTS="off"), 6)
    same(off, whole(run("off, pageable", *small, EXTENTS="off", SOFTGPU_FAULT="cuMemHostRegister_v2:1+:2"), 6))
    # Threads and a context that goes while copies are under way.
    many = whole(run("many", "once", 16, 100000), 16)
    same(many, whole(run("threads", "threads", 16, 100000), 16))
    same(many, whole(run("threads, small ring", "threads", 16, 100000, RING=1), 16))
    gone = whole(run("context goes", "context-goes", 16, 100000), 16)
    if gone.dump() != many.dump():
        fail("context goes", "\n".join(gone.dump()))
    contexts = whole(run("contexts", "contexts", 2, 100000), 2 + 20 * 2 * 2)
    if len(set(contexts.out.splitlines())) != 2:
        fail("contexts", contexts.out)
    # What the device's hash knows is not copied again, and is what the hash says.
    off = whole(run("no hash", "twice", 6, 200000, HASH="off"), 12)
    twice = whole(run("twice", "twice", 6, 200000), 12)
    same(off, twice)
    copied, known = (int(twice.fact("capture." + name)) for name in ("copied_bytes", "known_bytes"))
    # Inputs (0.8 MB each) are known in the second round, outputs before the launch as after the first.
    if known < 6 * 1200000 or copied + known < int(off.fact("capture.copied_bytes")):
        fail("twice", f"{copied} bytes copied, {known} known")
    verify = whole(run("verify", "twice", 6, 200000, HASH="verify"), 12)
    same(off, verify)
    if verify.fact("capture.hash_mismatches") != "0" or verify.fact("capture.known_bytes") != str(known):
        fail("verify", "\n".join(verify.facts))
    threads = whole(run("twice, threads", "threads-twice", 16, 100000, RING=1), 32)
    if int(threads.fact("capture.known_bytes")) < 16 * 600000:
        fail("twice, threads", "\n".join(threads.facts))
    # Whole allocations may be what the kernel must not read: no hash without a measurement.
    unmeasured = whole(run("no extents", "twice", 6, 200000, EXTENTS="off"), 12)
    if unmeasured.fact("capture.hashed_bytes") != "0" or unmeasured.out != off.out:
        fail("no extents", "\n".join(unmeasured.facts))
    # The hash cannot be had: the variant is the first image that the library loads, the hash kernel the second.
    for name, fault, why in (("no hash kernel", "cuModuleLoadDataEx:2:218", "its kernel cannot be loaded"),
                             ("hash lost", "cuStreamWriteValue32_v2:1:lose", "its kernel did not end"),
                             ("no keys", "cuModuleGetGlobal_v2:2:500", "its kernel cannot be loaded")):
        unhashed = whole(run(name, "twice", 6, 200000, SOFTGPU_FAULT=fault, WAIT_BEFORE="1s"), 12)
        same(off, unhashed)
        if unhashed.fact("capture.hash") != "off " + why:
            fail(name, "\n".join(unhashed.facts))
    # Bitmaps of 320 KB are looked through on the device; without the kernel that does it (the second image here) they
    # are copied as a whole, and say the same.
    looked = whole(run("bitmaps", "twice", 1, 3400000), 2)
    copied = whole(run("whole bitmaps", "twice", 1, 3400000, SOFTGPU_FAULT="cuModuleLoadDataEx:2:218"), 2)
    same(looked, copied)
    extents = [re.findall(r"^ .*", r.shown("show", "--launch", "1", r.bundles[0]), re.M) for r in (looked, copied)]
    if extents[0] != extents[1] or not any("reads 13.0 MiB in 1 ranges" in line for line in extents[0]):
        fail("bitmaps", "\n".join(extents[0]))
    if looked.fact("capture.bitmaps") or not (copied.fact("capture.bitmaps") or "").startswith("whole "):
        fail("whole bitmaps", "\n".join(copied.facts))
    # More distinct contents than the table of what is known has room for: told in ls.
    if not INSTRUMENTED:
        full = whole(run("table full", "once", 2500, 64, HOST_MEMORY="3M", RING="2M", PER_CLASS=2500), 2500)
        if "capture.unentered_bytes" not in full.ls() or twice.fact("capture.unentered_bytes"):
            fail("table full", full.ls())
    # What gets lost is told, and only that is missing.
    expect_reason(run("before lost", *small, HASH="off", SOFTGPU_FAULT="cuStreamWriteValue32_v2:1:lose", WAIT_BEFORE="1s"), 1,
                  "did not end within 1 seconds")
    after = run("after lost", *small, HASH="off", SOFTGPU_FAULT="cuStreamWriteValue32_v2:2:lose", WAIT_AFTER="1s")
    if sum(" after 0 600 " in line for line in after.dump()) != 1:
        fail("after lost", "\n".join(after.dump()))
    # An error that stays ends what is under way with it, at once: not by a time, nor by the end of the program.
    sticky = run("context lost", "once", 3, 100000, HASH="off", EXTENTS="off", WAIT_AFTER="100s",
                 SOFTGPU_FAULT="cuStreamWriteValue32_v2:2:lose,cuStreamQuery:2+:700")
    expect_reason(sticky, 2, "its stream was not idle: CUDA_ERROR_ILLEGAL_ADDRESS")
    if sum(" after 0 700 changes 0" in line for line in sticky.dump()) != 1:
        fail("context lost", "\n".join(sticky.dump()))
    expect_reason(run("all lost", "once", 4, 200000, SOFTGPU_FAULT="cuStreamWriteValue32_v2:1+:lose", RING=1,
                      WAIT_BEFORE="0.3s", WAIT_AFTER="0.3s"), "[1-4]", "no room for copies|did not end")
    expect_reason(run("a copy fails", *small, SOFTGPU_FAULT="cuMemcpyDtoHAsync_v2:6:700"), 1, "the copy failed")
    same(pinned, whole(run("a copy stalls", *small, SOFTGPU_FAULT="cuMemcpyDtoHAsync_v2:6:stall:0.3"), 6))
    expect_reason(run("no memory", *small, HOST_MEMORY="100K"), 3, "no host memory")
    # Bounds: 192 MiB of contents through 48 MiB of memory.
    if not INSTRUMENTED:
        big = ("once", 16, 2 * MIB)
        alone = Run(top, "big alone", *big, preload=None)
        bounded = whole(run("bounded", *big, HOST_MEMORY="48M", RING="32M", COMPRESS="none"), 16)
        extra = bounded.resident - alone.resident
        if not alone.resident or extra > 72 * MIB:
            fail("bounded", f"{extra / MIB:.0f} MiB more than without")
    counts = [killed(top, number) for number in range(3)]
    if max(counts) < 2:
        fail("killed", f"launches in the bundles: {counts}")


with tempfile.TemporaryDirectory() as folder:
    check(folder)
print("\n".join(problems))
sys.exit(bool(problems))
