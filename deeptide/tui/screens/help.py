"""Help: every key and every command, from the tables that define them.

Invariant: nothing is listed here that is not in `keys.TABLE` or the command registry.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.cells import cell_len
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from deeptide.tui.keys import TABLE
from deeptide.tui.ports import CommandInfo
from deeptide.tui.screens.dialog import Dialog

WIDE = 80
"""From so many columns of the screen on the two parts of a line stand side by side."""
ROOM = 31
Line = tuple[str, str]


def side_by_side(lines: Sequence[Line]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(width=min(ROOM, max(cell_len(left) for left, _ in lines)), overflow="fold")
    table.add_column(overflow="fold")
    for left, right in lines:
        table.add_row(Text(left, "bold"), Text(right))
    return table


def stacked(lines: Sequence[Line]) -> Table:
    """What a key does below it, set in."""
    table = Table.grid()
    table.add_column(overflow="fold")
    for left, right in lines:
        table.add_row(Text(left, "bold"))
        table.add_row(Padding(Text(right), (0, 0, 0, 4)))
    return table


class Help(Dialog[None]):
    def __init__(self, commands: Sequence[CommandInfo]) -> None:
        super().__init__()
        self._commands = commands
        self._wide = True

    def on_resize(self) -> None:
        if (self.app.size.width >= WIDE) != self._wide:
            self.refresh(recompose=True)

    def compose(self) -> ComposeResult:
        self._wide = self.app.size.width >= WIDE
        draw = side_by_side if self._wide else stacked
        with VerticalScroll(classes="dialog help") as dialog:
            dialog.border_title = "Help"
            dialog.border_subtitle = "↑↓ PgUp PgDn scroll · Esc"
            for where, lines in groupby(TABLE, key=lambda line: line.where):
                yield Static(Text(where), classes="heading")
                yield Static(draw([(line.shown, line.summary) for line in lines]))
            yield Static(Text("Commands"), classes="heading")
            listed = [(f"/{one.name} {one.usage}".rstrip(), one.summary) for one in self._commands]
            yield Static(draw(listed) if listed else Text())
            yield Static(Text("/help NAME tells more about a command", "dim"), classes="heading")

    def on_key(self, event: events.Key) -> None:
        if event.key in ("escape", "q", "f1", "enter"):
            event.stop()
            self.dismiss(None)
