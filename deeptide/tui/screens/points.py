"""The rewind picker: turns and checkpoints to go back to, with what would leave the view.

Invariant: it only names a place; going there, and its price, is the session's to say.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from deeptide.protocol.events import AssistantMessage, Record, Steered, UserMessage
from deeptide.protocol.text import clean
from deeptide.tui.ports import Point, Turn
from deeptide.tui.screens.picker import Picker
from deeptide.tui.screens.sessions import ago
from deeptide.tui.widgets.rows import Row

SHOWN = 12


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


def turn_value(turn: Turn) -> str:
    """What the picker returns for a turn; no checkpoint has such an id."""
    return f"turn {turn.seq}"


class PointPicker(Picker):
    """Returns `turn_value` of a turn, the id of a checkpoint, or None."""

    heading = "Rewind to before"
    empty = "Nothing was said yet."
    keys = "type to filter · Enter rewinds the talk · Esc"

    def __init__(
        self, turns: Sequence[Turn], points: Sequence[Point], records: Sequence[Record], now: float
    ) -> None:
        super().__init__()
        self._records = records
        self._now_s = now
        found = [(point.seq, 0, self._point_row(point)) for point in points]
        found += [(turn.seq, 1, self._turn_row(turn)) for turn in turns]
        found.sort(key=lambda one: one[:2], reverse=True)
        self._rows = [row for _, _, row in found]
        self._seqs = {row.value: seq for seq, _, row in found}

    def rows(self) -> Sequence[Row]:
        return self._rows

    def _turn_row(self, turn: Turn) -> Row:
        return Row(turn_value(turn), _line(turn.words), ago(turn.at, self._now_s))

    def _point_row(self, point: Point) -> Row:
        label = clean(point.label) or time.strftime("of %H:%M:%S", time.localtime(point.at))
        kind = "automatic" if point.automatic else "checkpoint"
        return Row(point.id, f"◇ {label}", f"{kind}  {ago(point.at, self._now_s)}", point.id)

    def preview(self, row: Row) -> Text:
        lines = after(self._records, self._seqs[row.value])
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
