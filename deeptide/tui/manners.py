"""How the app behaves towards the terminal it lives in: title, calling for attention, the clipboard.

Invariant: it writes nothing while nothing changes, and calls only a reader who is elsewhere or has waited long.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from deeptide.tui import terminal

LONG_TURN_S = 20.0


class Manners:
    """`write` sends a sequence to the terminal. `bell` and `notify` are the user's settings."""

    def __init__(self, write: Callable[[str], None], environ: Mapping[str, str]) -> None:
        self._write = write
        self._environ = environ
        self._title = ""
        self.present = True
        self.bell = True
        self.notify = True

    def title(self, text: str) -> None:
        if text and text != self._title:
            self._title = text
            self._write(terminal.title(f"{text} · DeepTide"))

    def call(self, why: Literal["done", "question"], elapsed: float) -> None:
        """A turn of `elapsed` seconds is done or a question waits. Someone looking on is called only after a
        long turn."""
        waited = why == "done" and elapsed > LONG_TURN_S
        if self.present and not waited:
            return
        what = "has a question" if why == "question" else "is done"
        if self.notify:
            self._write(terminal.notice(f"DeepTide {what}: {self._title}", self._environ))
        elif self.bell:
            self._write(terminal.BEL)

    def copy(self, text: str, what: str = "") -> str:
        """Put `text` on the clipboard of the terminal; the sentence to show, which calls it `what`."""
        sequence = terminal.clipboard(text, self._environ)
        if not sequence:
            size = len(text.encode("utf-8", "replace"))
            return f"Not copied: {size:,} bytes; terminals take {terminal.CLIPBOARD_LIMIT:,}. /export writes a file."
        self._write(sequence)
        return f"Copied {what}" if what else f"Copied {len(text):,} characters"
