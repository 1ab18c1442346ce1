"""Opening a log that may have been left in the middle of anything.

Invariant: after `mend` the history is valid for the provider (no call without its result) and complete for the
reader (no turn without an end); what was mended is said in the log itself.
"""

from __future__ import annotations

from deeptide.protocol.events import HistoryRepaired, ToolFinished, TurnEnded, TurnStarted
from deeptide.protocol.messages import ToolResult
from deeptide.session.journal import SessionJournal
from deeptide.session.log import Loaded

LOST = "DeepTide was stopped while this call ran; its result is unknown. Check the workspace before repeating it."


def mend(journal: SessionJournal, loaded: Loaded) -> tuple[str, ...]:
    """Close what the last process left open. Returns what was done, for the reader."""
    done: list[str] = []
    if loaded.torn:
        done.append(
            f"The last line of the log was torn ({loaded.torn} bytes) and was set aside; "
            "all complete entries are here."
        )
    if loaded.unreadable:
        lines = ", ".join(map(str, loaded.unreadable[:5]))
        done.append(
            f"{len(loaded.unreadable)} log line(s) could not be read and were skipped (line {lines}). "
            "They are still in the file."
        )
    lost = loaded.missing - len(loaded.unreadable)
    if lost > 0:
        done.append(f"{lost} entries are missing from the log; what they said is not known.")
    calls = journal.fold.open_calls()
    for call in calls:
        result = ToolResult(call.id, call.name, LOST, is_error=True)
        journal.record(ToolFinished(result, "orphaned"))
    if calls:
        done.append(f"{len(calls)} tool call(s) had no result and were closed as unknown.")
    turn = _open_turn(journal)
    if turn:
        journal.record(TurnEnded(turn, "interrupted"))
        done.append("The last turn had not ended; it is marked as interrupted.")
    if done:
        journal.record(HistoryRepaired(" ".join(done)))
    return tuple(done)


def _open_turn(journal: SessionJournal) -> int:
    for record in reversed(journal.records):
        match record.event:
            case TurnEnded():
                return 0
            case TurnStarted(turn):
                return turn
    return 0
