# SPDX-License-Identifier: MIT
"""The committed kernels are whole, belong to their sources, and stay in the tiers they promise."""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "data", "apps")
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
from edits import EDITS  # noqa: E402

FORBIDDEN = re.compile(r"^\s*(?:@!?%p\d+\s+)?"
                       r"(mma|wgmma|ldmatrix|stmatrix|cp\.async|mbarrier|tcgen05|red|trap)\b", re.M)
FIELDS = re.compile(r"(\w+) (\S+)\.cubin args=([phinfPHINF]+) scratch=(\d) warps=(\d+) shared=(\d+) "
                    r"blocks=([\d,]+)$")
problems, images = [], 0


def check_image(folder, line):
    match = FIELDS.match(line)
    if not match:
        problems.append(f"{folder}: manifest line not understood: {line}")
        return None
    entry, stem, kinds, scratch, warps, shared, _ = match.groups()
    base = os.path.join(folder, stem)
    for suffix in (".cubin", ".json", ".source", ".ttir", ".ptx"):
        if not os.path.getsize(base + suffix):
            problems.append(f"{base}{suffix} is empty")
    with open(base + ".json", encoding="utf-8") as f:
        meta = json.load(f)
    wanted = {"name": entry, "num_warps": int(warps), "shared": int(shared), "num_stages": 1}
    for key, value in wanted.items():
        if meta[key] != value:
            problems.append(f"{base}.json: {key} is {meta[key]}, the manifest says {value}")
    with open(base + ".ptx", encoding="utf-8") as f:
        ptx = f.read()
    head = ptx[ptx.index(f".entry {entry}("):]
    if len(re.findall(r"\.param\s", head[:head.index(")")])) != len(kinds) + int(scratch):
        problems.append(f"{base}.ptx: parameters do not fit the manifest")
    for opcode in sorted(set(FORBIDDEN.findall(ptx))):
        problems.append(f"{base}.ptx uses {opcode}")
    if "fma.rn.f32" not in ptx and entry == "matmul":
        problems.append(f"{base}.ptx: matmul without FMA")
    return entry, kinds, warps, match.group(7)


def check_folder(folder):
    global images
    with open(os.path.join(folder, "manifest"), encoding="utf-8") as f:
        lines = f.read().splitlines()
    images += len(lines)
    folders = {name for name in os.listdir(folder) if name != "manifest"}
    used = {line.split()[1].split("/")[0] for line in lines}
    if folders != used:
        problems.append(f"{folder}: manifest and folders differ: {sorted(folders ^ used)}")
    return {check_image(folder, line) for line in lines}


a, b = (check_folder(os.path.join(DATA, side)) for side in "ab")
if a != b:
    problems.append(f"a and b hold different kernels: {sorted(a ^ b)}")
if len(a) != 18 or len({image[0] for image in a}) != 15:
    problems.append(f"a holds {len(a)} images of {len({image[0] for image in a})} families")
if sum(image[0] == "matmul" for image in a) != 3:
    problems.append("matmul has not three configs")
if set(os.listdir(os.path.join(DATA, "edits"))) != set(EDITS):
    problems.append("edits.py and tests/data/apps/edits differ")
for name, edit in EDITS.items():
    edited = check_folder(os.path.join(DATA, "edits", name))
    if edited != {image for image in a if image[0] == edit["kernel"]}:
        problems.append(f"edits/{name} does not hold {edit['kernel']} in all its images")
with open(os.path.join(HERE, "kernels.py"), encoding="utf-8") as f:
    source = f.read()
for name, edit in EDITS.items():
    if source.count(edit["old"]) != 1 or edit["old"].count("\n") != edit["new"].count("\n"):
        problems.append(f"edit {name} does not fit kernels.py")
for side in ("a", "b"):
    for root, _, files in os.walk(os.path.join(DATA, side)):
        for name in files:
            if not name.endswith(".source"):
                continue
            with open(os.path.join(root, name), encoding="utf-8") as f:
                match = re.search(r'^#loc = loc\("/home/user/demo/kernels.py":(\d+):', f.read(), re.M)
            line = source.splitlines()[int(match.group(1)) - 1] if match else ""
            if not re.match(r"(@triton.jit|def )", line):
                problems.append(f"{root}/{name} was not made from kernels.py (line {line!r})")
for problem in problems:
    print(problem)
print(f"{images} images checked")
sys.exit(1 if problems or images < 36 else 0)
