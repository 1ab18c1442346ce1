"""The requests of a session as its log shows them, each with why it was not read from the cache.

Invariant: pure in the records; a reason is named only where the cache gave less than it could have.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from deeptide.commands.figures import length
from deeptide.protocol.events import (
    AssistantMessage,
    Compacted,
    CompactionUndone,
    CycleHandedOff,
    EffortChanged,
    Event,
    ModelChanged,
    Record,
    RewindUndone,
    Rewound,
    SessionStarted,
    TurnStarted,
    UnitsDropped,
)
from deeptide.protocol.usage import Money, Usage

WARM = 0.9
"""A request counts as warm when it read at least this share of the request before it from the cache."""
SMALLEST = 256
"""Prompts shorter than this, in tokens, may never be cached."""
COOL = 30 * 60
"""Seconds without a request after which the provider may have cleared its cache."""


@dataclass(frozen=True)
class Request:
    """One answered request. `work` is `answer`, `compaction` or `hand-off`. `why` says why it was cold."""

    seq: int
    at: float
    turn: int
    work: str
    model: str
    usage: Usage
    cost: Money | None
    peak: bool = False
    why: str = ""


def requests(records: Iterable[Record]) -> tuple[Request, ...]:
    """All requests for which the provider reported usage, oldest first."""
    found: list[Request] = []
    broken: list[str] = []
    turn, model = 0, ""
    for record in records:
        event = record.event
        match event:
            case SessionStarted() | ModelChanged():
                model = event.model
            case TurnStarted():
                turn = event.turn
            case AssistantMessage(usage=Usage() as usage):
                why = _why(found[-1] if found else None, usage, record.at, broken)
                found.append(
                    Request(
                        record.seq, record.at, turn, "answer", event.model, usage, event.cost, event.peak, why
                    )
                )
                broken = []
            case Compacted(usage=Usage() as usage) | CycleHandedOff(usage=Usage() as usage):
                work = "compaction" if isinstance(event, Compacted) else "hand-off"
                why = _why(found[-1] if found else None, usage, record.at, broken)
                found.append(Request(record.seq, record.at, turn, work, model, usage, event.cost, False, why))
        if break_ := _breaks(event):
            broken.append(break_)
    return tuple(found)


def _breaks(event: Event) -> str:
    """What this event did to the cached prefix, in a few words; empty if nothing."""
    match event:
        case ModelChanged(model=model):
            return f"switched to {model}"
        case EffortChanged(effort=effort):
            return f"effort set to {effort}"
        case Compacted():
            return "after a compaction"
        case CompactionUndone():
            return "after a compaction was undone"
        case CycleHandedOff(cycle=cycle):
            return f"after the hand-off of cycle {cycle}"
        case Rewound():
            return "after a rewind"
        case RewindUndone():
            return "after a rewind was taken back"
        case UnitsDropped():
            return "after old messages were dropped"
    return ""


def _why(before: Request | None, usage: Usage, at: float, broken: list[str]) -> str:
    if before is None:
        return "" if usage.hit else "first request"
    could = min(before.usage.prompt, usage.prompt)
    if usage.hit >= WARM * could:
        return ""
    if broken:
        return ", ".join(dict.fromkeys(broken))
    if could < SMALLEST:
        return "too short to be cached"
    if at - before.at >= COOL:
        return f"{length(at - before.at)} without a request"
    return "the provider had not kept it (its cache is best effort)"
