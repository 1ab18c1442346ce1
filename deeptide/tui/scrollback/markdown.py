"""One section of Markdown laid out as lines, without a widget for any of it.

Invariant: a section is parsed by itself, so its lines depend on its source, the width and the inks only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

from rich.style import Style

from deeptide.tui.scrollback.code import ROOT, lex_line, lexer_for
from deeptide.tui.scrollback.inks import Inks
from deeptide.tui.scrollback.inline import Words, lines_of
from deeptide.tui.scrollback.sheet import Pen, Run
from deeptide.tui.scrollback.split import Source
from deeptide.tui.scrollback.table import Align, Table, draw_table

MEASURE = 100
"""Prose is never wider than this many cells, however wide the terminal."""

MARGIN = "  "


@lru_cache(1)
def parser() -> Any:
    """Imported on first use: markdown-it costs 30 ms that the first paint must not wait for."""
    found = import_module("markdown_it").MarkdownIt("commonmark", {"html": False})
    return found.enable(["table", "strikethrough"]).disable("reference")


def load_markdown() -> None:
    """Loads what Markdown and code need; to be called off the drawing thread."""
    lexer_for("python")
    parser()


def draw_source(source: Source, width: int, inks: Inks) -> Pen:
    """The lines of one section that is not a top-level fence."""
    pen = Pen(width)
    margin: list[Run] = [(MARGIN, inks.text)]
    if source.kind == "plain":
        measure = max(0, width - MEASURE)
        pen.write([(source.text, inks.text)], first=margin, margin=measure)
        return pen
    text = source.text
    if source.kind == "more":
        text = "\n".join(_dedent(line, source.indent) for line in text.split("\n"))
        margin = [(MARGIN + " " * source.indent, inks.text)]
    tokens = parser().parse(source.header + text)
    headless = bool(source.header) and not source.header.lstrip().startswith(("`", "~"))
    _Scribe(pen, inks, margin, source.number, headless).draw(tokens)
    return pen


def _dedent(line: str, indent: int) -> str:
    return line[min(indent, len(line) - len(line.lstrip(" "))) :]


class _Scribe:
    """Walks the tokens of one section. `gutter` is what stands before each line at this depth."""

    def __init__(self, pen: Pen, inks: Inks, gutter: list[Run], number: int, headless: bool) -> None:
        self._pen = pen
        self._inks = inks
        self._gutter = gutter
        self._number = number
        self._headless = headless
        self._lists: list[int] = []
        self._lead: tuple[str, str, Style] | None = None
        self._hang: list[int] = []
        self._due = False
        self._quoted = 0

    def draw(self, tokens: Sequence[Any]) -> None:
        walk = iter(tokens)
        for token in walk:
            kind = token.type
            if kind in ("paragraph_open", "heading_open"):
                self._words(token, next(walk))
            elif kind in ("paragraph_close", "heading_close"):
                self._due = not token.hidden and kind == "paragraph_close"
            elif kind in ("bullet_list_open", "ordered_list_open"):
                self._open_list(token)
            elif kind in ("bullet_list_close", "ordered_list_close"):
                self._lists.pop()
                self._due = not self._lists or self._due
            elif kind == "list_item_open":
                self._open_item(token)
            elif kind == "list_item_close":
                self._close_item()
            elif kind in ("blockquote_open", "blockquote_close"):
                self._quote(kind == "blockquote_open")
            elif kind in ("fence", "code_block"):
                self._code(token)
            elif kind == "hr":
                self._gap()
                wide = min(self._room(), MEASURE)
                self._pen.sign([*self._gutter, (self._inks.glyphs.rule * wide, self._inks.line)])
                self._due = True
            elif kind == "table_open":
                self._table(walk)

    def _room(self) -> int:
        return max(1, self._pen.width - sum(len(run[0]) for run in self._gutter))

    def _gap(self) -> None:
        if self._due:
            self._pen.blank(self._gutter)
        self._due = False

    # ---- words -------------------------------------------------------------------------------------------

    def _words(self, token: Any, inline: Any) -> None:
        self._gap()
        children = list(inline.children or ())
        base = self._inks.text
        first: list[Run] = []
        if token.type == "heading_open":
            base = self._inks.heading
        elif self._quoted:
            base = self._inks.muted
        lead = self._take_lead(children)
        words = Words(self._inks).read(children, base)
        margin = max(0, self._pen.width - MEASURE)
        at = self._pen.offset + (len(lead[1]) if lead else 0)
        self._pen.links.extend((at + start, at + end, address) for start, end, address in words.links)
        hung = self._gutter
        if lead:
            first = self._gutter[:-1]
        for number, runs in enumerate(lines_of(words.runs)):
            if lead and number == 0:
                self._pen.write(runs, first=first, rest=hung, lead=lead, margin=margin)
            else:
                self._pen.write(runs, first=hung, rest=hung, margin=margin)

    def _take_lead(self, children: list[Any]) -> tuple[str, str, Style] | None:
        """The bullet or number that is still to be drawn; a task box takes its place."""
        lead, self._lead = self._lead, None
        if lead is None:
            return None
        text = children[0].content if children and children[0].type == "text" else ""
        if lead[1] == "- " and text[:4] in ("[ ] ", "[x] ", "[X] "):
            children[0] = children[0].copy()
            children[0].content = text[4:]
            done = text[1] != " "
            sign = self._inks.glyphs.box_done if done else self._inks.glyphs.box_open
            return f"{sign} ", f"- {text[:4]}", self._inks.good if done else self._inks.muted
        return lead

    # ---- lists and quotes --------------------------------------------------------------------------------

    def _open_list(self, token: Any) -> None:
        self._gap()
        start = -1
        if token.type == "ordered_list_open":
            start = int(token.attrs.get("start", 1))
            if not self._lists and self._number >= 0:
                start = self._number
        self._lists.append(start)

    def _open_item(self, token: Any) -> None:
        self._flush_lead()
        self._gap()
        number = self._lists[-1]
        if number < 0:
            signs = self._inks.glyphs.bullets
            sign = signs[(len(self._lists) - 1) % len(signs)]
            self._lead = (f"{sign} ", "- ", self._inks.accent)
        else:
            self._lists[-1] += 1
            self._lead = (f"{number}. ", f"{number}. ", self._inks.accent)
        self._gutter = [*self._gutter, (" " * len(self._lead[0]), self._inks.text)]

    def _flush_lead(self) -> None:
        """Draws a bullet that no words followed."""
        if self._lead is not None:
            lead, self._lead = self._lead, None
            self._pen.write([], first=self._gutter[:-1], lead=lead)

    def _close_item(self) -> None:
        self._flush_lead()
        self._gutter = self._gutter[:-1]

    def _quote(self, opening: bool) -> None:
        self._flush_lead()
        if opening:
            self._gap()
            self._gutter = [*self._gutter, (f"{self._inks.glyphs.bar} ", self._inks.line)]
            self._quoted += 1
        else:
            self._gutter = self._gutter[:-1]
            self._quoted -= 1
            self._due = True

    # ---- code and tables ---------------------------------------------------------------------------------

    def _code(self, token: Any) -> None:
        self._flush_lead()
        self._gap()
        language = token.info.strip() or "text"
        stack = ROOT
        for line in token.content.rstrip("\n").split("\n"):
            tokens, stack = lex_line(language, line, stack)
            code_line(self._pen, line, tokens, self._inks, self._gutter)
        self._due = True

    def _table(self, walk: Iterator[Any]) -> None:
        self._flush_lead()
        self._gap()
        aligns: list[Align] = []
        rows: list[list[Words]] = []
        head = False
        for token in walk:
            if token.type == "table_close":
                break
            if token.type == "tr_open":
                rows.append([])
                head = len(rows) == 1
            elif token.type in ("th_open", "td_open"):
                if head:
                    style = str(token.attrs.get("style", ""))
                    aligns.append("right" if "right" in style else "center" if "center" in style else "left")
            elif token.type == "inline":
                base = self._inks.strong if head else self._inks.text
                rows[-1].append(Words(self._inks).read(token.children or (), base))
        for row in rows:
            row.extend(Words(self._inks) for _ in range(len(aligns) - len(row)))
        draw_table(self._pen, Table(aligns, rows, self._headless), self._inks, self._gutter)
        self._due = True


def code_line(
    pen: Pen, line: str, tokens: Sequence[tuple[int, int, str]], inks: Inks, gutter: Sequence[Run]
) -> None:
    """One line of code on its ground, after a thin bar."""
    runs: list[Run] = []
    at = 0
    for start, end, kind in tokens:
        if start > at:
            runs.append((line[at:start], inks.text))
        runs.append((line[start:end], inks.syntax[kind]))
        at = end
    if at < len(line):
        runs.append((line[at:], inks.text))
    outer = [(text, inks.page + style) for text, style in gutter]
    first = [*outer, (f"{inks.glyphs.thin} ", inks.line)]
    pen.write(runs, first=first, fill=inks.code_fill, code=True, margin=1)
