"""A quick start: no garbage collection while modules load.

Loading makes some hundred thousand objects that all stay; looking through them again and again takes 10 to 20 %
of a start and frees nothing.

Invariant: `loaded` follows `loading` before the program settles, so nothing runs long without collection.
"""

from __future__ import annotations

import gc


def loading() -> None:
    """Until `loaded`, nothing is collected."""
    gc.disable()


def loaded() -> None:
    """What is here stays: later collections need not look at it."""
    gc.freeze()
    gc.enable()
