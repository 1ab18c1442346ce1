"""A quick start: no garbage collection while modules load, and a rarer one afterwards.

Loading makes some hundred thousand objects that all stay; looking through them again and again takes 10 to 20 %
of a start and frees nothing. Later, Python's own measure would look every few frames of a streaming answer, which
takes a tenth of its CPU time.

Invariant: `loaded` follows `loading` before the program settles, so nothing runs long without collection.
"""

from __future__ import annotations

import gc

EVERY = 10_000
"""New containers still alive between two collections, a few megabytes at most; Python's own measure is 700."""


def loading() -> None:
    """Until `loaded`, nothing is collected."""
    gc.disable()


def loaded() -> None:
    """What is here stays: later collections need not look at it."""
    gc.freeze()
    gc.set_threshold(EVERY)
    gc.enable()
