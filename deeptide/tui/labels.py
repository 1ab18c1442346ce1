"""What the activity row says while a turn runs, read off the events.

Invariant: the label depends only on the events so far, names a tool for as long as it runs, and is empty when
nothing does.
"""

from __future__ import annotations

from deeptide.protocol.events import (
    ApprovalAnswered,
    ApprovalRequested,
    Event,
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
TITLE = 40
"""Characters of a tool's title."""


class Labels:
    """`text` is what to say after the events so far."""

    def __init__(self) -> None:
        self.text = ""
        self._running: dict[str, str] = {}
        self._asked: dict[str, str] = {}

    def clear(self) -> None:
        self.text = ""
        self._running.clear()

    def apply(self, event: Event) -> None:
        match event:
            case ToolStarted():
                title = event.title.partition("\n")[0] or event.name
                self._running[event.call_id] = f"Running {terminal.printable(title, TITLE)}"
            case ToolFinished():
                self._running.pop(event.result.call_id, None)
            case ApprovalRequested(approval):
                self._asked[approval.id] = approval.call_id
            case ApprovalAnswered():
                call = self._asked.pop(event.id, "")
                if call in self._running:
                    self._running[call] = self._running.pop(call)
            case TurnStarted() | StepStarted() | TurnEnded():
                self._running.clear()
                self._asked.clear()
        self.text = self._after(event)

    def _after(self, event: Event) -> str:
        match event:
            case ToolStarted() | ToolFinished() | ApprovalAnswered():
                return next(reversed(self._running.values()), WAITING)
            case TurnStarted() | StepStarted():
                return WAITING
            case ThinkingDelta():
                return THINKING
            case TextDelta():
                return WRITING
            case ToolCallDelta():
                return f"Preparing {terminal.printable(event.name, 30)}"
            case ApprovalRequested():
                return ASKING
            case Retrying():
                return f"Trying again ({event.attempt}/{event.of}): {terminal.printable(event.reason, 40)}"
            case Working(text):
                return terminal.printable(text, 60)
            case TurnEnded():
                return ""
        return self.text
