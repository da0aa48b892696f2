# SPDX-License-Identifier: MIT
"""Captures a made corpus under A and B, has kernelab judge it, and says how each pair came out."""
import json
import os
import subprocess
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
from make_corpus import fingerprint  # noqa: E402
from table import FAMILIES, PAIRS  # noqa: E402

DATA = os.path.normpath(os.path.join(HERE, "..", "data", "corpus", "corpus.tar.xz"))
PER_CLASS = 16  # more than there are input families: every launch of the plan is recorded


class Failed(Exception):
    """A step of the tool did not work: nothing can be said about the pairs."""


def run(command, statuses=(0,), **environment):
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    if done.returncode not in statuses:
        raise Failed(f"{' '.join(command)}\nstatus {done.returncode}\n"
                     f"{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done


def unpack(folder):
    """The committed corpus, in a folder of one's own."""
    with tarfile.open(DATA) as archive:
        archive.extractall(folder)
    return folder


class Corpus:
    """A folder that make_corpus.py made, and a build of the tool."""

    def __init__(self, made, build, device):
        self.made, self.device = made, device
        self.build = os.path.abspath(build)
        self.kernelab = os.path.join(self.build, "tools", "kernelab")
        self.client = os.path.join(self.build, "tests", "corpus", "corpus_client")
        self.names = self.made_names()
        unknown = [n for n in self.names if n not in PAIRS]
        if unknown:
            raise Failed(f"{made} holds pairs that table.py does not: {unknown}")
        with open(self.path("fingerprint"), encoding="utf-8") as f:
            if f.read().strip() != fingerprint(self.names):
                raise Failed(f"{made} was made from another families.py or table.py: "
                             "scripts/make-corpus")

    def made_names(self):
        with open(self.path("plan"), encoding="utf-8") as f:
            return list(dict.fromkeys(line.split()[0] for line in f))

    def choose(self, wanted):
        """Keeps the pairs that wanted(row) likes and the device can tell apart."""
        self.names = [n for n in self.names if wanted(PAIRS[n]) and
                      (self.device == "gpu" or not PAIRS[n]["ptxas"])]
        with open(self.path("plan"), encoding="utf-8") as f:
            lines = [line for line in f if line.split()[0] in set(self.names)]
        with open(self.path("plan.chosen"), "w", encoding="utf-8") as f:
            f.writelines(lines)

    def path(self, name):
        return os.path.join(self.made, name)

    def capture(self, side, out, options=()):
        run([self.kernelab, "capture", "-o", out, "--device", self.device, "--origin", "all",
             "--per-class", str(PER_CLASS), *options, "--", self.client, self.path(side),
             self.path("plan.chosen")], KERNELAB_CACHE_ROOTS=self.path(side))

    def judge(self, work, options=()):
        """The verdict's family of each pair; work: an empty folder."""
        a, b, verdict = (os.path.join(work, n) for n in ("a", "b", "verdict.json"))
        self.capture("a", a)
        self.capture("b", b, ["--no-data"])
        run([self.kernelab, "diff", a, "--b", b, "--device", self.device, "--json", verdict,
             *options], (0, 1))
        with open(verdict, encoding="utf-8") as f:
            families = {f["name"]: f for f in json.load(f)["families"]}
        if set(families) != set(self.names):
            raise Failed(f"pairs without a family, or the reverse: {set(families) ^ set(self.names)}")
        return families

    def dump(self, side, plan, out):
        """Outputs of a side, launched without the tool."""
        environment = {"KERNELAB_CACHE_ROOTS": self.path(side)}
        if self.device == "soft":
            environment["LD_LIBRARY_PATH"] = os.path.join(self.build, "softgpu")
        run([self.client, self.path(side), self.path(plan), out], **environment)


def tested(family):
    """Problems of the evidence itself: a verdict that rests on less than all launches proves less."""
    c = family["coverage"]
    if family["unproven"]:
        return f"unproven: {family['evidence']}"
    if c["configs_tested"] != c["configs"] or c["launches_tested"] != c["launches"]:
        return f"not all was tested: {c}"
    if c["faithful"] + c["nondeterministic"] != c["launches"]:
        return f"not all launches were reproduced: {c}"
    return None


def half(name):
    return FAMILIES[PAIRS[name]["family"]]["half"]
