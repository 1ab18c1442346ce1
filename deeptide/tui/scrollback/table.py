"""Tables: columns as wide as their words if they fit, wrapped cells if not, one record a row if too narrow.

Invariant: every column begins at the same cell in every line, whatever characters it holds; copied text is
`a | b | c`, never the padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from rich.style import Style

from deeptide.tui.scrollback.cells import width_of, wrap
from deeptide.tui.scrollback.inks import Inks
from deeptide.tui.scrollback.inline import Words
from deeptide.tui.scrollback.sheet import Kind, Pen, Piece, Run, pieces_of

Align = Literal["left", "center", "right"]
NARROWEST = 6


class Table(NamedTuple):
    """`rows[0]` is the head. Every row has as many cells as `aligns`."""

    aligns: list[Align]
    rows: list[list[Words]]
    headless: bool = False


def draw_table(pen: Pen, table: Table, inks: Inks, gutter: Sequence[Run]) -> None:
    room = pen.width - sum(width_of(run[0]) for run in gutter)
    widths = _widths(table, room)
    if widths is None:
        _records(pen, table, inks, gutter)
        return
    rows = table.rows[1:] if table.headless else table.rows
    for number, row in enumerate(rows):
        _row(pen, row, widths, table.aligns, inks, gutter)
        if number == 0 and not table.headless:
            joint = f"{inks.glyphs.rule}{inks.glyphs.cross}{inks.glyphs.rule}"
            pen.sign([*gutter, (joint.join(inks.glyphs.rule * width for width in widths), inks.line)])


def _widths(table: Table, room: int) -> list[int] | None:
    """Cells for each column, or None if they cannot be shown side by side."""
    natural = [
        max(1, *(width_of("".join(run[0] for run in row[column].runs)) for row in table.rows))
        for column in range(len(table.aligns))
    ]
    free = room - 3 * (len(natural) - 1)
    if sum(natural) <= free:
        return natural
    if free < NARROWEST * len(natural):
        return None
    widths = [min(width, NARROWEST) for width in natural]
    left = free - sum(widths)
    wanting = [index for index, width in enumerate(natural) if width > widths[index]]
    while left > 0 and wanting:
        share = max(1, left // len(wanting))
        for index in list(wanting):
            given = min(share, natural[index] - widths[index], left)
            widths[index] += given
            left -= given
            if widths[index] >= natural[index]:
                wanting.remove(index)
    return widths


def _row(
    pen: Pen, row: list[Words], widths: list[int], aligns: list[Align], inks: Inks, gutter: Sequence[Run]
) -> None:
    texts = ["".join(run[0] for run in cell.runs).replace("\n", " ") for cell in row]
    text = " | ".join(texts)
    starts: list[int] = []
    at = 0
    for said in texts:
        starts.append(at)
        at += len(said) + 3
    base = pen.offset
    for start, cell in zip(starts, row, strict=True):
        pen.links.extend(
            (base + start + first, base + start + last, link) for first, last, link in cell.links
        )
    spans = [wrap(cell, width) for cell, width in zip(texts, widths, strict=True)]
    for number in range(max(len(found) for found in spans)):
        pieces = [Piece(sign, style, 0, Kind.SIGN) for sign, style in gutter]
        for column, width in enumerate(widths):
            here = spans[column][number] if number < len(spans[column]) else (len(texts[column]),) * 2
            last = column == len(widths) - 1
            pieces.extend(
                _cell(row[column].runs, texts[column], here, starts[column], width, aligns[column], last)
            )
            if not last:
                edge = starts[column] + len(texts[column])
                pieces.append(Piece(f" {inks.glyphs.column} ", inks.line, edge, Kind.SIGN))
        if number:
            pen.more(pieces)
        else:
            pen.verse(pieces, text)


def _cell(
    runs: list[Run], text: str, span: tuple[int, int], start: int, width: int, align: Align, last: bool
) -> list[Piece]:
    free = max(0, width - width_of(text[span[0] : span[1]]))
    before = {"left": 0, "right": free, "center": free // 2}[align]
    after = 0 if last else free - before
    blank = Style()
    pieces: list[Piece] = []
    if before:
        pieces.append(Piece(" " * before, blank, start + span[0], Kind.SIGN))
    pieces.extend(pieces_of(runs, span[0], span[1], start))
    if after:
        pieces.append(Piece(" " * after, blank, start + span[1], Kind.SIGN))
    return pieces


def _records(pen: Pen, table: Table, inks: Inks, gutter: Sequence[Run]) -> None:
    """A row as lines of `head: cell`, rows apart."""
    head, *rows = table.rows
    for number, row in enumerate(rows):
        if number:
            pen.sign([*gutter, (inks.glyphs.rule * 3, inks.line)])
        for name, cell in zip(head, row, strict=True):
            label = "".join(run[0] for run in name.runs)
            runs = [
                (f"{label}: ", inks.muted),
                *((text.replace("\n", " "), style) for text, style in cell.runs),
            ]
            base = pen.offset + len(label) + 2
            pen.links.extend((base + first, base + last, link) for first, last, link in cell.links)
            pen.write(runs, first=gutter, rest=[*gutter, ("  ", inks.text)])
