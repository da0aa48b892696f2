# SPDX-License-Identifier: MIT
"""Starts kernelab's glue in a Python below `kernelab capture`, then gives way to the program's own sitecustomize.

Python imports the first module of this name on its path when it starts; the folder of this file comes by
PYTHONPATH. So it must run in every Python there is, also in Python 2, and must not be noticed: afterwards
sys.modules holds the program's own sitecustomize, or none at all. The folder stays on the path, for Inductor
hands sys.path on to its compile workers as their PYTHONPATH.
"""
import os
import sys


def _start():
    try:
        if sys.version_info >= (3, 8) and os.environ.get("KERNELAB_OUTPUT"):
            import kernelab_glue
            kernelab_glue.install()
    except Exception as e:
        sys.stderr.write("kernelab: glue: cannot start: %s\n" % (e,))


def _give_way():
    here = os.path.dirname(os.path.abspath(__file__))
    path = [p for p in sys.path if os.path.abspath(p or os.curdir) != here]
    if sys.version_info[0] < 3:
        import imp
        del sys.modules["sitecustomize"]
        imp.load_module("sitecustomize", *imp.find_module("sitecustomize", path))
        return
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec
    spec = PathFinder.find_spec("sitecustomize", path)
    if spec is None or spec.loader is None:
        # What site expects where there is none; the module made of this file goes with it.
        raise ImportError("no sitecustomize but kernelab's", name="sitecustomize")
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_start()
_give_way()
