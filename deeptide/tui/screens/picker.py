"""A list to filter by typing and to pick from, with a preview of the highlighted row.

Invariant: Esc always leaves without a choice, and Enter on nothing does nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input, Static

from deeptide.tui.screens.dialog import Dialog
from deeptide.tui.widgets.rows import Row, Rows, fitting

KEYS = "type to filter · Enter takes · Esc"


class Picker(Dialog[str | None]):
    """Returns the chosen row's value, or None. Subclasses give rows, and a preview if they have one."""

    heading = "Pick"
    empty = "Nothing here"
    keys = KEYS
    has_preview = True

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog picker") as dialog:
            dialog.border_title = self.heading
            dialog.border_subtitle = self.keys
            yield Input(placeholder="filter", compact=True, classes="filter")
            yield Rows(self.empty)
            if self.has_preview:
                with VerticalScroll(classes="preview-scroll", can_focus=False):
                    yield Static(classes="preview", markup=False)

    def on_mount(self) -> None:
        self.refresh_rows()

    @abstractmethod
    def rows(self) -> Sequence[Row]: ...

    def preview(self, row: Row) -> Text:
        return Text()

    def refresh_rows(self) -> None:
        self.query_one(Rows).show(fitting(self.rows(), self.query_one(Input).value))

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.refresh_rows()

    def on_rows_moved(self) -> None:
        if self.has_preview:
            row = self.query_one(Rows).chosen
            self.query_one(".preview", Static).update(self.preview(row) if row else Text())

    def on_rows_taken(self) -> None:
        self.take()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.take()

    def take(self) -> None:
        row = self.query_one(Rows).chosen
        if row is not None:
            self.dismiss(row.value)

    def on_key(self, event: events.Key) -> None:
        if self.act(event.key):
            event.stop()
            event.prevent_default()

    def act(self, key: str) -> bool:
        rows = self.query_one(Rows)
        match key:
            case "up" | "ctrl+p":
                rows.move(-1)
            case "down" | "ctrl+n":
                rows.move(1)
            case "pageup":
                rows.page(-1)
            case "pagedown":
                rows.page(1)
            case "escape":
                self.dismiss(None)
            case _:
                return False
        return True
