"""Help: every key and every command, from the tables that define them.

Invariant: nothing is listed here that is not in `keys.TABLE` or the command registry.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from deeptide.tui.keys import TABLE
from deeptide.tui.ports import CommandInfo
from deeptide.tui.screens.dialog import Dialog


def pairs(lines: Sequence[tuple[str, str]], room: int) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(width=room, no_wrap=True)
    table.add_column(overflow="fold")
    for left, right in lines:
        table.add_row(Text(left, "bold"), Text(right))
    return table


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
                yield Static(pairs([(line.shown, line.summary) for line in lines], 29))
            listed = [(f"/{one.name} {one.usage}".rstrip(), one.summary) for one in self._commands]
            room = min(34, max((cell_len(left) for left, _ in listed), default=0))
            yield Static(Text("Commands"), classes="heading")
            yield Static(pairs(listed, room))
            yield Static(Text("/help NAME tells more about a command", "dim"), classes="heading")

    def on_key(self, event: events.Key) -> None:
        if event.key in ("escape", "q", "f1", "enter"):
            event.stop()
            self.dismiss(None)
