"""The five verdicts on a command and the reason for each.

Invariant: a whole is judged by its worst part, and the reason named is that part's.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

import msgspec


class Level(IntEnum):
    """`AUTO`: only reads. `SANDBOXED`: stays in the workspace if nothing else happens, so free in a sandbox
    only. `ASK`: once, or by a rule. `STRONG`: asked every time. `REFUSE`: never, in no mode."""

    AUTO = 0
    SANDBOXED = 1
    ASK = 2
    STRONG = 3
    REFUSE = 4


class Ruling(msgspec.Struct, frozen=True):
    """`rule`: the name of what decided, as a user would say it. `clearable`: an allow rule may lift it."""

    level: Level
    rule: str = ""
    reason: str = ""
    clearable: bool = True


FINE = Ruling(Level.AUTO, "only reads", "It only reads.")


def worst(rulings: Iterable[Ruling]) -> Ruling:
    """The first of the highest level; of equal ones, one that no rule can clear."""
    return max(rulings, key=lambda ruling: (ruling.level, not ruling.clearable), default=FINE)
