# SPDX-License-Identifier: MIT
"""Identity of real Triton kernels: families, configs, pairs of A and B, equal code, parameters."""
import collections
import glob
import os
import subprocess
import sys
import tarfile
import tempfile

KEYS, DATA = sys.argv[1:3]
# set: images a side, families, images with equal machine code in A and B (ptxas 12.8 and 13.0)
EXPECTED = {"user": (16, 7, 0), "compile": (72, 47, 20), "more": (122, 47, 21)}
HIDDEN = {"3.0": "00", "3.2": "00", "3.3": "10", "3.4": "10", "3.5": "11", "3.6": "11",
          "3.9": "11"}
checks = 0


def check(good, text):
    global checks
    checks += 1
    if not good:
        sys.exit(f"FAILED: {text}")


def read(stems):
    out = subprocess.run([KEYS, *stems], check=True, capture_output=True, text=True).stdout
    return [dict(field.split("=", 1) for field in line.split("\t")) for line in out.splitlines()]


def entries(folder):
    return sorted(name[:-len(".json")] for name in glob.glob(os.path.join(folder, "*", "*.json"))
                  if not os.path.basename(name).startswith("__grp__"))


def by_key(kernels, name):
    table = collections.defaultdict(list)
    for k in kernels:
        table[k["family"], k[name], k["special"]].append(k)
    return table


def check_kernel(k, hidden):
    args = [int(a.rsplit(":", 1)[1]) for a in k["args"].split(",") if a]
    params = [int(p.split(":")[1]) for p in k["params"].split(",") if p]
    check(params == args + [8] * hidden.count("1"), f"{k['stem']}: parameters {params} of {args}")
    check(k["scratch"] == hidden, f"{k['stem']}: hidden scratch {k['scratch']}")
    check(int(k["threads"]) == 32 * int(k["total_warps"]), f"{k['stem']}: threads")
    check(int(k["registers"]) > 0 and k["arch"] == "90", f"{k['stem']}: registers, arch")


def check_pairs(name, a, b):
    count, families, equal = EXPECTED[name]
    for side in (a, b):
        check(len(side) == count, f"{name}: {len(side)} images")
        check(len({k["family"] for k in side}) == families, f"{name}: families")
        origin = "triton" if name == "user" else "inductor"
        check({k["origin"] for k in side} == {origin}, f"{name}: origin")
    for key in ("config", "loose"):
        left, right = by_key(a, key), by_key(b, key)
        check(len(left) == len(right) == count, f"{name}: {key} is ambiguous")
        check(left.keys() == right.keys(), f"{name}: {key} does not pair")
    pairs = [(v[0], right[k][0]) for k, v in left.items()]
    check(sum(x["code"] == y["code"] for x, y in pairs) == equal, f"{name}: equal machine code")
    check(all(x["recovered"] == y["recovered"] for x, y in pairs), f"{name}: canonical PTX")
    check({x["tool"] for x, _ in pairs} == {""}, f"{name}: ptxas 12.8 leaves no tool string")
    check({y["tool"] for _, y in pairs} == {"13.0.88"}, f"{name}: ptxas 13.0 leaves one")
    for k in a + b:
        check_kernel(k, "11")
        check("ptx" not in k or k["ptx"] == k["recovered"], f"{k['stem']}: recovered PTX")


def check_versions(folder):
    kernels = {os.path.basename(os.path.dirname(k["stem"])): k for k in read(entries(folder))
               if k["name"] == "add_kernel"}
    for name, k in kernels.items():
        check_kernel(k, HIDDEN[name.split("-")[1].rsplit(".", 1)[0]])
    newer = [k for name, k in kernels.items() if name != "triton-3.0.0"]
    check(len(newer) == 5, "five versions from 3.2 on")
    check(len({k["family"] for k in newer}) == 1, "one family over Triton 3.2 to 3.9")
    check(len({k["loose"] for k in newer}) == 1, "paired over Triton 3.2 to 3.9")
    check(kernels["triton-3.4.0"]["config"] == kernels["triton-3.5.1"]["config"],
          "SSA names (3.5 has those of the source) are no part of a config")
    tlx = {k["name"]: k for k in read(entries(folder)) if k["name"].startswith("tlx_")}
    check({k["origin"] for k in tlx.values()} == {"tlx"}, "TLX kernels are known as such")
    check(tlx["tlx_dot"]["args"] == "a_ptr:8,b_ptr:8,out_ptr:8,K:4",
          "its .source is in MLIR's generic form: arguments from .ttir")
    check((tlx["tlx_ws"]["warps"], tlx["tlx_ws"]["total_warps"]) == ("4", "8"),
          "a warp-specialised kernel has the config's 4 warps and 8 in all")


def main():
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(os.path.join(DATA, "cache-entries.tar.xz")) as archive:
            archive.extractall(folder)
        for name in EXPECTED:
            check_pairs(name, read(entries(os.path.join(folder, "a_" + name))),
                        read(entries(os.path.join(folder, "b_" + name))))
    check_versions(os.path.join(DATA, "versions"))
    print(f"{checks} checks")


main()
