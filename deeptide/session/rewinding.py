"""Where a rewind can go and what it takes along.

Invariant: a rewind is one event that names a position; nothing is deleted, and what was spent stays counted.
"""

from __future__ import annotations

import msgspec

from deeptide.context.assemble import Fold
from deeptide.protocol.errors import UsageError
from deeptide.protocol.events import UserMessage


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


class TurnPoint(msgspec.Struct, frozen=True):
    """A turn that can be taken back: rewinding to `seq` takes the user's `words` and all that followed.
    `messages`: how many view entries would go. `at`: Unix seconds."""

    seq: int
    words: str
    at: float
    messages: int


def turn_points(fold: Fold) -> tuple[TurnPoint, ...]:
    """The turns in the view's chain, oldest first; they survive a restart because they are in the log."""
    points = []
    for seq in fold.turn_starts:
        said = (r for r in fold.records[seq : seq + 40] if isinstance(r.event, UserMessage))
        record = next(said, None)
        if record is not None and isinstance(record.event, UserMessage):
            points.append(TurnPoint(seq, record.event.text, record.at, messages_after(fold, seq)))
    return tuple(points)


def messages_after(fold: Fold, seq: int) -> int:
    """How many view entries a rewind to `seq` takes out."""
    return sum(1 for entry in fold.entries if entry.seq > seq)
