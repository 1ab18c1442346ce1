"""The parts a block is made of: what can be laid out, and thrown away, on its own.

Invariant: parts are values. Two equal parts have equal lines at the same width and inks, so a laid-out part
is reused for as long as its block says the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, Protocol

import msgspec
from rich.style import Style

from deeptide.tui.scrollback.cells import chop, width_of
from deeptide.tui.scrollback.code import ROOT, Stack, Token, lex_line
from deeptide.tui.scrollback.inks import Inks
from deeptide.tui.scrollback.markdown import MARGIN, code_line, draw_source, parser
from deeptide.tui.scrollback.sheet import Kind, Pen, Piece, Run, Sheet, pieces_of
from deeptide.tui.scrollback.split import FENCE_LINES, LONG, Source


class Part(Protocol):
    """`gap`: empty lines before it. `toggles`: a click on it folds or unfolds the block."""

    @property
    def gap(self) -> int: ...
    @property
    def toggles(self) -> bool: ...

    def estimate(self, width: int) -> int:
        """How many lines it will probably take; cheap."""
        ...

    def draw(self, width: int, inks: Inks) -> Sheet: ...


def guess(text: str, width: int) -> int:
    """Lines that `text` will probably take when `width` cells are free for it."""
    if not text:
        return 1
    cells = len(text) if text.isascii() else len(text.encode("utf-16-le")) * 3 // 4
    return text.count("\n") + 1 + cells // max(8, width * 2)


def markdown_ready() -> bool:
    """Whether the parser has been loaded; until then Markdown is drawn as it is written."""
    return parser.cache_info().currsize > 0


class SourcePart(msgspec.Struct, frozen=True, gc=False):
    """A section of Markdown other than a top-level fence."""

    source: Source
    toggles: Literal[False] = False

    @property
    def gap(self) -> int:
        return self.source.gap

    def estimate(self, width: int) -> int:
        return guess(self.source.text, width)

    def draw(self, width: int, inks: Inks) -> Sheet:
        if markdown_ready():
            return draw_source(self.source, width, inks).sheet()
        pen = Pen(width)
        for line in self.source.text.split("\n"):
            pen.write([(line, inks.text)], first=[(MARGIN, inks.text)])
        return pen.sheet()


CARRIED_LINES = 10 * FENCE_LINES
"""The state of a lexer starts afresh after so many lines of a fence, so that looking into the middle of a very
long one costs no more than these."""


class Lexed:
    """The colours of the lines of a fence section. `before` is the section it continues.

    While the section is open its tokens are kept, so that only new lines are lexed; of a section that is full
    only the state at its end is kept.
    """

    __slots__ = ("_before", "_end", "_language", "_lines", "_row", "_tokens")

    def __init__(self, source: Source, before: Lexed | None, like: Lexed | None) -> None:
        self._before = before
        self._language = source.info
        self._row = source.row
        self._lines = source.text.split("\n")[:-1]
        self._end: Stack | None = None
        self._tokens: list[tuple[list[Token], Stack]] = []
        if like is not None and like._before is before and like._language == self._language:
            for mine, theirs, tokens in zip(self._lines, like._lines, like._tokens, strict=False):
                if mine != theirs:
                    break
                self._tokens.append(tokens)

    def lines(self) -> list[tuple[str, list[Token]]]:
        return [(line, tokens) for line, (tokens, _) in zip(self._lines, self._lexed(), strict=True)]

    def end(self) -> Stack:
        if self._end is None:
            self._lexed()
        return self._end or ROOT

    def _begin(self) -> Stack:
        """The state at the first line."""
        if self._before is None or self._row % CARRIED_LINES == 0:
            return ROOT
        return self._before.end()

    def _lexed(self) -> list[tuple[list[Token], Stack]]:
        tokens = self._tokens
        if len(tokens) < len(self._lines):
            stack = tokens[-1][1] if tokens else self._begin()
            for line in self._lines[len(tokens) :]:
                found, stack = lex_line(self._language, line, stack)
                tokens.append((found, stack))
        self._end = tokens[-1][1] if tokens else self._begin()
        if len(self._lines) >= FENCE_LINES:
            self._tokens = []
        return tokens


@dataclass(frozen=True, slots=True)
class FencePart:
    """A section of a top-level fence; the first one carries the name of its language."""

    source: Source
    lexed: Lexed = field(compare=False)
    toggles: Literal[False] = False

    @property
    def gap(self) -> int:
        return self.source.gap

    def estimate(self, width: int) -> int:
        return self.source.text.count("\n") + (self.source.row == 0 and self.source.info != "text")

    def draw(self, width: int, inks: Inks) -> Sheet:
        pen = Pen(width)
        gutter: list[Run] = [(MARGIN, inks.text)]
        if self.source.row == 0 and self.source.info != "text":
            label = self.source.info
            fill = inks.code_fill
            outer = (MARGIN, inks.page)
            pen.sign([outer, (f"{inks.glyphs.thin} ", inks.line), (label, inks.faint)], fill=fill)
        for line, tokens in self.lexed.lines() if markdown_ready() else _uncoloured(self.source):
            code_line(pen, line, tokens, inks, gutter)
        return pen.sheet()


def source_parts(
    sources: Iterable[Source], before: Lexed | None = None, like: Lexed | None = None
) -> list[Part]:
    """The parts of some sections. `before` is the fence section that a leading fence section may continue,
    `like` an earlier state of the first fence, whose colours are taken over line by line."""
    parts: list[Part] = []
    for source in sources:
        if source.kind != "fence":
            parts.append(SourcePart(source))
            continue
        before = Lexed(source, before if source.row else None, like)
        like = None
        parts.append(FencePart(source, before))
    return parts


def _uncoloured(source: Source) -> list[tuple[str, list[Token]]]:
    return [(line, []) for line in source.text.split("\n")[:-1]]


Ink = Literal["text", "muted", "faint", "thinking", "user", "bad", "warning"]


@dataclass(frozen=True, slots=True)
class PlainPart:
    """Text as it is, behind a gutter. `cut`: each line is cut at the edge instead of being wrapped."""

    text: str
    ink: Ink = "text"
    bar: Literal["", "thin", "thick", "user"] = ""
    indent: int = 2
    gap: int = 0
    cut: bool = False
    toggles: bool = False

    def estimate(self, width: int) -> int:
        return self.text.count("\n") + 1 if self.cut else guess(self.text, width - self.indent - 2)

    def draw(self, width: int, inks: Inks) -> Sheet:
        pen = Pen(width)
        style = inks.text if self.ink == "user" else getattr(inks, self.ink)
        fill = inks.user_fill if self.bar == "user" else None
        gutter: list[Run] = [(" " * self.indent, inks.page)] if self.indent else []
        if self.bar == "user":
            gutter.append((f"{inks.glyphs.bar} ", inks.user))
        elif self.bar:
            sign = inks.glyphs.thin if self.bar == "thin" else inks.glyphs.bar
            gutter.append((f"{sign} ", inks.line if self.bar == "thin" else style))
        room = width - sum(width_of(run[0]) for run in gutter)
        for line in self.text.split("\n"):
            if self.cut:
                write_cut(pen, [(line, style)], room, gutter, inks)
            else:
                pen.write([(line, style)], first=gutter, fill=fill, margin=1 if fill else 0)
        return pen.sheet()


def write_cut(
    pen: Pen, runs: list[Run], room: int, gutter: list[Run], inks: Inks, fill: Style | None = None
) -> None:
    """One logical line on one line of cells: what does not fit is left out, but is still copied."""
    text = "".join(run[0] for run in runs)
    pieces = [Piece(sign, style, 0, Kind.SIGN) for sign, style in gutter]
    more = inks.glyphs.more
    head = text[: 4 * room]
    if len(text) > 4 * room or width_of(head) > room:
        end = chop(head, max(1, room - len(more)))[0][1]
        pieces.extend(pieces_of(runs, 0, end, 0))
        pieces.append(Piece(more, inks.faint, end, Kind.SIGN))
    else:
        pieces.extend(pieces_of(runs, 0, len(text), 0))
    pen.verse(pieces, text, fill)


def chunked(text: str, limit: int = LONG, lines: int = 80) -> list[str]:
    """The text cut at line breaks into pieces of at most `limit` characters and `lines` lines; a longer line
    is cut inside."""
    chunks: list[str] = []
    held: list[str] = []
    size = 0
    for line in text.split("\n"):
        while len(line) > limit:
            if held:
                chunks.append("\n".join(held))
                held, size = [], 0
            chunks.append(line[:limit])
            line = line[limit:]
        if held and (size + len(line) > limit or len(held) >= lines):
            chunks.append("\n".join(held))
            held, size = [], 0
        held.append(line)
        size += len(line) + 1
    if held:
        chunks.append("\n".join(held))
    return chunks
