# SPDX-License-Identifier: MIT
"""Notes what only Python knows of a Triton kernel: constexprs, source text, tensor shapes, autotuner's configs.

Listens to compilations only (triton.knobs.compilation.listener, Triton 3.4 and later) and to the autotuner where
it prunes its configs; never to launches, for a launch hook changes what Inductor runs. Writes into the folder
glue below KERNELAB_OUTPUT; the preload library puts the notes of the images that it records into its bundle.
"""
import os
import sys
from importlib.machinery import PathFinder

_folder = None


def folder():
    """Where the notes go; made when Triton is imported."""
    return _folder


def _attach_knobs(module):
    from kernelab_glue import compilations
    compilations.attach(module)


def _attach_autotuner(module):
    from kernelab_glue import autotuner
    autotuner.attach(module)


def _prepare():
    """False: no preload library is in this process, so nothing is captured."""
    global _folder
    from kernelab_glue import compilations
    if not compilations.find_hash():
        return False
    if _folder is None:
        made = os.path.join(os.environ["KERNELAB_OUTPUT"], "glue")
        os.makedirs(made, exist_ok=True)
        _folder = made
    return True


class Finder:
    """Waits for two modules of Triton to be imported; any other import costs one look-up."""

    def __init__(self):
        self.left = {"triton.knobs": _attach_knobs, "triton.runtime.autotuner": _attach_autotuner}

    def find_spec(self, name, path=None, target=None):
        if name not in self.left:
            return None
        from kernelab_glue.guard import guarded
        attach = self.left.pop(name)
        if not self.left and self in sys.meta_path:
            sys.meta_path.remove(self)
        return guarded(self.watched)(name, path, target, guarded(attach))

    @staticmethod
    def watched(name, path, target, attach):
        """The spec that would have been found anyway, whose module is attached to once it is there."""
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None or not _prepare():
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            del spec.loader.exec_module
            execute(module)
            attach(module)

        spec.loader.exec_module = exec_module
        return spec


def install():
    if os.environ.get("KERNELAB_NO_GLUE", "").lower() not in ("1", "true", "yes", "on"):
        sys.meta_path.insert(0, Finder())
