"""The text area of the composer: editing only; every other key is offered to its owner first.

Invariant: a key the owner takes never edits the text, and one it leaves behaves as in any text area.
"""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.geometry import Offset
from textual.widgets import TextArea

from deeptide.tui.pastes import Pastes

JOINERS = "\u200c\u200d"
"""Zero width joiner and non-joiner: parts of emoji and of many scripts."""


class Prompt(TextArea):
    """`offer(key)` is asked about each key before the text area sees it; true means taken."""

    def __init__(self, offer: Callable[[str], bool], pastes: Pastes) -> None:
        super().__init__(soft_wrap=True, highlight_cursor_line=False, compact=True, id="prompt")
        self._offer = offer
        self._pastes = pastes
        self.cursor_blink = False

    @property
    def before_caret(self) -> str:
        row, column = self.cursor_location
        return self.document.get_line(row)[:column]

    @property
    def caret_offset(self) -> Offset:
        """Where the caret is on the screen, for parking the real cursor."""
        return self.cursor_screen_offset

    def put(self, text: str) -> None:
        """Replace everything and stand at the end; undo brings the old text back."""
        self.replace(text, (0, 0), self.document.end)
        self.move_cursor(self.document.end)

    async def _on_key(self, event: events.Key) -> None:
        joins = event.character is not None and event.character in JOINERS
        if joins:
            # Textual types only what `str.isprintable` knows, and would take a family of emoji apart.
            self.insert(event.character or "")
        if joins or self._offer(event.key):
            event.stop()
            event.prevent_default()

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        self.insert(self._pastes.collapse(text), maintain_selection_offset=False)

    def action_delete_left(self) -> None:
        """Backspace right behind a collapsed paste takes the whole placeholder."""
        row, column = self.cursor_location
        span = self._pastes.at(self.document.get_line(row), column) if self.selection.is_empty else None
        if span and span[1] == column:
            self.delete((row, span[0]), (row, span[1]), maintain_selection_offset=False)
        else:
            super().action_delete_left()

    def expand_paste(self) -> bool:
        """Put the text of the placeholder under the caret in its place; false if there is none."""
        row, column = self.cursor_location
        span = self._pastes.at(self.document.get_line(row), column)
        if span is None:
            return False
        self.replace(span[2], (row, span[0]), (row, span[1]), maintain_selection_offset=False)
        return True
