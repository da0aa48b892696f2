# SPDX-License-Identifier: MIT
"""Version, distribution and commit of Triton, from files beside its loaded library; the environment, without secrets.

test_versions.py BUILD_DIR FOLDER
"""
import json
import os
import shutil
import sys
import tempfile

import _ctypes
import whole_tool

tool = whole_tool.Tool(sys.argv[1])
if tool.instrumented():
    sys.exit(77)  # an instrumented shim cannot be loaded into Python
COMMIT = "0123456789abcdef0123456789abcdef01234567"
PROGRAM = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
sys.argv[1:] = [sys.argv[2]]
sys.path.insert(0, {here!r})
import workers_program
device = workers_program.Device(sys.argv[1])
device.launch()
print(device.sum())
"""


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def package(folder, version):
    """What the preload library takes for Triton: a package with a loaded _C/libtriton.so."""
    write(os.path.join(folder, "__init__.py"), f'"""Triton"""\n__version__ = "{version}"\n')
    os.makedirs(os.path.join(folder, "_C"))
    shutil.copy(_ctypes.__file__, os.path.join(folder, "_C/libtriton.so"))


def facts(top, folder):
    out = tempfile.mkdtemp(dir=top)
    program = os.path.join(top, "program.py")
    write(program, PROGRAM.format(here=os.path.dirname(os.path.abspath(__file__))))
    done = tool.run([tool.kernelab, "capture", "-o", out, "--device", "soft", "--no-glue", "--", sys.executable, program,
                     os.path.join(folder, "_C/libtriton.so"), sys.argv[2]], 0, DISABLE_LLVM_OPT="1", TRITON_HOME=top,
                    TRITON_API_KEY="hush-hush", TORCHINDUCTOR_REDIS_URL="hush-hush", HF_TOKEN="hush-hush", UNRELATED="x")
    tool.expect(done.stdout == "499500.0\n", done.stdout)
    with open(next(os.path.join(out, name) for name in os.listdir(out) if name.endswith(".klab")), "rb") as f:
        everything = f.read()
    tool.expect(b"env.DISABLE_LLVM_OPT" in everything and b"env.TRITON_HOME" in everything, "variables that matter")
    tool.expect(b"hush-hush" not in everything and b"UNRELATED" not in everything, "a secret, or what is none of ours")
    suite = json.loads(tool.run([tool.kernelab, "ls", "--json", out], 0).stdout)
    return {fact["name"]: (fact["value"], fact["how"]) for fact in suite["bundles"][0]["facts"]}


def check(found, version, distribution, commit, how):
    tool.expect(found["triton.version"][0] == version, f"{found}")
    tool.expect(found.get("triton.package", ("",))[0] == distribution, f"package: {found}")
    tool.expect(found.get("triton.commit", ("", "")) == (commit, how), f"commit {commit!r}: {found}")


with tempfile.TemporaryDirectory() as folder:
    folder = os.path.realpath(folder)
    site = os.path.join(folder, "site1")
    package(os.path.join(site, "triton"), "3.7.4+fb")
    os.makedirs(os.path.join(site, "fbtriton-3.7.4.dist-info"))
    check(facts(folder, os.path.join(site, "triton")), "3.7.4+fb", "fbtriton 3.7.4", "", "")

    site = os.path.join(folder, "site2")
    package(os.path.join(site, "triton"), "3.5.0+git7416ffcb")
    os.makedirs(os.path.join(site, "pytorch_triton-3.5.0+git7416ffcb.dist-info"))
    check(facts(folder, os.path.join(site, "triton")), "3.5.0+git7416ffcb", "pytorch_triton 3.5.0+git7416ffcb", "7416ffcb",
          "its version")

    site = os.path.join(folder, "site3")
    package(os.path.join(site, "triton"), "3.8.0")
    write(os.path.join(site, "triton-3.8.0.dist-info/direct_url.json"), json.dumps(
        {"url": "https://example.org/triton", "vcs_info": {"vcs": "git", "commit_id": COMMIT}}))
    check(facts(folder, os.path.join(site, "triton")), "3.8.0", "triton 3.8.0", COMMIT,
          "direct_url.json of its installation")

    # An editable installation lies in its checkout; a site folder inside somebody's repository says nothing of Triton.
    for below, wanted in ("python/triton", COMMIT), ("env/site/triton", ""):
        top = os.path.join(folder, "checkout-" + below.split("/")[0])
        package(os.path.join(top, below), "3.8.0")
        write(os.path.join(top, ".git/HEAD"), "ref: refs/heads/main\n")
        write(os.path.join(top, ".git/packed-refs"), f"# pack-refs\n{'f' * 40} refs/heads/main2\n{COMMIT} refs/heads/main\n")
        check(facts(folder, os.path.join(top, below)), "3.8.0", "", wanted,
              "HEAD of the checkout it lies in" if wanted else "")
tool.finish()
