"""A laid-out section: its logical text and the lines that show it.

The logical text is what a reader copies: whole logical lines, without gutters, wrapping or padding. Each piece
of a line knows the offset of its first character in that text.

Invariant: joining the text pieces of all lines, in order, gives the logical text but for line breaks, spaces
lost at a wrap, and what is drawn in another shape (a tab, a bullet for `- `).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from deeptide.tui.scrollback.cells import TAB, chop, graphemes, width_of, wrap

Run = tuple[str, Style]


class Kind(IntEnum):
    TEXT = 0
    """One character of the logical text for each character shown."""
    WIDE = 1
    """All its cells stand for what begins at `offset`: a tab, a bullet."""
    SIGN = 2
    """Decoration: no character at all; `offset` is the nearest one."""


class Piece(NamedTuple):
    text: str
    style: Style
    offset: int
    kind: Kind = Kind.TEXT


class Span(NamedTuple):
    """A range of the logical text to be drawn in another ink."""

    start: int
    end: int
    style: Style


class Line:
    """One line of cells. `start` is the offset of its first character, `end` the one after its last."""

    __slots__ = ("_strip", "_width", "end", "fill", "pieces", "start")

    def __init__(self, pieces: list[Piece], start: int, end: int, fill: Style | None) -> None:
        self.pieces = pieces
        self.start = start
        self.end = end
        self.fill = fill
        self._strip: Strip | None = None
        self._width = -1

    @property
    def plain(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    def strip(self, width: int, page: Style, spans: Sequence[Span] = ()) -> Strip:
        """The line as cells, `width` wide."""
        if not spans and self._width == width and self._strip is not None:
            return self._strip
        base = page + self.fill if self.fill else page
        pieces = _marked(self.pieces, spans) if spans else self.pieces
        segments = [Segment(piece.text, base + piece.style) for piece in pieces if piece.text]
        strip = Strip(segments)
        if strip.cell_length != width:
            strip = strip.crop_extend(0, width, base)
        if not spans:
            self._strip, self._width = strip, width
        return strip

    def addressed(self, width: int, key: int) -> Strip:
        """A strip with a segment for each cell that says which character of which section (`key`) is there, in
        the form that Textual's selection reads: `offset` meta of (character, line). Its text is not to be
        seen; both cells of a wide character point to that character."""
        cells: list[Segment] = []
        for text, _, offset, kind in self.pieces:
            if kind is Kind.TEXT:
                for start, _, size in graphemes(text):
                    cells.extend([_address(offset + start, key)] * size)
            else:
                cells.extend([_address(offset, key)] * width_of(text))
        cells.extend([_address(self.end, key)] * (width - len(cells)))
        return Strip(cells[:width], width)


def unaddressed(width: int, offset: int, key: int) -> Strip:
    """The same for an empty line: all of it stands for one place."""
    return Strip([_address(offset, key)] * width, width)


@lru_cache(4096)
def _address(offset: int, key: int) -> Segment:
    return Segment(" ", Style.from_meta({"offset": (offset, key)}))


def _marked(pieces: Sequence[Piece], spans: Sequence[Span]) -> list[Piece]:
    """The pieces cut at the edges of the spans, those inside drawn in the ink of the (last such) span."""
    out: list[Piece] = []
    for piece in pieces:
        if piece.kind is Kind.SIGN or not piece.text:
            out.append(piece)
            continue
        length = 1 if piece.kind is Kind.WIDE else len(piece.text)
        first, last = piece.offset, piece.offset + length
        edges = {first, last}
        for span in spans:
            edges.update(edge for edge in (span.start, span.end) if first < edge < last)
        cuts = sorted(edges)
        for start, end in pairwise(cuts):
            style = piece.style
            for span in spans:
                if span.start <= start and end <= span.end:
                    style = piece.style + span.style
            text = piece.text if piece.kind is Kind.WIDE else piece.text[start - first : end - first]
            out.append(Piece(text, style, start, piece.kind))
    return out


class Sheet(NamedTuple):
    """`links` are (start, end, address) in the logical text."""

    text: str
    lines: list[Line]
    links: list[tuple[int, int, str]]


class Pen:
    """Lays logical lines out on a sheet `width` cells wide."""

    def __init__(self, width: int) -> None:
        self.width = max(4, width)
        self.links: list[tuple[int, int, str]] = []
        self.lines: list[Line] = []
        self._texts: list[str] = []
        self._length = 0

    def sheet(self) -> Sheet:
        return Sheet("\n".join(self._texts), self.lines, self.links)

    @property
    def offset(self) -> int:
        """Where the next logical line will begin."""
        return self._length

    def _say(self, text: str) -> int:
        start = self._length
        self._texts.append(text)
        self._length += len(text) + 1
        return start

    def write(
        self,
        runs: Sequence[Run],
        *,
        first: Sequence[Run] = (),
        rest: Sequence[Run] | None = None,
        lead: tuple[str, str, Style] | None = None,
        fill: Style | None = None,
        code: bool = False,
        margin: int = 0,
    ) -> None:
        """One logical line. `first` and `rest` are the gutters of its first and its other lines; `lead` is
        (shown, meant, style) for a sign of the text itself, such as a bullet. `margin` cells stay free on the
        right. With `code`, spaces are kept and lines break only where they are full."""
        rest = first if rest is None else rest
        text = "".join([run[0] for run in runs])
        meant = lead[1] if lead else ""
        start = self._say(meant + text)
        room = self.width - sum(width_of(run[0]) for run in rest) - margin
        head = start
        spans = (chop if code else wrap)(text, max(1, room))
        cursor = _Cursor(runs, start + len(meant))
        for number, (begin, end) in enumerate(spans):
            gutter = rest if number else first
            pieces = [
                Piece(sign, style, head if not number else start + len(meant) + begin, Kind.SIGN)
                for sign, style in gutter
            ]
            if lead and not number:
                pieces.append(Piece(lead[0], lead[2], start, Kind.WIDE))
            pieces.extend(cursor.take(begin, end))
            first_offset = start if not number else start + len(meant) + begin
            self.lines.append(Line(pieces, first_offset, start + len(meant) + end, fill))

    def verse(self, pieces: Sequence[Piece], text: str, fill: Style | None = None) -> None:
        """One line drawn by hand that stands for the logical line `text`; the offsets of the pieces are
        relative to it."""
        start = self._say(text)
        placed = [Piece(piece.text, piece.style, piece.offset + start, piece.kind) for piece in pieces]
        self.lines.append(Line(placed, start, start + len(text), fill))

    def more(self, pieces: Sequence[Piece], fill: Style | None = None) -> None:
        """A further line of the logical line that `verse` began; its pieces are relative to it too."""
        start = self._length - len(self._texts[-1]) - 1
        placed = [Piece(piece.text, piece.style, piece.offset + start, piece.kind) for piece in pieces]
        self.lines.append(Line(placed, start, start + len(self._texts[-1]), fill))

    def sign(self, runs: Sequence[Run], fill: Style | None = None) -> None:
        """A line of decoration: it stands for no text and is not copied."""
        at = max(0, self._length - 1)
        self.lines.append(Line([Piece(text, style, at, Kind.SIGN) for text, style in runs], at, at, fill))

    def blank(self, gutter: Sequence[Run] = (), fill: Style | None = None) -> None:
        """An empty logical line."""
        at = self._say("")
        self.lines.append(Line([Piece(text, style, at, Kind.SIGN) for text, style in gutter], at, at, fill))


def pieces_of(runs: Sequence[Run], begin: int, end: int, base: int) -> list[Piece]:
    """The characters `begin` to `end` of the joined runs, their offsets counted from `base`."""
    return _Cursor(runs, base).take(begin, end)


class _Cursor:
    """Walks over runs once, handing out the pieces of ever later spans."""

    def __init__(self, runs: Sequence[Run], base: int) -> None:
        self._runs = runs
        self._base = base
        self._run = 0
        self._run_start = 0

    def take(self, begin: int, end: int) -> list[Piece]:
        pieces: list[Piece] = []
        while self._run < len(self._runs):
            text, style = self._runs[self._run]
            run_end = self._run_start + len(text)
            if run_end > begin:
                start, stop = max(begin, self._run_start), min(end, run_end)
                if start < stop:
                    part = text[start - self._run_start : stop - self._run_start]
                    pieces.extend(_untabbed(part, style, self._base + start))
                if run_end > end:
                    break
            self._run += 1
            self._run_start = run_end
        return pieces


def _untabbed(text: str, style: Style, offset: int) -> list[Piece]:
    if "\t" not in text:
        return [Piece(text, style, offset)]
    pieces: list[Piece] = []
    for index, part in enumerate(text.split("\t")):
        if index:
            pieces.append(Piece(" " * TAB, style, offset, Kind.WIDE))
            offset += 1
        if part:
            pieces.append(Piece(part, style, offset))
            offset += len(part)
    return pieces
