# SPDX-License-Identifier: MIT
"""Callbacks that cannot make the program fail; the first failure is told once."""
import functools
import sys

_told = False


def guarded(function):
    """A callback that cannot fail."""
    @functools.wraps(function)
    def call(*args, **kwargs):
        global _told
        try:
            return function(*args, **kwargs)
        except Exception as e:
            if not _told:
                _told = True
                try:
                    sys.stderr.write(f"kernelab: glue: {type(e).__name__}: {e} (in {function.__name__}; further "
                                     "ones are not told)\n")
                except Exception:
                    pass
            return None
    return call
