"""The rewind picker: turns and checkpoints to go back to, with what would leave the view.

Invariant: it only names a place; going there, and its price, is the session's to say.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from deeptide.protocol.events import AssistantMessage, Record, RewindUndone, Rewound, Steered, UserMessage
from deeptide.protocol.text import clean
from deeptide.tui.ports import Point
from deeptide.tui.screens.picker import Picker
from deeptide.tui.screens.sessions import ago
from deeptide.tui.widgets.rows import Row

SHOWN = 12
UNDO = "undo"
"""The choice that takes the last turn back."""


def after(records: Sequence[Record], seq: int) -> list[str]:
    """What was said after `seq`, one line each, as `you: …` or `it: …`."""
    lines: list[str] = []
    for record in records:
        if record.seq <= seq:
            continue
        match record.event:
            case UserMessage(text) | Steered(text):
                lines.append("you  " + _line(text))
            case AssistantMessage(message) if message.text.strip():
                lines.append("it   " + _line(message.text))
    return lines


def _line(text: str) -> str:
    return " ".join(clean(text).split())[:200]


def last_turn(records: Sequence[Record]) -> Record | None:
    """The user's last message that began a turn, if it is still in the talk's own order."""
    for record in reversed(records):
        if isinstance(record.event, UserMessage):
            return record
        if isinstance(record.event, Rewound | RewindUndone):
            return None
    return None


class PointPicker(Picker):
    heading = "Rewind to"
    empty = "No checkpoints yet. /checkpoint [label] takes one."
    keys = "type to filter · Enter rewinds the talk · Esc"

    def __init__(self, points: Sequence[Point], records: Sequence[Record], now: float) -> None:
        super().__init__()
        self._points = {point.id: point for point in reversed(points)}
        self._records = records
        self._now_s = now
        self._turn = last_turn(records)

    def rows(self) -> Sequence[Row]:
        listed = [self._row(point) for point in self._points.values()]
        if self._turn is None:
            return listed
        said = self._turn.event.text if isinstance(self._turn.event, UserMessage) else ""
        return [Row(UNDO, "before your last message", _line(said)[:40]), *listed]

    def _row(self, point: Point) -> Row:
        label = clean(point.label) or time.strftime("checkpoint of %H:%M:%S", time.localtime(point.at))
        kind = "automatic  " if point.automatic else ""
        return Row(
            point.id, label, f"{kind}{point.messages} messages  {ago(point.at, self._now_s)}", point.id
        )

    def preview(self, row: Row) -> Text:
        if row.value == UNDO and self._turn is not None:
            lines = after(self._records, self._turn.seq - 1)
        else:
            lines = after(self._records, self._points[row.value].seq)
        text = Text()
        if not lines:
            text.append("Nothing was said since.", "dim")
            return text
        counted = "1 message" if len(lines) == 1 else f"{len(lines)} messages"
        text.append(f"{counted} said since would leave the view; /redo brings it back.", "dim")
        room = max(20, self.size.width * 9 // 10 - 10)
        for line in lines[:SHOWN]:
            text.append(
                "\n" + (set_cell_size(line, room - 1).rstrip() + "…" if cell_len(line) > room else line)
            )
        if len(lines) > SHOWN:
            text.append(f"\n… and {len(lines) - SHOWN} more", "dim")
        return text
