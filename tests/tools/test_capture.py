# SPDX-License-Identifier: MIT
"""kernelab capture: exit status, environment of the program, its folder, signals, its summary."""
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

kernelab, client, fake, cache, shim = sys.argv[1:6]
problems = []
ENV = {k: v for k, v in os.environ.items() if not k.startswith(("KERNELAB_", "TRITON_", "TORCHIND"))}
ENV["ASAN_OPTIONS"] = "verify_asan_link_order=0:detect_leaks=0"
ENV["TRITON_HOME"] = "/nonexistent"  # no cache of the machine's user


# An instrumented shim cannot be loaded into a program that is not: those get a library that does nothing.
STAND_IN = "__asan" in subprocess.run(["nm", "-D", shim], capture_output=True, text=True).stdout


def make_stand_in(folder):
    os.makedirs(f"{folder}/parts/softgpu")
    subprocess.run(["cc", "-shared", "-o", f"{folder}/parts/libkernelab-shim.so", "-x", "c", "/dev/null"],
                   check=True)
    open(f"{folder}/parts/softgpu/libcuda.so.1", "w").close()
    os.mkdir(f"{folder}/parts/glue")
    open(f"{folder}/parts/glue/sitecustomize.py", "w").close()
    ENV["KERNELAB_LIBDIR"] = f"{folder}/parts"


def expect(condition, message):
    if not condition:
        problems.append(message)


def capture(*args, env=None):
    return subprocess.run([kernelab, "capture", *args], capture_output=True, text=True,
                          env={**ENV, **(env or {})})


def check_status(folder):
    cases = [(0, ["true"]), (1, ["false"]), (7, ["sh", "-c", "exit 7"]),
             (128 + 9, ["sh", "-c", "kill -9 $$"]), (127, ["kernelab-no-such-program"]),
             (126, ["/etc/passwd"]), (125, [])]
    for i, (status, command) in enumerate(cases):
        done = capture("-o", f"{folder}/s{i}", "--device", "gpu", "--", *command)
        expect(done.returncode == status, f"{command}: {done.returncode}, not {status}: {done.stderr}")
        expect(not done.stdout, f"{command}: on stdout: {done.stdout}")
        if status in (126, 127):
            expect(not os.path.exists(f"{folder}/s{i}"), f"{command}: the folder is still there")
        if status in (125, 126, 127):
            expect(done.stderr.startswith("kernelab: error: capture: "), f"{command}: {done.stderr}")
            expect(len(done.stderr.splitlines()) == 1, f"{command}: {done.stderr}")
    for i, args in enumerate((["--frob"], ["--per-class", "0"], ["--origin", "tritn"],
                              ["--device", "tpu"], ["-o"],
                              ["--origin-name", "all,x"], ["--kernels", "("], ["--exclude", "[a"],
                              ["--skip-launches", "-1"], ["--sample", "3,0"], ["--start-after", "s"],
                              ["--stop-after", "1h"], ["--max-launches", "0"], ["--max-bytes", "1X"],
                              ["--ranks", "1,"], ["--config", "/nonexistent/file"],
                              ["--context", "/nonexistent/file"])):
        done = capture(*args, "-o", f"{folder}/bad{i}", "--", "true") if args != ["-o"] else capture("-o")
        expect(done.returncode == 125 and args[0] in done.stderr or args[0] == "--context" and
               "/nonexistent/file" in done.stderr, f"{args}: {done.returncode} {done.stderr}")
        expect(not os.path.exists(f"{folder}/bad{i}"), f"{args}: the folder was made")
    done = capture("-o", f"{folder}/no-shim", "--", "true", env={"KERNELAB_LIBDIR": "/nonexistent"})
    expect(done.returncode == 125 and "/nonexistent" in done.stderr, f"no shim: {done.stderr}")


def check_folder(folder):
    full = f"{folder}/full"
    os.mkdir(full)
    open(f"{full}/x", "w").close()
    done = capture("-o", full, "--", "true")
    expect(done.returncode == 125 and "not empty" in done.stderr, f"full folder: {done.stderr}")
    expect(os.listdir(full) == ["x"], "something was put into a folder that was not empty")
    # A folder that cannot be used is the first and only thing said, not which device is taken.
    nodevice = {"LD_LIBRARY_PATH": "/nonexistent"}
    for path in (full, f"{full}/x", f"{full}/x/y", "/proc/nothing/here"):
        done = capture("-o", path, "--", "true", env=nodevice)
        expect(done.returncode == 125 and len(done.stderr.splitlines()) == 1 and path in done.stderr,
               f"-o {path}: {done.returncode} {done.stderr}")
    done = capture("-o", f"{folder}/a/b/c", "--device", "gpu", "true")
    expect(done.returncode == 0 and os.path.isdir(f"{folder}/a/b/c"), f"new folders: {done.stderr}")


def check_environment(folder):
    context = f"{folder}/context.json"
    with open(context, "w", encoding="utf-8") as f:
        json.dump({"model": "a\tmodel"}, f)
    out = f"{folder}/env"
    done = capture("-o", out, "--device", "gpu", "--fresh-cache", "--more-configs", "--no-data", "--per-class", "3",
                   "--origin", "triton,tlx", "--context", context, "--commit", "abc", "--", "env",
                   env={"LD_PRELOAD": "libm.so.6", "KERNELAB_ORIGIN": "all"})
    env = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    real = os.path.realpath(out)
    expect(env.get("LD_PRELOAD", "").startswith("libm.so.6:/"), f"LD_PRELOAD {env.get('LD_PRELOAD')}")
    for name, value in (("KERNELAB_OUTPUT", real), ("KERNELAB_NO_DATA", "1"),
                        ("KERNELAB_PER_CLASS", "3"), ("KERNELAB_ORIGIN", "triton,tlx"),
                        ("TRITON_CACHE_DIR", real + "/cache/triton"),
                        ("TORCHINDUCTOR_MAX_AUTOTUNE_POINTWISE", "1"),
                        ("TORCHINDUCTOR_CACHE_DIR", real + "/cache/inductor")):
        expect(env.get(name) == value, f"{name}={env.get(name)}, not {value}")
    expect("fresh caches" in done.stderr and "no bundle" in done.stderr, f"stderr: {done.stderr}")
    done = capture("-o", f"{folder}/env2", "--device", "gpu", "--", "env", env={"KERNELAB_PER_CLASS": "5"})
    expect("KERNELAB_PER_CLASS=5\n" in done.stdout, "the caller's KERNELAB_PER_CLASS is gone")
    with open(f"{out}/facts.tsv", encoding="utf-8") as f:
        lines = [line.rstrip("\n").split("\t") for line in f]
    facts = {line[0]: line[1] for line in lines}
    expect(all(len(line) == 3 for line in lines), f"facts: {lines}")
    expect(facts.get("context.model") == "a model", f"facts: {facts}")
    expect(facts.get("compiler.commit") == "abc", f"facts: {facts}")


def check_config(folder):
    config = f"{folder}/config.json"

    def with_config(values, *args, env=None):
        with open(config, "w", encoding="utf-8") as f:
            json.dump(values, f)
        done = capture("--config", config, "--device", "gpu", *args, "--", "env", env=env)
        return done, dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)

    values = {"output": f"{folder}/config1", "no-data": True, "per-class": 3, "kernels": "a|b",
              "exclude": "c", "skip-launches": 2, "sample": "4,100", "start-after": "2s", "stop-after": 1000,
              "max-launches": 7, "max-bytes": "2G", "max-region": "1M", "ranks": "0,2-3", "label": "x y",
              "compress": "none", "hash": "off", "ring": "8M", "host-memory": "100M", "wait-before": "3s", "wait-after": "4.5",
              "commit": "abc", "origin": "triton", "origin-name": "test"}
    done, env = with_config(values, "--per-class", "5", env={"KERNELAB_SAMPLE": "9", "KERNELAB_PER_CLASS": "8"})
    expect(done.returncode == 0 and os.path.isdir(f"{folder}/config1"), f"config: {done.stderr}")
    for name, value in values.items():
        if name == "output":
            continue
        value = {"no-data": "1", "per-class": "5"}.get(name, str(value))
        variable = "KERNELAB_" + name.upper().replace("-", "_")
        expect(env.get(variable) == value, f"{variable}={env.get(variable)}, not {value}")
    for values, word in (({"kernel": "a"}, '"kernel"'), ({"kernels": ["a"]}, '"kernels"'), ({"no-data": 1}, '"no-data"'),
                         ({"sample": "x"}, "--sample"), (["kernels"], "not a JSON object"),
                         ({"config": "b"}, '"config"')):
        done, env = with_config(values, "-o", f"{folder}/config2")
        expect(done.returncode == 125 and word in done.stderr and len(done.stderr.splitlines()) == 1,
               f"config {values}: {done.returncode} {done.stderr}")
        expect(not os.path.exists(f"{folder}/config2"), f"config {values}: the folder was made")


def check_variables(folder):
    """Every option that takes a value can be a variable, for launchers that allow no options."""
    out = f"{folder}/variables"
    done = subprocess.run([kernelab, "capture", "--", client, "many", image("softmax_k")], capture_output=True, text=True,
                          env={**ENV, "KERNELAB_OUTPUT": out, "KERNELAB_DEVICE": "gpu", "KERNELAB_LABEL": "night",
                               "KERNELAB_MAX_LAUNCHES": "1", "KERNELAB_STOP_AFTER": "100",
                               "LD_LIBRARY_PATH": fake, "KERNELAB_CACHE_ROOTS": cache})
    expect(done.returncode == 0 and "1 launches recorded of 200 seen" in done.stderr, f"variables: {done.stderr}")
    shown = subprocess.run([kernelab, "ls", out], capture_output=True, text=True).stdout
    for line in ("99 launches of 1 triton kernels: KERNELAB_MAX_LAUNCHES launches of the process are recorded",
                 "100 launches of 1 triton kernels: after KERNELAB_STOP_AFTER"):
        expect(line in shown, f"ls lacks '{line}': {shown}")
    expect("KERNELAB_STOP_AFTER" in shown.split("after KERNELAB_STOP_AFTER")[0],
           f"ls does not show the selection: {shown}")
    help_text = subprocess.run([kernelab, "capture", "--help"], capture_output=True, text=True).stdout
    variables = subprocess.run([kernelab, "--help"], capture_output=True, text=True).stdout
    for option in re.findall(r"^ +(?:-\w, )?--([\w-]+)", help_text, re.M):
        expect(option == "help" or f"KERNELAB_{option.upper().replace('-', '_')} " in variables,
               f"--{option} has no variable")


def check_ptxas(folder):
    ptxas = f"{folder}/ptxas"
    with open(ptxas, "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\necho 'Cuda compilation tools, release 12.8, V12.8.93'\n")
    os.chmod(ptxas, 0o755)
    done = capture("-o", f"{folder}/ptx", "--device", "gpu", "--", client, "basic", image("softmax_k"),
                   env={"TRITON_PTXAS_PATH": ptxas, "LD_LIBRARY_PATH": fake, "KERNELAB_CACHE_ROOTS": cache})
    expect(done.returncode == 0, f"client: {done.stderr}")
    shown = subprocess.run([kernelab, "ls", f"{folder}/ptx"], capture_output=True, text=True).stdout
    expect("12.8.93" in shown, f"ptxas version is not in: {shown}")


def image(entry):
    return glob.glob(f"{cache}/*/{entry}.cubin")[0]


def check_summary(folder):
    done = capture("-o", f"{folder}/sum", "--device", "gpu", "--", client, "basic", image("softmax_k"),
                   env={"LD_LIBRARY_PATH": fake, "KERNELAB_CACHE_ROOTS": cache})
    expect(done.returncode == 0, f"client: {done.stderr}")
    expect("1 bundle in" in done.stderr and "1 images, 4 launches recorded of 6 seen" in done.stderr,
           f"summary: {done.stderr}")
    expect(len(done.stderr.splitlines()) == 1, f"more than one line: {done.stderr}")
    if STAND_IN:
        return  # timeout cannot load an instrumented shim
    # Killed, it could not say how many launches there were.
    done = capture("-o", f"{folder}/killed", "--device", "gpu", "--", "timeout", "-s", "KILL", "3", client, "loop",
                   image("softmax_k"), env={"LD_LIBRARY_PATH": fake, "KERNELAB_CACHE_ROOTS": cache})
    counts = re.search(r" (\d+) launches recorded of at least (\d+) seen", done.stderr)
    expect(counts and 0 < int(counts[1]) <= int(counts[2]), f"summary of a killed program: {done.stderr}")


def check_signal(folder):
    for number in (signal.SIGTERM, signal.SIGINT):
        child = subprocess.Popen([kernelab, "capture", "-o", f"{folder}/sig{int(number)}", "--device", "gpu",
                                  "--", "sh", "-c", "echo up; exec sleep 60"], env=ENV,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        child.stdout.readline()
        time.sleep(0.1)  # sh becomes sleep
        child.send_signal(number)
        expect(child.wait(30) == 128 + number, f"signal {number}: {child.returncode}")
        child.stdout.close()
        child.stderr.close()


def check_software_device(folder):
    done = capture("-o", f"{folder}/soft", "--device", "soft", "--", "sh", "-c", "echo $LD_LIBRARY_PATH",
                   env={"LD_LIBRARY_PATH": "/x"})
    path = done.stdout.strip().split(":")
    expect(len(path) == 2 and os.path.exists(path[0] + "/libcuda.so.1") and path[1] == "/x", str(path))
    expect("software device" in done.stderr, f"stderr: {done.stderr}")


with tempfile.TemporaryDirectory() as top:
    check_ptxas(top)
    check_summary(top)
    check_variables(top)
    if STAND_IN:
        make_stand_in(top)
    for check in (check_status, check_folder, check_environment, check_config, check_signal, check_software_device):
        check(top)
print("\n".join(problems))
sys.exit(bool(problems))
