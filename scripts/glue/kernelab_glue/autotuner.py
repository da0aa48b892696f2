# SPDX-License-Identifier: MIT
"""One line for each set of configs that an autotuner tries, and for each winner: DIR/glue/autotune.<host>.<pid>.jsonl.

With KERNELAB_PIN_WINNERS=DIR the winners are those that an earlier capture noted in DIR, where they can run.
"""
import atexit
import functools
import glob
import json
import math
import os
import sys
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
    with _lock, open(os.path.join(folder(), f"autotune.{os.uname().nodename}.{os.getpid()}.jsonl"), "a", encoding="utf-8") as f:
        f.write(line)


def tuner_place(tuner):
    function = tuner.base_fn
    return {"kernel": function.__name__, "file": function.__code__.co_filename,
            "line": function.__code__.co_firstlineno}


def key_of(key):
    return [str(part) for part in key]


def read_pins(folder_of_capture):
    """{(kernel, file name, key): config}; the first noted, where processes differ."""
    pins = {}
    for path in sorted(glob.glob(os.path.join(folder_of_capture, "glue", "autotune.*.jsonl"))):
        with open(path, encoding="utf-8") as f:
            for line in f:
                event = json.loads(line)
                if event.get("event") == "winner":
                    place = (event["kernel"], os.path.basename(event["file"]), tuple(event["key"]))
                    pins.setdefault(place, event["config"])
    return pins


@functools.lru_cache(None)
def pins():
    given = os.environ.get("KERNELAB_PIN_WINNERS")
    return guarded(read_pins)(given) or {} if given else {}


class PinnedCache(dict):
    """Stands for Autotuner.cache: key to winning config. All configs are tried as ever; only the choice is another's."""

    def __init__(self, tuner, known):
        super().__init__(known)
        self.tuner, self.measured = tuner, {}

    def __setitem__(self, key, config):
        pinned = guarded(self.pinned)(key, sys._getframe(1).f_locals.get("timings"))
        if pinned is not None:
            self.measured[key] = config
        super().__setitem__(key, config if pinned is None else pinned)

    def pinned(self, key, timings):
        """The earlier winner, if it is one of the configs tried and did not fail."""
        place = tuner_place(self.tuner)
        wanted = pins().get((place["kernel"], os.path.basename(place["file"]), tuple(key_of(key))))
        for config in self.tuner.configs if wanted else ():
            if config_of(config) == wanted:
                took = timings.get(config) if isinstance(timings, dict) else None
                took = took[0] if isinstance(took, (list, tuple)) else took
                return config if took is None or math.isfinite(took) else None
        return None


@guarded
def pin(tuner):
    if pins() and not isinstance(tuner.cache, PinnedCache):
        tuner.cache = PinnedCache(tuner, tuner.cache)


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
                event = {"event": "winner", **tuner_place(tuner), "key": key_of(key), "config": config_of(config)}
                measured = getattr(tuner.cache, "measured", {}).get(key)
                if measured is not None:
                    event["measured"] = config_of(measured)  # the config is pinned; this one was the fastest
                write_event(event)


def attach(module):
    original = module.Autotuner.prune_configs

    @functools.wraps(original)
    def prune_configs(self, *args, **kwargs):
        note_winners()
        pruned = original(self, *args, **kwargs)
        pin(self)
        note_configs(self, pruned)
        return pruned

    module.Autotuner.prune_configs = prune_configs
    compilations.after(note_winners)
    atexit.register(note_winners)
    os.register_at_fork(after_in_child=_after_fork)
