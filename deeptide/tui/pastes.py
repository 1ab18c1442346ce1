"""Long pastes, shown as one short placeholder and sent whole.

Invariant: `expand(collapse(text)) == text` for every text, and a placeholder that was typed by hand or whose
paste is unknown stays as it is.
"""

from __future__ import annotations

import re

LINES = 10
CHARACTERS = 2_000
PLACEHOLDER = re.compile(r"\[pasted #(\d+): [^\]\n]*\]")


class Pastes:
    """The pastes of one composer, numbered from 1."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}
        self._last = 0

    def collapse(self, text: str) -> str:
        """A placeholder for a long paste; a short one comes back as it is."""
        rows = text.count("\n") + 1
        if rows <= LINES and len(text) <= CHARACTERS:
            return text
        self._last += 1
        self._texts[self._last] = text
        size = f"{rows - text.endswith(chr(10))} lines" if rows > LINES else f"{len(text):,} characters"
        return f"[pasted #{self._last}: {size}]"

    def forget(self) -> None:
        """Drop all texts; numbers go on, so an old placeholder never names a new paste."""
        self._texts.clear()

    def expand(self, text: str) -> str:
        """Every known placeholder replaced by its paste; text inside a paste is not looked at again."""
        return PLACEHOLDER.sub(lambda match: self._texts.get(int(match[1]), match[0]), text)

    def at(self, line: str, column: int) -> tuple[int, int, str] | None:
        """The known placeholder touching `column` of `line`, as (start, end, text)."""
        for match in PLACEHOLDER.finditer(line):
            if match.start() <= column <= match.end() and int(match[1]) in self._texts:
                return match.start(), match.end(), self._texts[int(match[1])]
        return None
