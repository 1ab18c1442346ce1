"""From cells to words: what stands at a cell of the window, and the words between two such places.

A place is (character, key): the offset in the logical text of the section that has the key. Textual carries it
as the x and y of an `Offset`, which only have to sort in reading order.

Invariant: what is picked is logical text: never a gutter, a wrap or padding, and never half a character.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from textual.geometry import Offset
from textual.selection import Selection
from textual.strip import Strip

from deeptide.tui.scrollback.sheet import Line, unaddressed
from deeptide.tui.scrollback.stack import SECTIONS, Entry, Stack

Row = tuple[Entry, int, Line]
"""A line of the window with the block and the section it belongs to."""

_WORD_EDGE = re.compile(r"[^\w./~@#%+-]")
_LINE_EDGE = re.compile(r"\n")


def key_of(row: Row) -> int:
    return row[0].index * SECTIONS + row[1]


def address(rows: Sequence[Row | None], y: int, width: int) -> Strip:
    """What each cell of line y stands for. An empty line stands for the start of the next one, or for the end
    of the last."""
    here = rows[y] if y < len(rows) else None
    if here is not None:
        return here[2].addressed(width, key_of(here))
    for row in rows[y:]:
        if row is not None:
            return unaddressed(width, row[2].start, key_of(row))
    for row in reversed(rows[:y]):
        if row is not None:
            return unaddressed(width, row[2].end, key_of(row))
    return Strip.blank(width)


def character_at(row: Row, x: int, width: int) -> int:
    """The offset of the character at cell x of a line."""
    for segment in row[2].addressed(width, 0).crop(x, x + 1):
        if segment.style is not None:
            return int(segment.style.meta["offset"][0])
    return row[2].end


def around(column: Stack, row: Row, x: int, *, whole_line: bool) -> Selection | None:
    """The word, or the logical line, at cell x of a line; None if there is none."""
    text = column.lay(row[0], row[1]).text
    at = character_at(row, x, column.width)
    edge = _LINE_EDGE if whole_line else _WORD_EDGE
    start = max((found.end() for found in edge.finditer(text, 0, at)), default=0)
    after = edge.search(text, at)
    end = after.start() if after else len(text)
    if start >= end:
        return None
    return Selection(Offset(start, key_of(row)), Offset(end, key_of(row)))


def bounds(selection: Selection, key: int, end: int) -> tuple[int, int] | None:
    """The selected characters of section `key`, whose text ends at `end`; None if there are none."""
    first, last = selection.start, selection.end
    if (first is not None and key < first.y) or (last is not None and key > last.y):
        return None
    start = first.x if first is not None and key == first.y else 0
    stop = last.x if last is not None and key == last.y else end
    return (start, stop) if start < stop else None


def picked(column: Stack, selection: Selection) -> str:
    """The selected text, sections apart as they are on the page."""
    if not len(column):
        return ""
    first = selection.start.y if selection.start is not None else 0
    last = selection.end.y if selection.end is not None else len(column) * SECTIONS
    said: list[str] = []
    for index in range(first // SECTIONS, min(last // SECTIONS, len(column) - 1) + 1):
        entry = column.entry_at(index)
        for section in range(len(column.open(entry).sections)):
            key = index * SECTIONS + section
            if not first <= key <= last:
                continue
            text = column.lay(entry, section).text
            found = bounds(selection, key, len(text))
            gap = column.open(entry).sections[section].gap if said else 0
            said.append("\n" * gap + (_whole(text, *found) if found else ""))
    return "\n".join(said).rstrip("\n")


def _whole(text: str, start: int, end: int) -> str:
    """The characters from `start` to `end`, and what is joined to the last one."""
    while 0 < end < len(text) and (text[end] in "\u200d\ufe0f" or text[end - 1] == "\u200d"):
        end += 1
    return text[start:end]
