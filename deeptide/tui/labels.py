"""What the activity row says while a turn runs, read off the events.

Invariant: pure; the label depends only on the events so far, and is empty when nothing runs.
"""

from __future__ import annotations

from deeptide.protocol.events import (
    ApprovalAnswered,
    ApprovalRequested,
    Event,
    Record,
    Retrying,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Working,
)
from deeptide.tui import terminal

WAITING = "Waiting for the model"
THINKING = "Thinking"
WRITING = "Writing"
ASKING = "Waiting for you"


def next_label(label: str, item: Record | Event) -> str:
    event = item.event if isinstance(item, Record) else item
    match event:
        case TurnStarted() | StepStarted() | ToolFinished():
            return WAITING
        case ThinkingDelta():
            return THINKING
        case TextDelta():
            return WRITING
        case ToolCallDelta():
            return f"Preparing {event.name}"
        case ToolStarted():
            return f"Running {terminal.printable(event.name, 30)}"
        case ApprovalRequested():
            return ASKING
        case ApprovalAnswered():
            return WAITING
        case Retrying():
            return f"Trying again ({event.attempt}/{event.of}): {terminal.printable(event.reason, 40)}"
        case Working(text):
            return terminal.printable(text, 60)
        case TurnEnded():
            return ""
    return label
