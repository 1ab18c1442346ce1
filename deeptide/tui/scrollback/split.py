"""Cuts growing Markdown into sections that can be parsed, laid out and thrown away one by one.

A section ends where CommonMark certainly starts a new top-level block or list item, or where it has grown too
long. It is found line by line, so a line that is complete is looked at once.

Invariant: the sections are a function of the whole text, whatever pieces it arrived in; joined, their texts
are the whole text but for fence lines and blank lines between sections.
"""

from __future__ import annotations

import copy
import re
from typing import Literal

import msgspec

LONG = 4_000
"""Characters after which a section or a single line is cut."""
FENCE_LINES = 40
TABLE_LIMIT = 16_000

_FENCE = re.compile(r"( *)(`{3,}|~{3,})(.*)$")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
_RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_BULLET = re.compile(r"([-*+])(?:([ \t]+)(\S)|[ \t]*$)")
_ORDERED = re.compile(r"(\d{1,9})([.)])(?:([ \t]+)(\S)|[ \t]*$)")
_TABLE = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")


class Source(msgspec.Struct, frozen=True, gc=False):
    """One section. `kind` `plain` is never parsed (the inside of a very long line); `more` continues an item
    whose text stood `indent` cells in.

    `gap`: empty lines before it. `header` is put before `text` for parsing and not shown: the head of a table
    or the opening of a fence that was cut. For a fence, `text` is the code alone (each line with its break),
    `info` what stands after its opening (`text` if nothing does), `row` the number of its first line, `last`
    whether its end was seen. `number` is what an ordered item counts.
    """

    kind: Literal["prose", "item", "more", "fence", "plain"]
    text: str
    gap: int = 0
    info: str = ""
    header: str = ""
    number: int = -1
    indent: int = 0
    row: int = 0
    last: bool = False


class Splitter:
    """Feed it text; take finished sections from `closed`. `tail()` gives what the unfinished rest would be."""

    def __init__(self) -> None:
        self.closed: list[Source] = []
        self._partial = ""
        self._spilled = False
        self._lines: list[str] = []
        self._size = 0
        self._kind: Literal["", "prose", "item", "more", "fence"] = ""
        self._gap = 0
        self._blanks = 0
        self._started = False
        self._after = ""
        self._marker = ""
        self._info = ""
        self._row = 0
        self._header = ""
        self._number = -1
        self._indent = 0
        self._list = ""
        self._table = ""
        self._inner = ""
        self._inner_line = ""

    def feed(self, text: str) -> None:
        lines = (self._partial + text).split("\n") if text else [self._partial]
        self._partial = lines.pop()
        for line in lines:
            self._whole(line)
        while len(self._partial) > LONG:
            self._partial = self._spill(self._partial)

    def finish(self) -> None:
        """The text is over."""
        if self._partial or self._spilled:
            line, self._partial = self._partial, ""
            self._whole(line)
        self._close(last=False)

    def tail(self) -> list[Source]:
        """The sections that the text after the closed ones would make if it ended here."""
        ahead = copy.copy(self)
        ahead.closed = []
        ahead._lines = list(self._lines)
        ahead.finish()
        return ahead.closed

    # ---- lines -------------------------------------------------------------------------------------------

    def _whole(self, line: str) -> None:
        while len(line) > LONG:
            line = self._spill(line)
        if self._spilled:
            self._spilled = False
            if line:
                self._plain(line)
            return
        self._line(line)

    def _spill(self, line: str) -> str:
        """Puts the head of a very long line away as a section of its own and returns the rest."""
        cut = line.rfind(" ", LONG // 2, LONG) + 1 or LONG
        head, rest = line[:cut], line[cut:]
        if self._kind == "fence":
            self._append(head)
        elif self._spilled:
            self._plain(head)
        else:
            self._line(head)
            self._close(last=False)
            self._spilled = True
        return rest

    def _plain(self, text: str) -> None:
        self.closed.append(Source("plain", text))
        self._after = "plain"

    def _line(self, line: str) -> None:
        if self._kind == "fence":
            self._fenced(line)
        elif self._inner:
            self._nested(line)
        elif not line.strip():
            self._blanks += 1
            if self._lines:
                self._append(line)
        elif not self._opens(line):
            self._continue(line)

    def _opens(self, line: str) -> bool:
        """Whether the line certainly begins a new section; if so, it has."""
        fence = _FENCE.match(line)
        if fence and self._fence(fence, line):
            return True
        if line[0] == "#" and _HEADING.match(line):
            self._begin("prose", apart=True)
            self._append(line)
            self._close(last=False)
            self._after = "heading"
            return True
        if _RULE.match(line):
            return self._rule(line)
        return self._item(line)

    def _rule(self, line: str) -> bool:
        if self._kind == "prose" and not self._blanks and line.lstrip()[0] == "-":
            return False
        if line[0] == " " and self._kind in ("item", "more"):
            return False
        self._begin("prose", apart=True)
        self._append(line)
        self._close(last=False)
        return True

    def _item(self, line: str) -> bool:
        bullet = _BULLET.match(line)
        ordered = None if bullet else _ORDERED.match(line)
        found = bullet or ordered
        if found is None:
            return False
        fresh = not self._lines or self._blanks or self._in_list()
        empty = not line[found.end(1) :].strip(" \t.)")
        if not fresh and (empty or self._table or (ordered and int(ordered[1]) != 1)):
            return False
        mark = bullet[1] if bullet else ordered[2] if ordered else ""
        number = int(ordered[1]) if ordered else -1
        if ordered and self._list == mark and self._number >= 0 and self._in_list():
            number = self._number + 1
        self._begin("item")
        self._list, self._number = mark, number
        body = line[found.end(1) + (1 if ordered else 0) :]
        pad = len(body) - len(body.lstrip(" \t"))
        self._indent = len(line) - len(body) + (pad if 1 <= pad <= 4 else 1)
        self._append(line)
        nested = _FENCE.match(body.lstrip(" \t"))
        if nested:
            self._inner, self._inner_line = nested[2], body.lstrip(" \t")
        return True

    def _in_list(self) -> bool:
        return self._kind in ("item", "more")

    def _continue(self, line: str) -> None:
        cut = self._after == "cut"
        going_on = self._lines or cut
        if not going_on or (self._blanks and line[0] not in " \t"):
            self._begin("prose")
        self._after = ""
        if self._kind == "prose" and len(self._lines) == 1 and "|" in self._lines[0] and _TABLE.match(line):
            self._table = f"{self._lines[0]}\n{line}\n"
        self._append(line)
        self._cut_if_long()

    # ---- fences ------------------------------------------------------------------------------------------

    def _fence(self, found: re.Match[str], line: str) -> bool:
        indent, marker, info = found.groups()
        if marker[0] == "`" and "`" in info:
            return False
        if indent and (self._kind in ("item", "more") or len(indent) > 3):
            if self._lines:
                self._append(line)
                self._inner, self._inner_line = marker, line
                return True
            return False
        self._begin("fence", apart=True)
        self._marker = marker
        self._info = info.strip() or "text"
        self._indent = len(indent)
        self._row = 0
        return True

    def _closes(self, line: str, marker: str) -> bool:
        bare = line.strip()
        return len(bare) >= len(marker) and bare == marker[0] * len(bare)

    def _fenced(self, line: str) -> None:
        if self._closes(line, self._marker) and len(line) - len(line.lstrip(" ")) <= 3:
            self._close(last=True)
            self._after = "fence"
            return
        pad = len(line) - len(line.lstrip(" "))
        self._append(line[min(pad, self._indent) :])
        if len(self._lines) >= FENCE_LINES or self._size >= LONG:
            self._close(last=False)

    def _nested(self, line: str) -> None:
        self._append(line)
        if self._closes(line, self._inner):
            self._inner = self._inner_line = ""
        self._blanks = 0
        self._cut_if_long()

    # ---- sections ----------------------------------------------------------------------------------------

    def _append(self, line: str) -> None:
        self._lines.append(line)
        self._size += len(line) + 1
        if line.strip():
            self._blanks = 0

    def _cut_if_long(self) -> None:
        if self._size < (TABLE_LIMIT if self._table else LONG):
            return
        kind, table, inner, opener = self._kind, self._table, self._inner, self._inner_line
        self._close(last=False)
        self._kind = "more" if kind in ("item", "more") else "prose"
        self._table = table
        self._inner, self._inner_line = inner, opener
        self._header = table or (f"{opener}\n" if inner else "")
        self._after = "cut"

    def _begin(self, kind: Literal["prose", "item", "fence"], *, apart: bool = False) -> None:
        """Starts a section; `apart` ones always have an empty line before them."""
        apart = apart or bool(self._blanks) or self._after == "fence"
        self._close(last=False)
        self._gap = 1 if apart and self._started else 0
        if kind != "item":
            self._list, self._number = "", -1
        self._kind, self._blanks, self._started, self._after = kind, 0, True, ""

    def _close(self, *, last: bool) -> None:
        if self._kind == "fence":
            self._close_fence(last)
            return
        if self._lines:
            while self._lines and not self._lines[-1].strip():
                self._lines.pop()
            self.closed.append(
                Source(
                    self._kind or "prose", "\n".join(self._lines), self._gap, "", self._header,
                    self._number if self._kind == "item" else -1, self._indent if self._kind == "more" else 0,
                )
            )  # fmt: skip
        self._reset()

    def _close_fence(self, last: bool) -> None:
        if self._lines or last or self._row == 0:
            text = "".join(f"{line}\n" for line in self._lines)
            self.closed.append(
                Source("fence", text, self._gap, self._info, self._marker, row=self._row, last=last)
            )
        self._row += len(self._lines)
        if last:
            self._reset()
            self._kind = ""
        else:
            self._lines, self._size, self._gap = [], 0, 0

    def _reset(self) -> None:
        self._lines, self._size, self._gap = [], 0, 0
        self._table = self._inner = self._inner_line = self._header = ""


def split(text: str) -> list[Source]:
    """All sections of a text that is whole."""
    splitter = Splitter()
    splitter.feed(text)
    splitter.finish()
    return splitter.closed
