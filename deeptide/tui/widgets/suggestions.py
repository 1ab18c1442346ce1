"""The list that floats above the composer: commands, files, earlier prompts.

Invariant: it takes no room in the layout (so typing never moves the transcript) and never takes the focus.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from deeptide.tui import terminal
from deeptide.tui.palette import DARK, Palette
from deeptide.tui.styles import inks

ROWS = 8
STYLES = {"row": "text", "detail": "muted", "mark": "accent", "chosen": "strong on raised"}


class Suggestion(msgspec.Struct, frozen=True):
    """`value` is what is taken, `label` what is shown, `detail` the dim rest of the row. `run` says that
    taking it with Enter also sends it."""

    value: str
    label: str
    detail: str = ""
    run: bool = False


class Suggestions(Widget):
    class Taken(Message):
        """A row was clicked."""

        def __init__(self, suggestion: Suggestion) -> None:
            super().__init__()
            self.suggestion = suggestion

    def __init__(self, palette: Palette = DARK) -> None:
        super().__init__()
        self._inks = inks(palette, STYLES)
        self._items: Sequence[Suggestion] = ()
        self._at = 0
        self._hint = ""

    @property
    def open(self) -> bool:
        return bool(self._items)

    @property
    def items(self) -> Sequence[Suggestion]:
        return self._items

    @property
    def chosen(self) -> Suggestion | None:
        return self._items[self._at] if self._items else None

    def show(self, items: Sequence[Suggestion], hint: str = "") -> None:
        """Replace the rows; the highlight stays on the same value if it is still there. `hint` is a last,
        dim line that cannot be chosen and may stand alone."""
        before = self.chosen
        same = next((i for i, item in enumerate(items) if before and item.value == before.value), 0)
        self._items, self._at, self._hint = tuple(items), same, hint
        self.display = bool(items or hint)
        rows = min(ROWS, len(items)) + bool(hint)
        # An overlay is laid out at its own place and would cover the prompt: lift it above the border.
        self.styles.offset = (0, -rows - 1)
        self.refresh(layout=True)

    def hide(self) -> None:
        if self.display:
            self.show(())

    def move(self, step: int) -> None:
        if self._items:
            self._at = (self._at + step) % len(self._items)
            self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return min(ROWS, len(self._items)) + bool(self._hint)

    def _first(self) -> int:
        return max(0, min(self._at - ROWS // 2, len(self._items) - ROWS))

    def render(self) -> Text:
        width = self.content_size.width
        rows = self._items[self._first() : self._first() + ROWS]
        label_room = min(max((cell_len(row.label) for row in rows), default=0) + 2, max(12, width * 3 // 5))
        lines = [self._row(row, row is self.chosen, label_room, width) for row in rows]
        if self._hint:
            style = self._inks["detail"]
            lines.append(Text(set_cell_size("  " + terminal.printable(self._hint, 300), width), style))
        return Text("\n", no_wrap=True, end="").join(lines)

    def _row(self, row: Suggestion, chosen: bool, label_room: int, width: int) -> Text:
        base = self._inks["chosen" if chosen else "row"]
        dim = self._inks["detail"]
        mark = self._inks["mark"]
        line = Text(no_wrap=True, end="")
        line.append("▌ " if chosen else "  ", mark)
        line.append(set_cell_size(terminal.printable(row.label, 300), label_room), base)
        rest = max(0, width - label_room - 2)
        line.append(set_cell_size(terminal.printable(row.detail, 300), rest), dim)
        if chosen:
            line.stylize(self._inks["chosen"], 2)
        return line

    def on_click(self, event: object) -> None:
        y = getattr(event, "y", -1) - self.gutter.top + self._first()
        if 0 <= y < len(self._items):
            self.post_message(self.Taken(self._items[y]))
