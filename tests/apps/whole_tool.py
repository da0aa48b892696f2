# SPDX-License-Identifier: MIT
"""Runs kernelab on the training program, on the software device, and reads verdicts."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.normpath(os.path.join(HERE, "..", "data", "apps"))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)

FAMILIES = {"adam", "bias_gelu", "cast_bf16", "column_sum", "embed_bwd", "embed_fwd", "gelu_bwd",
            "layernorm_bwd", "layernorm_fwd", "loss_sum", "matmul", "predict", "softmax_xent",
            "transpose", "xent_bwd"}
SCHEMA = "kernelab-verdict/1"


class Tool:
    """The built parts, and the problems found so far."""

    def __init__(self, build):
        self.build = build
        self.kernelab = os.path.join(build, "tools", "kernelab")
        self.train = os.path.join(build, "tests", "apps", "train")
        self.problems = []

    def instrumented(self):
        """A sanitizer's build: its libraries cannot be loaded into programs that are not."""
        shim = os.path.join(self.build, "shim", "libkernelab-shim.so")
        return "__asan" in subprocess.run(["nm", "-D", shim], capture_output=True, text=True,
                                          check=True).stdout

    def expect(self, condition, message):
        if not condition:
            self.problems.append(message)
        return condition

    def run(self, command, status, **environment):
        """Runs to the end; the output is part of the problem where the status is another."""
        done = subprocess.run(command, capture_output=True, text=True, timeout=900,
                              env={**os.environ, **environment})
        self.expect(status is None or done.returncode == status,
                    f"{' '.join(command)}\nstatus {done.returncode}, expected {status}\n"
                    f"{done.stdout[-4000:]}{done.stderr[-4000:]}")
        return done

    def capture(self, out, kernels, edits=(), options=(), steps=4, program=()):
        """Captures the training program with a set of kernels and edits over it."""
        folders = [os.path.join(DATA, kernels)] + [os.path.join(DATA, "edits", e) for e in edits]
        command = [self.kernelab, "capture", "-o", out, "--device", "soft", *options, "--",
                   self.train, "--config", "0", "--steps", str(steps), "--kernels", folders[0], *program]
        for folder in folders[1:]:
            command += ["--replace", folder]
        return self.run(command, 0, KERNELAB_CACHE_ROOTS=":".join(folders))

    def diff(self, a, b, verdict, status, options=()):
        """Replays a's launches under a's and b's kernels; the verdict by family name."""
        done = self.run([self.kernelab, "diff", a, "--b", b, "--device", "soft", "--json", verdict,
                         *options], status)
        if not os.path.exists(verdict):
            self.expect(False, f"no {verdict}")
            return {}, {}, done
        with open(verdict, encoding="utf-8") as f:
            report = json.load(f)
        self.expect(report["schema"] == SCHEMA, f"schema {report['schema']}")
        names = [f["name"] for f in report["families"]]
        self.expect(len(names) == len(set(names)), f"families named twice: {sorted(names)}")
        return report, {f["name"]: f for f in report["families"]}, done

    def check_proved(self, families):
        """Everything was really tested: no family without a replay that reproduced the recording."""
        for name, family in families.items():
            c = family["coverage"]
            self.expect(not family["unproven"], f"{name} is unproven: {family['evidence']}")
            self.expect(c["configs_tested"] == c["configs"] > 0, f"{name}: configs untested: {c}")
            self.expect(c["launches_tested"] == c["launches"] > 0, f"{name}: launches untested: {c}")
            self.expect(c["faithful"] == c["launches"] and not c["unfaithful"],
                        f"{name}: not all launches are faithful: {c}")

    def finish(self):
        for problem in self.problems:
            print(problem)
        sys.exit(1 if self.problems else 0)
