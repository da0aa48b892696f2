# SPDX-License-Identifier: MIT
"""capture --cupti on a GPU: test_cupti.py KERNELAB

What is recorded is what the driver's compiler made of the PTX, as a subscription of the program's own hears it;
replay and the exported script run it; PyTorch's profiler works beside it. Exit status 77 without GPU or libcupti.
"""
import glob
import os
import subprocess
import sys
import sysconfig
import tempfile

from gpu_test import HERE, finish, need_plain_shim, problems, skip

kernelab = os.path.abspath(sys.argv[1])
client = os.path.join(HERE, "cupti_client.py")
if not os.path.exists("/dev/nvidiactl"):
    skip("a GPU")
need_plain_shim(kernelab)
sites = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *sys.path}
libraries = sorted(found for site in sites for pattern in ("nvidia/cu1?/lib", "nvidia/cuda_cupti/lib")
                   for found in glob.glob(os.path.join(site, pattern, "libcupti.so.1*")))
libraries += glob.glob("/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.1?")
if not libraries:
    skip("libcupti")
library = libraries[0]
environment = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(library) + ":" + os.environ.get("LD_LIBRARY_PATH", ""))


def expect(condition, text):
    if not condition:
        problems.append(text)


def run(*command, env=None):
    done = subprocess.run(command, capture_output=True, text=True, env=env or environment)
    print("+", *command, "->", done.returncode)
    print(done.stdout + done.stderr)
    expect(done.returncode == 0, f"{' '.join(command)}: status {done.returncode}: {done.stdout}{done.stderr}")
    return done


def capture(out, mode, *options):
    return run(kernelab, "capture", "-o", out, "--origin", "all", *options, "--", sys.executable, client, mode)


def exported(top, mode, out):
    """The driver's code in the exported folder, or None; the folder is run."""
    folder = os.path.join(top, f"export-{mode}")
    run(kernelab, "export", out, "--launch", "1", "-o", folder)
    done = run(sys.executable, os.path.join(folder, "repro.py"))
    codes = glob.glob(os.path.join(folder, "a.driver.sm_*.cubin"))
    expect(len(codes) == 1 and os.path.basename(codes[0]) in done.stdout, f"{mode}: {codes}: {done.stdout}")
    if not codes:
        return None
    with open(codes[0], "rb") as f:
        return f.read()


with tempfile.TemporaryDirectory() as top:
    file = os.path.join(top, "own.cubin")
    plain = run(sys.executable, client, "module").stdout
    expect(run(sys.executable, client, "own", library, file).stdout == plain + "modules heard: 1\n",
           "the program's own subscription")
    with open(file, "rb") as f:
        own = f.read()
    for mode in "module", "library":
        out = os.path.join(top, mode)
        done = capture(out, mode, "--cupti")
        expect(done.stdout == plain, f"{mode}: printed {done.stdout!r}, not {plain!r}")
        expect("driver's code" in (head := run(kernelab, "ls", out).stdout) and "of 1 of 1 images" in head, head)
        expect("replay runs it on such a GPU" in run(kernelab, "show", out).stdout, f"{mode}: show")
        expect(exported(top, mode, out) == own, f"{mode}: the recorded code is not what the program's own CUPTI got")
        done = run(kernelab, "replay", out, "--b", "recorded", "-o", os.path.join(top, f"{mode}.klab"))
        expect("of 1 images of PTX or fatbins 1 ran as" in done.stderr, done.stderr)
        expect("1 faithful" in done.stderr, done.stderr)
    capture(os.path.join(top, "without"), "module")
    done = run(kernelab, "replay", os.path.join(top, "without"), "--b", os.path.join(top, "module"), "-o",
               os.path.join(top, "without.klab"))
    expect("1 faithful" in done.stderr and " 0 ran as" in done.stderr or " 1 ran as" in done.stderr, done.stderr)
    try:
        import torch
        torch_there = torch.cuda.is_available()
    except ImportError:
        torch_there = False
    if torch_there:
        plain = run(sys.executable, client, "profiler", env=dict(os.environ)).stdout
        expect("kernels seen: 10" in plain, plain)
        out = os.path.join(top, "profiler")
        done = run(kernelab, "capture", "-o", out, "--kernels", "scaled_sum", "--origin", "all", "--cupti", "--",
                   sys.executable, client, "profiler", env=dict(os.environ))
        expect(done.stdout == plain, f"beside the profiler: {done.stdout!r}, not {plain!r}")
        head = run(kernelab, "ls", out).stdout
        # Kineto may keep its subscription behind the profile.
        expect(("of 1 of 3 images" in head or "of 2 of 3 images" in head) and "a profiler of the program" in head, head)
finish()
