# SPDX-License-Identifier: MIT
# test_assembles.py VARIANT BUILD_DEPS FILE…: every real kernel among the files (.ptx, or a .tar.xz of them)
# has a variant, and ptxas assembles it. Without a ptxas the second half is skipped (77).
import glob, os, shutil, subprocess, sys, tarfile, tempfile

variant, deps, *files = sys.argv[1:]
ptxas = shutil.which("ptxas", path=os.path.join(deps, "cuda/bin") + ":" + os.environ["PATH"])
with tempfile.TemporaryDirectory() as folder:
    sources = []
    for f in files:
        if f.endswith(".ptx"):
            sources.append(f)
            continue
        with tarfile.open(f) as tar:
            tar.extractall(folder, filter="data") if hasattr(tarfile, "data_filter") \
                else tar.extractall(folder)
    sources += glob.glob(folder + "/**/*.ptx", recursive=True)
    out = os.path.join(folder, "variants")
    os.mkdir(out)
    answer = subprocess.run([variant, "-o", out, *sources], stdout=subprocess.PIPE, text=True, check=True)
    lines = answer.stdout.splitlines()
    refused = [line for line in lines if "\trefused" in line]
    if refused or len(lines) < len(sources) or not sources:
        sys.exit("\n".join(refused) or "an entry is missing")
    print(len(sources), "files,", len(lines), "entries have a variant")
    if not ptxas:
        print("no ptxas: not assembled")
        sys.exit(77)
    for f in sorted(os.listdir(out)):
        done = subprocess.run([ptxas, "-arch=sm_90a", os.path.join(out, f), "-o", os.path.join(folder, "o.cubin")],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(f"{f}: {done.stdout}")
    print("all assembled by", ptxas)
