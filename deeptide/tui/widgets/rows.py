"""A list of one-line rows with a highlight, for pickers of any length.

Invariant: only the visible rows are drawn, and the highlighted one is always visible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual import events
from textual.message import Message
from textual.widget import Widget

from deeptide.tui import terminal


@dataclass(frozen=True)
class Row:
    """`detail` stands dim at the right edge; `words` is what a filter looks through."""

    value: str
    label: str
    detail: str = ""
    words: str = ""
    marked: bool = False


def fitting(rows: Sequence[Row], query: str) -> list[Row]:
    """Rows that hold every word of `query` somewhere, in their order."""
    wanted = query.casefold().split()
    if not wanted:
        return list(rows)
    return [
        row
        for row in rows
        if all(word in f"{row.label} {row.detail} {row.words}".casefold() for word in wanted)
    ]


class Rows(Widget):
    COMPONENT_CLASSES = {"rows--row", "rows--chosen", "rows--detail", "rows--mark"}

    class Moved(Message):
        """The highlight is on another row (or on none)."""

    class Taken(Message):
        """A row was clicked twice."""

    def __init__(self, empty: str = "Nothing here") -> None:
        super().__init__()
        self._empty = empty
        self._rows: Sequence[Row] = ()
        self._at = 0

    @property
    def rows(self) -> Sequence[Row]:
        return self._rows

    @property
    def chosen(self) -> Row | None:
        return self._rows[self._at] if self._rows else None

    def show(self, rows: Sequence[Row]) -> None:
        before = self.chosen
        self._rows = rows
        self._at = next((i for i, row in enumerate(rows) if before and row.value == before.value), 0)
        self.refresh()
        self.post_message(self.Moved())

    def choose(self, value: str) -> None:
        self._at = next((i for i, row in enumerate(self._rows) if row.value == value), self._at)
        self.refresh()
        self.post_message(self.Moved())

    def move(self, step: int) -> None:
        if self._rows:
            self._at = max(0, min(len(self._rows) - 1, self._at + step))
            self.refresh()
            self.post_message(self.Moved())

    def page(self, direction: int) -> None:
        self.move(direction * max(1, self.content_size.height - 1))

    def _first(self) -> int:
        height = max(1, self.content_size.height)
        return max(0, min(self._at - height // 2, len(self._rows) - height))

    def render(self) -> Text:
        width, height = self.content_size
        style = self.get_component_rich_style
        if not self._rows:
            return Text(self._empty, style("rows--detail", partial=True))
        lines = []
        first = self._first()
        for number, row in enumerate(self._rows[first : first + height], first):
            detail = terminal.printable(row.detail, 100)
            room = max(8, width - 2 - (cell_len(detail) + 2 if detail else 0))
            mark = "▌ " if number == self._at else ("• " if row.marked else "  ")
            line = Text(no_wrap=True, end="")
            line.append(mark, style("rows--mark", partial=True))
            label = terminal.printable(row.label, 300)
            if cell_len(label) > room:
                label = set_cell_size(label, room - 1).rstrip() + "…"
            line.append(set_cell_size(label, room), style("rows--row", partial=True))
            if detail:
                line.append("  " + detail, style("rows--detail", partial=True))
            line.truncate(width, pad=True)
            if number == self._at:
                line.stylize(style("rows--chosen", partial=False), 2)
            lines.append(line)
        return Text("\n", no_wrap=True, end="").join(lines)

    def on_click(self, event: events.Click) -> None:
        at = event.y - self.gutter.top + self._first()
        if 0 <= at < len(self._rows):
            self.move(at - self._at)
            if event.chain == 2:
                self.post_message(self.Taken())
