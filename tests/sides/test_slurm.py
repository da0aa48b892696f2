# SPDX-License-Identifier: MIT
"""The job array of docs/slurm.md on a one-node Slurm cluster; its parts make the one replay's sum.

usage: test_slurm.py BUILD
munge, slurmctld and slurmd run as the calling user, root or not, with everything of theirs in a
temporary folder. Needs Debian's slurm-wlm and munge; exit status 77 without them.
"""
import contextlib
import getpass
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "apps"))
from whole_tool import Tool  # noqa: E402

PROGRAMS = "munged", "slurmctld", "slurmd", "sbatch", "sinfo"
TASKS = 8

CONF = """ClusterName=kernelab
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs=16 RealMemory=1000 Gres=gpu:2 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Cluster:
    """Ends what it started, in any case."""

    def __init__(self, folder, tool):
        self.folder, self.tool, self.processes = folder, tool, []
        self.host = socket.gethostname().split(".")[0]
        self.env = {**os.environ, "SLURM_CONF": f"{folder}/slurm.conf"}

    def start(self, *command):
        with open(f"{self.folder}/{os.path.basename(command[0])}.out", "w", encoding="utf-8") as log:
            self.processes.append(subprocess.Popen(command, env=self.env, stdout=log, stderr=log,
                                                   start_new_session=True))

    def logs(self):
        text = ""
        for name in sorted(os.listdir(self.folder)):
            if name.endswith((".log", ".out")):
                with open(f"{self.folder}/{name}", encoding="utf-8", errors="replace") as f:
                    text += f"== {name}\n{f.read()[-3000:]}\n"
        return text

    def wait_for(self, condition, what):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if condition():
                return True
            time.sleep(0.2)
        return self.tool.expect(False, f"{what}\n{self.logs()}")

    def idle(self):
        done = subprocess.run(["sinfo", "-h", "-o", "%T"], env=self.env, capture_output=True, text=True)
        return done.stdout.strip() == "idle"

    def up(self):
        with open(f"{self.folder}/munge.key", "wb") as f:
            f.write(os.urandom(1024))
        os.chmod(f"{self.folder}/munge.key", 0o400)
        for name in "state", "spool":
            os.mkdir(f"{self.folder}/{name}")
        with open(f"{self.folder}/slurm.conf", "w", encoding="utf-8") as f:
            f.write(CONF.format(host=self.host, user=getpass.getuser(), folder=self.folder,
                                ports=free_ports(2)))
        with open(f"{self.folder}/gres.conf", "w", encoding="utf-8") as f:
            f.write(f"Name=gpu File={self.folder}/gpu[0-1]\n")
        for name in "gpu0", "gpu1":  # stand for devices: there need be none
            open(f"{self.folder}/{name}", "w", encoding="utf-8").close()
        self.start("munged", "--foreground", "--force", f"--key-file={self.folder}/munge.key",
                   f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munge.pid",
                   f"--log-file={self.folder}/munge.log", f"--seed-file={self.folder}/munge.seed")
        if not self.wait_for(lambda: os.path.exists(f"{self.folder}/munge.socket"), "no munge"):
            return False
        self.start("slurmctld", "-D", "-i")
        self.start("slurmd", "-D", "-N", self.host)
        return self.wait_for(self.idle, "the node does not become idle")

    def down(self):
        for process in reversed(self.processes):
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            if process.poll() is None:
                process.kill()
                process.wait()

    def batch(self, script, cwd, *options):
        return self.tool.run(["env", "-C", cwd, "sbatch", "--wait", "--parsable", *options, script], 0,
                             **{k: v for k, v in self.env.items() if k == "SLURM_CONF" or k == "PATH"})


def example():
    """The script that docs/slurm.md shows."""
    with open(os.path.join(HERE, "..", "..", "docs", "slurm.md"), encoding="utf-8") as f:
        return re.search(r"```sh\n(#!/bin/sh.*?)```", f.read(), re.S)[1]


def verdicts(report):
    """What a report says of each family, config and launch; not where the bundles lie."""
    with open(report, encoding="utf-8") as f:
        families = json.load(f)["families"]
    return sorted((f["name"], f["bucket"], f["evidence"], sorted(f["coverage"].items()),
                   [(c["key"], c["bucket"], sorted((x["launch"], x["derived"] or "", x["evidence"])
                                                   for x in c["cases"])) for c in f["configs"]])
                  for f in families)


def check_array(tool, cluster, tmp):
    script = f"{tmp}/replay.sh"
    with open(script, "w", encoding="utf-8") as f:
        f.write(example())
    tool.capture(f"{tmp}/capture-a", "a", steps=1)
    tool.capture(f"{tmp}/capture-b", "b", steps=1, options=["--no-data"])
    cluster.env["PATH"] = f"{os.path.dirname(tool.kernelab)}:{os.environ['PATH']}"
    job = cluster.batch(script, tmp).stdout.strip()
    results = [f"{tmp}/result-{i}.klab" for i in range(TASKS)]
    if not tool.expect(all(map(os.path.exists, results)), f"job {job}: {os.listdir(tmp)}"):
        return
    tool.run([tool.kernelab, "analyze", *results, "--json", f"{tmp}/parts.json"], None)
    tool.run([tool.kernelab, "replay", f"{tmp}/capture-a", "--b", f"{tmp}/capture-b", "-o",
              f"{tmp}/whole.klab"], 0)
    tool.run([tool.kernelab, "analyze", f"{tmp}/whole.klab", "--json", f"{tmp}/whole.json"], None)
    parts, whole = verdicts(f"{tmp}/parts.json"), verdicts(f"{tmp}/whole.json")
    tool.expect(parts == whole, f"parts: {parts}\nwhole: {whole}")
    tool.expect(len(whole) > 10, f"only {len(whole)} families")

    # A part that failed: told, and made again as the page says.
    os.unlink(results[3])
    done = tool.run([tool.kernelab, "analyze", *(r for r in results if r != results[3])], 2)
    tool.expect(f"shard 3/{TASKS} is missing" in done.stdout + done.stderr, done.stderr)
    with open(script, "w", encoding="utf-8") as f:
        f.write(example().rstrip() + f" --shard 3/{TASKS}\n")
    cluster.batch(script, tmp, "--array=3")
    tool.run([tool.kernelab, "analyze", *results, "--json", f"{tmp}/parts.json"], None)
    tool.expect(verdicts(f"{tmp}/parts.json") == whole, "the part made again")


def main():
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    missing = [p for p in PROGRAMS if not shutil.which(p)]
    if missing:
        print(f"no {', '.join(missing)}: apt-get install slurm-wlm munge")
        sys.exit(77)
    for name in [n for n in os.environ if n.startswith("SLURM_")]:
        del os.environ[name]
    tool = Tool(os.path.abspath(sys.argv[1]))
    with tempfile.TemporaryDirectory(prefix="kernelab-slurm-") as tmp:
        os.mkdir(f"{tmp}/cluster", 0o755)
        cluster = Cluster(f"{tmp}/cluster", tool)
        try:
            if cluster.up():
                check_array(tool, cluster, tmp)
        finally:
            cluster.down()
        if tool.problems:
            print(cluster.logs())
    tool.finish()


main()
