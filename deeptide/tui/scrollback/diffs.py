"""A unified diff as numbered, coloured lines.

Invariant: a line's number is the one it has in the file it is in: the old file for what was removed, the new
one for the rest; the sign (`+`, `-`) is always shown, so that nothing is told by colour alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from deeptide.tui.scrollback.inks import Inks
from deeptide.tui.scrollback.parts import write_cut
from deeptide.tui.scrollback.sheet import Pen, Run, Sheet

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")


@dataclass(frozen=True, slots=True)
class DiffRow:
    """`sign` is `+`, `-`, a space, `@` between hunks or `f` for a file name."""

    sign: str
    number: int
    text: str


def diff_rows(diff: str) -> list[DiffRow]:
    """The rows of a unified diff; file names are given only when there are several files."""
    rows: list[DiffRow] = []
    old = new = 0
    left_old = left_new = 0
    several = sum(1 for line in diff.split("\n") if line.startswith("+++ ")) > 1
    for line in diff.rstrip("\n").split("\n"):
        hunk = _HUNK.match(line)
        if hunk:
            old, new = int(hunk[1]), int(hunk[3])
            left_old, left_new = int(hunk[2] or 1), int(hunk[4] or 1)
            if rows and rows[-1].sign != "f":
                rows.append(DiffRow("@", new, hunk[5]))
        elif left_old > 0 or left_new > 0:
            sign = line[:1] or " "
            if sign == "\\":
                continue
            rows.append(DiffRow(sign if sign in "+-" else " ", old if sign == "-" else new, line[1:]))
            old += sign != "+"
            new += sign != "-"
            left_old -= sign != "+"
            left_new -= sign != "-"
        elif line.startswith("+++ ") and several:
            rows.append(DiffRow("f", 0, line[4:].removeprefix("b/")))
    return rows


def diff_counts(diff: str) -> tuple[int, int]:
    """(lines added, lines removed)."""
    rows = diff_rows(diff)
    return sum(row.sign == "+" for row in rows), sum(row.sign == "-" for row in rows)


@dataclass(frozen=True, slots=True)
class DiffPart:
    """Some rows of a diff, drawn one line each (`cut`) or wrapped."""

    rows: tuple[DiffRow, ...]
    digits: int
    cut: bool = True
    indent: int = 4
    gap: int = 0
    toggles: bool = False

    def estimate(self, width: int) -> int:
        return len(self.rows)

    def draw(self, width: int, inks: Inks) -> Sheet:
        pen = Pen(width)
        for row in self.rows:
            self._row(pen, row, inks)
        return pen.sheet()

    def _row(self, pen: Pen, row: DiffRow, inks: Inks) -> None:
        margin: Run = (" " * self.indent, inks.page)
        if row.sign == "f":
            pen.write([(row.text, inks.strong)], first=[margin])
            return
        if row.sign == "@":
            pen.sign([margin, (" " * self.digits + f" {inks.glyphs.more} {row.text}".rstrip(), inks.faint)])
            return
        fill = {"+": inks.add_fill, "-": inks.remove_fill}.get(row.sign)
        ink = {"+": inks.add, "-": inks.remove}.get(row.sign, inks.muted)
        gutter: list[Run] = [margin, (f"{row.number:>{self.digits}} ", inks.faint), (f"{row.sign} ", ink)]
        rest: list[Run] = [margin, (" " * (self.digits + 3), inks.faint)]
        if self.cut:
            room = pen.width - self.indent - self.digits - 3
            write_cut(pen, [(row.text, ink)], room, gutter, inks, fill)
        else:
            pen.write([(row.text, ink)], first=gutter, rest=rest, fill=fill, code=True)


def diff_parts(diff: str, limit: int, *, indent: int = 4) -> tuple[list[DiffPart], int]:
    """The first `limit` rows as parts (all, wrapped, if 0), and how many were left out: never one or two."""
    rows = diff_rows(diff)
    shown = rows[:limit] if limit and len(rows) > limit + 2 else rows
    digits = len(str(max((row.number for row in rows), default=1)))
    step = limit or 60
    parts = [
        DiffPart(tuple(shown[start : start + step]), digits, cut=bool(limit), indent=indent)
        for start in range(0, len(shown), step)
    ]
    return parts, len(rows) - len(shown)
