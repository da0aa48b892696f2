# SPDX-License-Identifier: MIT
"""One line for each set of configs that an autotuner tries, and for each winner: DIR/glue/autotune.<pid>.jsonl."""
import atexit
import functools
import json
import os
import threading

from kernelab_glue import compilations, folder
from kernelab_glue.guard import guarded
from kernelab_glue.values import dump, shapes_of

_lock = threading.RLock()
_tuners = {}  # id: the tuner, and the keys whose winners have been told


def _after_fork():
    """Another thread may have held the lock."""
    global _lock
    _lock = threading.RLock()


def config_of(config):
    out = {name: dump(value) for name, value in config.kwargs.items()}
    for name in "num_warps", "num_stages", "num_ctas", "maxnreg":
        value = getattr(config, name, None)
        if value is not None:
            out[name] = value
    return out


def write_event(event):
    line = json.dumps(event, allow_nan=False, sort_keys=True) + "\n"
    with _lock, open(os.path.join(folder(), f"autotune.{os.getpid()}.jsonl"), "a", encoding="utf-8") as f:
        f.write(line)


def tuner_place(tuner):
    function = tuner.base_fn
    return {"kernel": function.__name__, "file": function.__code__.co_filename,
            "line": function.__code__.co_firstlineno}


@guarded
def note_configs(tuner, pruned):
    kept = {id(config) for config in pruned}
    all_configs = list(tuner.configs)
    with _lock:
        _tuners[id(tuner)] = (tuner, _tuners.get(id(tuner), (None, set()))[1])
    write_event({"event": "configs", **tuner_place(tuner), "tensors": shapes_of(tuner.nargs or {}),
                 "configs": [config_of(c) for c in all_configs],
                 "left_out": [i for i, c in enumerate(all_configs) if id(c) not in kept]})


@guarded
def note_winners():
    """Keys that were decided since the last time."""
    with _lock:
        for tuner, told in list(_tuners.values()):
            for key, config in list(tuner.cache.items()):
                if key in told:
                    continue
                told.add(key)
                write_event({"event": "winner", **tuner_place(tuner), "key": [str(part) for part in key],
                             "config": config_of(config)})


def attach(module):
    original = module.Autotuner.prune_configs

    @functools.wraps(original)
    def prune_configs(self, *args, **kwargs):
        note_winners()
        pruned = original(self, *args, **kwargs)
        note_configs(self, pruned)
        return pruned

    module.Autotuner.prune_configs = prune_configs
    compilations.after(note_winners)
    atexit.register(note_winners)
    os.register_at_fork(after_in_child=_after_fork)
