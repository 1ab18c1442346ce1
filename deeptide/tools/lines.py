"""The lines of a file as the model sees them: the same numbers in read, grep and every error.

Invariant: line n is the text between the (n-1)th and the nth line feed, its line ending taken off; only a file
without any line feed is split at carriage returns.
"""

from __future__ import annotations

from deeptide.protocol.text import clean

WIDTH = 2_000
"""Characters of one line that are shown."""


def split(text: str) -> list[str]:
    """The lines of `text` without their endings; a last line feed opens no further line."""
    if not text:
        return []
    if "\n" not in text and "\r" in text:
        parts = text.split("\r")
    else:
        parts = [part[:-1] if part.endswith("\r") else part for part in text.split("\n")]
    return parts[:-1] if not parts[-1] and text[-1] in "\r\n" else parts


def show(line: str) -> str:
    """One line, fit to be shown: cleaned, and cut with a mark when it is too long."""
    line = clean(line.replace("\r", "␍"))
    if len(line) <= WIDTH:
        return line
    return f"{line[:WIDTH]}… [line cut: {len(line):,} characters]"


def numbered(lines: list[str], first: int) -> list[str]:
    """`12<TAB>text` for each of `lines`, the first being number `first`."""
    return [f"{number}\t{show(line)}" for number, line in enumerate(lines, first)]
