# SPDX-License-Identifier: MIT
"""Memory of every kind is recorded, and a replay has it again: capture, show, replay, analyze of real runs.

test_memory.py KERNELAB CLIENT DEVICE KERNELS.ptx KERNELS.cubin [faults]
DEVICE: the software device's folder, or gpu: then a device of CC 9.0 is wanted (exit status 77 without).
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

kernelab, client, device, ptx, cubin = sys.argv[1:6]
ENV = {k: v for k, v in os.environ.items() if not k.startswith(("KERNELAB_", "TRITON_", "LD_"))}
if device != "gpu":
    ENV.update(LD_LIBRARY_PATH=device, KERNELAB_SOFTGPU_LOG="quiet")
elif subprocess.run([client, "globals", cubin], capture_output=True, env=ENV).returncode:
    sys.exit(77)
REPLAY_DEVICE = "gpu" if device == "gpu" else "soft"
problems = []


def expect(what, ok, detail=""):
    if not ok:
        problems.append(f"{what}: {str(detail)[:2000]}")


def run(*command, env=None, status=0):
    done = subprocess.run(command, capture_output=True, text=True, env={**ENV, **(env or {})}, timeout=120)
    if done.returncode != status:
        problems.append(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done


QUICK = ("--trials", "none", "--repeats", "1", "--repeats-max", "1")


def capture(out, mode, image=ptx, env=None, options=(), alone=False):
    """Records a run, which must print what it prints without us. Returns the folder. alone: env is the capture's."""
    plain = run(client, mode, image, env=None if alone else env)
    done = run(kernelab, "capture", "--origin", "all", "--device", "gpu", *options, "-o", out, "--", client, mode,
               image, env=env)
    expect(f"{mode}: prints", done.stdout == plain.stdout, f"{plain.stdout!r} {done.stdout!r}")
    return out


def show(folder, launch):
    return run(kernelab, "show", "--launch", str(launch), folder).stdout


def replay(out, bundles, b="recorded", options=(), env=None):
    """Returns the summary line and the verdict by family name."""
    done = run(kernelab, "replay", *bundles, "--b", b, "-o", out, "--device", REPLAY_DEVICE, *options, env=env)
    verdict = subprocess.run([kernelab, "analyze", out, "--json", "-"], capture_output=True, text=True, env=ENV,
                             timeout=120)
    families = {f["name"]: f for f in json.loads(verdict.stdout)["families"]}
    return done.stderr, families


def brief(families):
    return [(f["name"], f["bucket"], f["evidence"]) for f in families.values()]


def changed_ptx(path, old, new):
    with open(ptx) as f:
        text = f.read()
    expect("test", text.count(old) == 1, f"{old} stands once in the PTX")
    with open(path, "w") as f:
        f.write(text.replace(old, new))
    return path


def regions(text):
    """name or kind of a region: (reads, writes) in bytes of a measured launch."""
    found = {}
    for m in re.finditer(r"region \d+: 0x\w+, [^,]*, ([^;]*); ([^\n]*)\n    reads (.*?) in .* writes (.*?) in", text):
        found.setdefault(m[1], []).append((m[3], m[4]))
    return found


def code_of(folder):
    return re.findall(r"registers, code (\w+)", run(kernelab, "show", folder).stdout)


def globals_(top):
    a = capture(f"{top}/globals", "globals")
    seen = regions(show(a, 1))
    expect("globals: acc is read and written", seen.get("module global acc") == [("256 B", "256 B")], seen)
    expect("globals: perm is read", seen.get("module global perm") == [("1.0 KiB", "0 B")], seen)
    expect("globals: factors are constants", seen.get("module global factors") == [("16 B", "0 B")], seen)
    expect("globals: texts of the compiler are left out", not any("assert" in k for k in seen), seen)
    expect("globals: of what a launch does not touch nothing is kept", "perm" not in show(a, 2), show(a, 2))

    summary, families = replay(f"{top}/globals.klab", [a])
    expect("globals: faithful", "2 faithful" in summary, summary)
    expect("globals: equal", [f["bucket"] for f in families.values()] == [1, 1], brief(families))

    # A difference that only the variable shows, and one of what it holds: both are found.
    b = changed_ptx(f"{top}/b.ptx", "add.f32 %f5, %f4, %f3;", "add.f32 %f5, %f4, %f1;")
    summary, families = replay(f"{top}/globals-b.klab", [a], capture(f"{top}/globals-b", "globals", b))
    expect("globals: B's sum is another", families["named"]["bucket"] == 3, families["named"])
    expect("globals: told by its name", "acc" in json.dumps(families["named"]), families["named"])
    expect("globals: the rest is equal", families["through"]["bucket"] == 1, families["through"])

    # Names out of a symbol table, PTX out of the cubin's debug section.
    c = capture(f"{top}/globals-cubin", "globals", cubin)
    expect("globals of a cubin", regions(show(c, 1)).items() >= {k: v for k, v in seen.items() if "global" in k}.items(),
           show(c, 1))
    expect("globals of a cubin: replay", "2 faithful" in replay(f"{top}/globals-cubin.klab", [c])[0])

    # Fatbins: a cubin and PTX, or PTX alone.
    for name in "kernels", "kernels-ptx":
        c = capture(f"{top}/globals-{name}", "globals", os.path.join(os.path.dirname(cubin), f"{name}.fatbin"))
        expect(f"globals of {name}.fatbin", regions(show(c, 1)).items() >=
               {k: v for k, v in seen.items() if "global" in k}.items(), show(c, 1))
        expect(f"globals of {name}.fatbin: replay", "2 faithful" in replay(f"{top}/globals-{name}.klab", [c])[0])
        if name == "kernels":  # the cubin in it is the one above
            expect("a fatbin's code", code_of(c) == code_of(f"{top}/globals-cubin"), (code_of(c), c))
        else:  # and the PTX in it that of the first run
            families = replay(f"{top}/ptx-{name}.klab", [c], a, options=QUICK)[1]
            expect("a fatbin's PTX", [k["pairing"] for f in families.values() for k in f["configs"] if k["cases"]] ==
                   ["exact"] * 2, json.dumps(families)[:1500])

    # Not measured: whole variables.
    off = capture(f"{top}/globals-off", "globals", env={"KERNELAB_EXTENTS": "off"})
    expect("globals, not measured: all of them", show(off, 2).count("module global") == 3, show(off, 2))
    summary, families = replay(f"{top}/globals-off.klab", [off])
    expect("globals, not measured: faithful", "2 faithful" in summary, summary)
    expect("globals, not measured: equal", [f["bucket"] for f in families.values()] == [1, 1], brief(families))

    # A module whose variable has another size cannot stand in.
    small = changed_ptx(f"{top}/small.ptx", ".f32 acc[64]", ".f32 acc[65]")
    other = subprocess.run([kernelab, "capture", "--origin", "all", "--no-data", "--device", "gpu", "-o", f"{top}/small",
                            "--", client, "any-size", small], capture_output=True, text=True, env=ENV, timeout=120)
    summary, families = replay(f"{top}/small.klab", [a], f"{top}/small")
    expect("globals: another size is refused", "module variable acc has 260 bytes, recorded were 256" in
           json.dumps(families), (other.stderr, json.dumps(families)[:2000]))


def tables(top):
    a = capture(f"{top}/tables", "tables")
    text = show(a, 1)
    seen = regions(text)
    expect("tables: all that the table leads to", len(seen.get("allocation", [])) == 17, text)
    expect("tables: and no more", seen["allocation"].count(("1.0 KiB", "0 B")) == 8 and
           seen["allocation"].count(("0 B", "1.0 KiB")) == 8, text)
    expect("tables: measured whole", "outside" not in text, text)
    summary, families = replay(f"{top}/tables.klab", [a])
    expect("tables: faithful", "1 faithful" in summary, summary)
    expect("tables: equal", families["grouped"]["bucket"] == 1, brief(families))
    outputs = [o["dtype"] for c in families["grouped"]["configs"] for k in c["cases"] for o in k["outputs"]]
    expect("tables: outputs of the type that is stored", outputs == ["f32"] * 8, outputs)
    off = capture(f"{top}/tables-off", "tables", env={"KERNELAB_EXTENTS": "off"})
    expect("tables, not measured", show(off, 1).count("; contents recorded") == 17 + 3, show(off, 1))
    expect("tables, not measured: faithful", "1 faithful" in replay(f"{top}/tables-off.klab", [off])[0])
    expect("tables, not measured: told what was not looked into", "regions above 1 MiB" in show(off, 1), show(off, 1))
    chain = capture(f"{top}/chain", "chain")
    expect("chain: what is touched", show(chain, 1).count("; contents recorded") == 3, show(chain, 1))
    chain = show(capture(f"{top}/chain-off", "chain", env={"KERNELAB_EXTENTS": "off"}), 1)
    expect("chain, not measured: followed for so long", "not followed for more than 8 steps" in chain, chain)
    off = show(off, 1)
    expect("chain, not measured: said only then", "steps" not in off, off)


def more_tables(top):
    """Reached by a pointer only, a module variable is memory like any other."""
    a = capture(f"{top}/variable", "table-of-variable")
    text = show(a, 1)
    expect("table of a variable", regions(text).get("allocation perm") == [("1.0 KiB", "0 B")], text)
    expect("table of a variable: faithful", "1 faithful" in replay(f"{top}/variable.klab", [a], options=QUICK)[0])


def faults(top):
    """A driver that refuses: the program does what it does, and what is missing is told."""
    calls = ("cuFuncGetModule", "cuGraphAddKernelNode_v2", "cuMemcpyDtoDAsync_v2", "cuGraphAddMemcpyNode",
             "cuGraphAddDependencies_v2", "cuPointerGetAttribute", "cuMemGetAddressRange_v2", "cuGraphClone",
             "cuGraphNodeGetDependencies_v2", "cuGraphNodeGetDependentNodes_v2", "cuMemcpyDtoHAsync_v2")
    told = r"not recorded|extents: |no contents|without contents|missing"
    # The program asks for three variables, then its first launch is recorded: the second of its variables is lost.
    a = capture(f"{top}/unfound", "globals", env={"KERNELAB_SOFTGPU_FAULT": "cuModuleGetGlobal_v2:5:500"}, alone=True)
    text = show(a, 1)
    expect("a variable that is not found: told", "note: module variables that the driver does not find are not recorded: "
           "CUDA_ERROR_NOT_FOUND (named symbol not found): perm\n" in text, text)
    expect("a variable that is not found: not measured without it", "extents: not measured: its module variable perm is not "
           "found" in text and "module global acc" in text, text)
    for i, (call, when) in enumerate((c, w) for c in calls for w in ("1+:1", "2:1")):
        for mode in "globals", "graph":
            a = capture(f"{top}/fault{i}{mode}", mode, env={"KERNELAB_SOFTGPU_FAULT": f"{call}:{when}"}, alone=True)
            run(kernelab, "verify", a)
            summary = replay(f"{top}/fault{i}{mode}.klab", [a], options=QUICK)[0]
            text = "".join(show(a, n) for n in launches(a, ".*"))
            if (call, when, mode) == ("cuFuncGetModule", "1+:1", "globals"):
                expect("without its variables nothing is measured", "extents: not measured: its module variables are "
                       "not recorded" in text, text)
            expect(f"{call} fails, {mode}: told", " 0 unfaithful" in summary or re.search(told, text), summary + text)


def packed(top):
    a = capture(f"{top}/packed", "packed", env={"KERNELAB_PER_CLASS": "2"})
    for n, reads in (1, "1.4 KiB"), (2, "1.0 KiB"):
        text = show(a, n)
        seen = regions(text).get("allocation")
        expect(f"packed: launch {n}", seen and seen[0] == (reads, "0 B") and seen[1] == ("0 B", "1.0 KiB"), text)
    summary, families = replay(f"{top}/packed.klab", [a])
    expect("packed: faithful", "2 faithful" in summary, summary)
    expect("packed: equal", families["packed"]["bucket"] == 1, brief(families))
    b = changed_ptx(f"{top}/packed-b.ptx", "add.f32 %f4, %f1, %f2;", "sub.f32 %f4, %f1, %f2;")
    families = replay(f"{top}/packed-b.klab", [a], capture(f"{top}/packed-b", "packed", b))[1]
    expect("packed: B is seen", families["packed"]["bucket"] == 3, brief(families))


def kinds(top):
    for mode in "managed", "host":
        a = capture(f"{top}/{mode}", mode)
        text = show(a, 1)
        expect(f"{mode}: told", text.count(f", {mode}; contents recorded") == 2, text)
        summary, families = replay(f"{top}/{mode}.klab", [a])
        expect(f"{mode}: faithful", "1 faithful" in summary, summary)
        expect(f"{mode}: equal", families["twice"]["bucket"] == 1, brief(families))
    b = changed_ptx(f"{top}/host-b.ptx", "add.f32 %f2, %f1, %f1;\n\tadd.s64 %rd5", "add.f32 %f2, %f1, 0f3F800000;\n\tadd.s64 %rd5")
    families = replay(f"{top}/host-b.klab", [f"{top}/host"], capture(f"{top}/host-b", "host", b))[1]
    expect("host: B is seen", families["twice"]["bucket"] == 3, brief(families))


def launches(folder, family):
    """Numbers of the recorded launches of a family."""
    text = run(kernelab, "show", "--family", f"^{family}$", folder).stdout
    return [int(n) for line in re.findall(r"recorded launches: (.*)", text) for n in re.findall(r"\d+", line)]


def graphs(top):
    for mode in "graph", "graph-large":
        a = capture(f"{top}/{mode}", mode)
        text = show(a, launches(a, "grouped")[-1])
        seen = regions(text)
        expect(f"{mode}: measured in its place", "by cuGraphLaunch" in text and "extents: measured\n" in text, text)
        expect(f"{mode}: all that the table leads to", len(seen.get("allocation", [])) == 17 and len(seen) == 1, text)
        text = show(a, launches(a, "twice")[-1])
        expect(f"{mode}: measured ahead", "extents: measured\n" in text, text)
        size = sum(os.path.getsize(f) for f in glob.glob(f"{a}/*.klab"))
        expect(f"{mode}: little is kept", size < 4 << 20, size)
        if mode == "graph-large" and device != "gpu":
            continue  # 1.5 GiB to map: a minute of the software device
        summary, families = replay(f"{top}/{mode}.klab", [a])
        expect(f"{mode}: faithful", "2 faithful" in summary, summary)
        expect(f"{mode}: equal", [f["bucket"] for f in families.values()] == [1, 1], brief(families))


def graph_host(top):
    a = capture(f"{top}/graph-host", "graph-host")
    text = show(a, launches(a, "twice")[-1])
    expect("graph of host memory: measured", "extents: measured\n" in text, text)
    expect("graph of host memory: both kinds", ", managed; contents" in text and ", host; contents" in text, text)
    summary = replay(f"{top}/graph-host.klab", [a], options=QUICK)[0]
    expect("graph of host memory: faithful", "1 faithful, 0 nondeterministic, 0 unfaithful" in summary, summary)


def graph_variables(top):
    a = capture(f"{top}/graph-variables", "graph-variables")
    text = show(a, launches(a, "named")[-1])
    seen = regions(text)
    expect("graph of variables: probed", "extents: measured\n" in text and seen.get("module global perm") ==
           [("1.0 KiB", "0 B")] and seen.get("module global acc") == [("256 B", "256 B")], text)
    expect("graph of variables: the indices of inside the graph", seen.get("allocation") ==
           [("4.0 KiB", "0 B"), ("0 B", "1.0 KiB")] or seen.get("allocation") == [("0 B", "1.0 KiB"), ("4.0 KiB", "0 B")],
           text)
    summary = replay(f"{top}/graph-variables.klab", [a], options=QUICK)[0]
    expect("graph of variables: faithful", "1 faithful, 0 nondeterministic, 0 unfaithful" in summary, summary)


def contexts(top):
    a = capture(f"{top}/contexts", "contexts", env={"KERNELAB_PER_CLASS": "2"})
    summary, families = replay(f"{top}/contexts.klab", [a], options=QUICK)
    expect("contexts: faithful", "5 faithful, 0 nondeterministic, 0 unfaithful, 0 untested" in summary, summary)
    expect("contexts: all measured", all("extents: measured\n" in show(a, n) for n in range(1, 6)), show(a, 3))


def ranks(top):
    """Two processes that have other things at the same addresses, in one replay."""
    both = [capture(f"{top}/rank0", "tables", env={"RANK": "0"}), capture(f"{top}/rank1", "globals", env={"RANK": "1"}),
            capture(f"{top}/rank2", "host", env={"RANK": "2"}), capture(f"{top}/rank3", "tables", env={"RANK": "3"})]
    summary, families = replay(f"{top}/ranks.klab", both)
    expect("ranks: faithful", "5 faithful, 0 nondeterministic, 0 unfaithful, 0 untested" in summary, summary)
    expect("ranks: equal", [f["bucket"] for f in families.values()] == [1] * 4, brief(families))


def devices(top):
    """Launches of two devices; replayed on two and on one."""
    two = {"KERNELAB_SOFTGPU_DEVICES": "2", "KERNELAB_PER_CLASS": "8"}
    if device == "gpu" and len(subprocess.run(["nvidia-smi", "-L"], capture_output=True).stdout.splitlines()) < 2:
        return
    a = capture(f"{top}/devices", "devices", env=two)
    numbers = launches(a, ".*")
    shown = [show(a, n) for n in numbers]
    for i in 0, 1:
        here = [s for s in shown if f", device {i}," in s and "stream capture" not in s]
        expect(f"devices: launches of {i}", len(here) >= 9, (len(here), numbers))
        expect(f"devices: measured on {i}", all("extents: measured\n" in s for s in here), here)
    for name, which, env in (("two", ("--devices", "0,1"), two), ("one", (), None)):
        summary, families = replay(f"{top}/devices-{name}.klab", [a], options=which + QUICK, env=env)
        expect(f"devices, on {name}: faithful", "20 faithful, 0 nondeterministic, 0 unfaithful" in summary, summary)
        expect(f"devices, on {name}: equal", {f["bucket"] for f in families.values()} == {1}, brief(families))


with tempfile.TemporaryDirectory(prefix="kernelab-") as top:
    if sys.argv[6:] == ["faults"]:
        faults(top)
    else:
        for test in (globals_, tables, packed, more_tables, kinds, graphs, graph_host, graph_variables, contexts, ranks,
                     devices):
            test(top)

for p in problems:
    print(p)
sys.exit(bool(problems))
