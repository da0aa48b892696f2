# SPDX-License-Identifier: MIT
"""What make_scope.py made, for tests: unpacked, and its launches recorded on the software device."""
import os
import subprocess
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "apps"))
import whole_tool  # noqa: E402

DATA = os.path.normpath(os.path.join(HERE, "..", "data", "corpus", "scope.tar.xz"))


def kernelab_of(build):
    """The path of kernelab; ends with 77 where its shim cannot be loaded into Python."""
    tool = whole_tool.Tool(os.path.abspath(build))
    if tool.instrumented():
        sys.exit(77)
    return tool.kernelab


def run(command, statuses, **environment):
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    if done.returncode not in statuses:
        sys.exit(f"{' '.join(command)}\nstatus {done.returncode}\n{done.stdout}{done.stderr}")
    return done


class ScopeData:
    """The kernels of sides a and b in a folder of their own."""

    def __init__(self, kernelab, folder):
        self.kernelab, self.made = kernelab, os.path.join(folder, "made")
        with tarfile.open(DATA) as archive:
            archive.extractall(self.made)

    def capture(self, side, out, *options, **environment):
        """Records all launches of a side into out, which is given back."""
        run([self.kernelab, "capture", "-o", out, "--device", "soft", *options, "--", sys.executable,
             os.path.join(HERE, "scope_program.py"), self.made, side], (0,),
            KERNELAB_CACHE_ROOTS=os.path.join(self.made, side), **environment)
        return out
