"""Where a rewind can go and what it takes along.

Invariant: a rewind is one event that names a position; nothing is deleted, and what was spent stays counted.
"""

from __future__ import annotations

from deeptide.context.assemble import Fold
from deeptide.protocol.errors import UsageError


def before_last_turn(fold: Fold) -> tuple[int, str]:
    """(the seq to rewind to, the user's words that are taken back). Notes given with the words go too.

    Raises UsageError when the view holds no turn to take back.
    """
    if not fold.turn_starts:
        raise UsageError("There is no turn to undo.")
    to = fold.turn_starts[-1]
    words = next(
        (entry.message.text for entry in fold.entries if entry.seq > to and entry.kind == "user"), ""
    )
    return to, words


def messages_after(fold: Fold, seq: int) -> int:
    """How many view entries a rewind to `seq` takes out."""
    return sum(1 for entry in fold.entries if entry.seq > seq)
