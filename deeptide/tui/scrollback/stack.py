"""All blocks of a session as one column of lines, of which only what is asked for is laid out.

Invariant: heights are estimates until a line is asked for and exact from then on (at one width); a block that
nobody asked for has no inside, and laid-out lines beyond KEPT_LINES are let go, oldest first.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from deeptide.transcript.blocks import (
    AnswerBlock,
    Block,
    Change,
    SummaryBlock,
    ThinkingBlock,
    ToolBlock,
    UserBlock,
)
from deeptide.tui.scrollback.body import Body, Section
from deeptide.tui.scrollback.cards import gap_between
from deeptide.tui.scrollback.heights import Heights
from deeptide.tui.scrollback.inks import Inks
from deeptide.tui.scrollback.parts import guess
from deeptide.tui.scrollback.sheet import Line, Sheet

KEPT_LINES = 4_000
"""Laid-out lines that are kept for when they are looked at again."""

SECTIONS = 1 << 20
"""Keys of sections are `block index * SECTIONS + section index`: they sort in reading order."""


class Entry:
    __slots__ = ("block", "body", "index", "unfolded")

    def __init__(self, block: Block, index: int, unfolded: bool) -> None:
        self.block = block
        self.index = index
        self.unfolded = unfolded
        self.body: Body | None = None


class Place(NamedTuple):
    """A line: `line` counts from the top of the section's gap."""

    entry: Entry
    section: int
    line: int


def estimate(block: Block, width: int, unfolded: bool = False) -> int:
    """Lines the block will probably take, gap included, without looking into its text."""
    match block:
        case ToolBlock() if unfolded:
            return 1 + guess(block.diff or block.output, width - 6)
        case ThinkingBlock() | SummaryBlock() if unfolded:
            return 3 + len(block.source if isinstance(block, ThinkingBlock) else block.text) // max(
                8, width - 4
            )
        case AnswerBlock():
            if isinstance(block.source, str):
                return guess(block.source, width - 2) * 5 // 4 + 1
            return 1 + len(block.source) // max(8, width // 2)
        case UserBlock():
            return 1 + min(14, guess(block.text, width - 2))
        case ToolBlock():
            return 1 if block.status == "ok" and not block.diff and block.name != "shell" else 6
        case ThinkingBlock():
            return 1
        case _:
            return 2


class Stack:
    """Blocks in, lines out. Counts how many sections it laid out in `laid`."""

    def __init__(self, inks: Inks) -> None:
        self.inks = inks
        self.width = 80
        self.unfolded = False
        self.laid = 0
        self._entries: list[Entry] = []
        self._by_id: dict[str, Entry] = {}
        self._heights = Heights()
        self._kept: OrderedDict[Section, int] = OrderedDict()
        self._kept_lines = 0

    # ---- blocks ---------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def total(self) -> int:
        return self._heights.total

    def entry(self, block_id: str) -> Entry | None:
        return self._by_id.get(block_id)

    def entry_at(self, index: int) -> Entry:
        return self._entries[index]

    def entries(self) -> Iterator[Entry]:
        return iter(self._entries)

    def apply(self, changes: Iterable[Change]) -> bool:
        """Takes the changes in. Returns whether blocks moved to another index."""
        moved = False
        added: list[Block] = []
        for change in changes:
            known = self._by_id.get(change.block.id)
            if (
                change.op == "add"
                and known is None
                and (not change.before or change.before not in self._by_id)
            ):
                self._by_id[change.block.id] = entry = Entry(change.block, len(self._entries), self.unfolded)
                self._entries.append(entry)
                added.append(change.block)
                continue
            self._append_heights(added)
            added = []
            if change.op == "remove":
                if known is not None:
                    moved = known.index < len(self._entries) - 1 or moved
                    self._remove(known)
            elif known is not None:
                self._update(known, change.block)
            else:
                self._insert(change.block, self._by_id[change.before].index)
                moved = True
        self._append_heights(added)
        return moved

    def _append_heights(self, added: list[Block]) -> None:
        width = self.width
        if len(added) == 1:
            self._heights.append(estimate(added[0], width, self.unfolded))
        elif added:
            self._heights.extend([estimate(block, width, self.unfolded) for block in added])

    def _insert(self, block: Block, index: int) -> None:
        entry = Entry(block, index, self.unfolded)
        self._by_id[block.id] = entry
        rest = self._heights.truncate(index)
        self._entries.insert(index, entry)
        for later in self._entries[index + 1 :]:
            later.index += 1
        for height in [estimate(block, self.width, self.unfolded), *rest]:
            self._heights.append(height)
        self._regap(index + 1)

    def _remove(self, entry: Entry) -> None:
        index = entry.index
        del self._by_id[entry.block.id]
        del self._entries[index]
        for later in self._entries[index:]:
            later.index -= 1
        for height in self._heights.truncate(index)[1:]:
            self._heights.append(height)
        self._drop(entry)
        self._regap(index)

    def _regap(self, index: int) -> None:
        """The block above this one is another one now."""
        if index < len(self._entries) and (body := self._entries[index].body) is not None:
            body.set_gap(self._gap(index))
            self._heights.set(index, body.height)

    def _gap(self, index: int) -> int:
        below = self._entries[index].block
        if not index:
            return gap_between(None, below)
        above = self._entries[index - 1]
        return gap_between(above.block, below, above.unfolded)

    def _update(self, entry: Entry, block: Block) -> None:
        entry.block = block
        if entry.body is None and not (isinstance(block, AnswerBlock) and block.open):
            self._heights.set(entry.index, estimate(block, self.width, entry.unfolded))
            return
        body = self.open(entry)
        body.update(block)
        self._heights.set(entry.index, body.height)
        self._regap(entry.index + 1)

    def _set_unfolded(self, entry: Entry, unfolded: bool) -> None:
        entry.unfolded = unfolded
        if entry.body is None:
            self._heights.set(entry.index, estimate(entry.block, self.width, unfolded))
            return
        body = self.open(entry)
        body.set_unfolded(unfolded)
        self._heights.set(entry.index, body.height)
        self._regap(entry.index + 1)

    # ---- lines ----------------------------------------------------------------------------------------------

    def _rewidth(self, width: int) -> None:
        """Another width: every height is an estimate again."""
        self.width = width
        self._heights.rebuild([estimate(entry.block, width, entry.unfolded) for entry in self._entries])
        self._let_go()

    def redraw(self, inks: Inks) -> None:
        """Everything is to be drawn again: other inks, or Markdown has become available."""
        self.inks = inks
        self._let_go()
        for entry in self._entries:
            if entry.body is not None:
                entry.body.forget()
                self._heights.set(entry.index, entry.body.height)

    def open(self, entry: Entry) -> Body:
        """The inside of a block, at the present width."""
        body = entry.body
        if body is None:
            body = entry.body = Body(entry.block, entry.unfolded, self._gap(entry.index), self.width)
        else:
            body.set_width(self.width)
        if self._heights[entry.index] != body.height:
            self._heights.set(entry.index, body.height)
        return body

    def lay(self, entry: Entry, index: int) -> Sheet:
        """The lines of one section; the height of the block is corrected by it."""
        body = self.open(entry)
        section = body.sections[index]
        self.laid += section.sheet is None or section.width != self.width
        sheet = body.lay(index, self.inks)
        if section in self._kept:
            self._kept.move_to_end(section)
        else:
            self._heights.set(entry.index, body.height)
            self._kept[section] = len(sheet.lines)
            self._kept_lines += len(sheet.lines)
        return sheet

    def _trim(self, spare: int) -> None:
        """Lets go of what was looked at longest ago, keeping its exact height."""
        while self._kept_lines > KEPT_LINES + 4 * spare and len(self._kept) > 1:
            section, lines = self._kept.popitem(last=False)
            self._kept_lines -= lines
            section.sheet = None

    def _let_go(self) -> None:
        for section in self._kept:
            section.sheet = None
        self._kept.clear()
        self._kept_lines = 0

    def _drop(self, entry: Entry) -> None:
        if entry.body is not None:
            for section in entry.body.sections:
                self._kept_lines -= self._kept.pop(section, 0)

    def _span(self, entry: Entry, index: int) -> int:
        self.lay(entry, index)
        section = entry.body.sections[index] if entry.body else None
        return section.gap + section.height if section else 0

    # ---- places ---------------------------------------------------------------------------------------------

    def locate(self, y: int) -> Place:
        entry = self._entries[self._heights.find(y)]
        body = self.open(entry)
        line = y - self._heights.before(entry.index)
        if not body.sections:
            return Place(entry, 0, 0)
        section = body.section_at(line)
        return Place(entry, section, max(0, line - body.start_of(section)))

    def y_of(self, place: Place) -> int:
        body = self.open(place.entry)
        start = body.start_of(place.section) if place.section < len(body.sections) else 0
        return self._heights.before(place.entry.index) + start + place.line

    def line_at(self, y: int) -> tuple[Entry, int, Line] | None:
        """(block, section, line) that is shown at y, or None for a gap or beyond the end."""
        if not 0 <= y < self.total:
            return None
        place = self.locate(y)
        body = self.open(place.entry)
        if not body.sections:
            return None
        number = place.line - body.sections[place.section].gap
        if number < 0:
            return None
        lines = self.lay(place.entry, place.section).lines
        return (place.entry, place.section, lines[number]) if number < len(lines) else None

    def line_of(self, entry: Entry, wanted: re.Pattern[str], nth: int) -> tuple[int, int]:
        """(section, line) of the `nth` match in a block; of the last one if there are fewer."""
        seen, best = 0, (0, 0)
        for index in range(len(self.open(entry).sections)):
            sheet = self.lay(entry, index)
            for found in wanted.finditer(sheet.text):
                line = next((n for n, line in enumerate(sheet.lines) if line.end > found.start()), 0)
                best = (index, line)
                if seen == nth:
                    return best
                seen += 1
        return best

    def _from(self, place: Place) -> Iterator[tuple[Entry, int]]:
        start = place.section
        for number in range(place.entry.index, len(self._entries)):
            entry = self._entries[number]
            for index in range(start, len(self.open(entry).sections)):
                yield entry, index
            start = 0

    def _back(self, place: Place) -> Iterator[tuple[Entry, int]]:
        """The sections before a place, nearest first."""
        end = place.section
        for number in range(place.entry.index, -1, -1):
            entry = self._entries[number]
            for index in range(min(end, len(self.open(entry).sections)) - 1, -1, -1):
                yield entry, index
            end = SECTIONS
