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

WIDE = 64
"""From so many columns on the two parts of a line stand side by side."""
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


class Listing(Static):
    def __init__(self, lines: Sequence[Line]) -> None:
        super().__init__()
        self._lines = lines
        self._wide: bool | None = None

    def on_resize(self, event: events.Resize) -> None:
        wide = event.size.width >= WIDE
        if self._lines and wide != self._wide:
            self._wide = wide
            self.update((side_by_side if wide else stacked)(self._lines))


class Help(Dialog[None]):
    def __init__(self, commands: Sequence[CommandInfo]) -> None:
        super().__init__()
        self._commands = commands

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog help") as dialog:
            dialog.border_title = "Help"
            dialog.border_subtitle = "↑↓ PgUp PgDn scroll · Esc"
            for where, lines in groupby(TABLE, key=lambda line: line.where):
                yield Static(Text(where), classes="heading")
                yield Listing([(line.shown, line.summary) for line in lines])
            yield Static(Text("Commands"), classes="heading")
            yield Listing([(f"/{one.name} {one.usage}".rstrip(), one.summary) for one in self._commands])
            yield Static(Text("/help NAME tells more about a command", "dim"), classes="heading")

    def on_key(self, event: events.Key) -> None:
        if event.key in ("escape", "q", "f1", "enter"):
            event.stop()
            self.dismiss(None)
