"""A page of text that a command answered with.

Invariant: it can be left with Esc at once, and everything on it can be reached and copied.
"""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from deeptide.transcript.blocks import AnswerBlock, Change
from deeptide.tui.palette import Palette
from deeptide.tui.screens.dialog import Dialog
from deeptide.tui.scrollback.scrollback import Scrollback

FIT_S = 0.05
FRAME_ROWS = 5


class Sheet(Dialog[None]):
    """Markdown in the same hand as the transcript."""

    def __init__(self, title: str, markdown: str, palette: Palette) -> None:
        super().__init__()
        self._title_text = title
        self._markdown = markdown
        self._palette = palette

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog sheet") as dialog:
            dialog.border_title = self._title_text
            dialog.border_subtitle = "↑↓ PgUp PgDn scroll · c copies · Esc"
            yield Scrollback(self._palette)

    def on_mount(self) -> None:
        page = self.query_one(Scrollback)
        page.apply([Change("add", AnswerBlock("live:sheet", self._markdown))])
        page.focus()
        self.set_timer(FIT_S, self._fit)

    def _fit(self) -> None:
        """A short text gets a low sheet, as soon as it is laid out."""
        page = self.query_one(Scrollback)
        page.flush()
        page.action_scroll_home()
        rows = page.virtual_size.height + FRAME_ROWS
        self.query_one(".sheet").styles.height = min(rows, self.size.height * 9 // 10)

    def on_key(self, event: events.Key) -> None:
        if event.key in ("escape", "q", "enter"):
            event.stop()
            self.dismiss(None)
        elif event.key == "c":
            event.stop()
            self.app.copy_to_clipboard(self._markdown)
