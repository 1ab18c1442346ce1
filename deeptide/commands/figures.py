"""Numbers, tables and bars as Markdown text.

Invariant: pure; a cell can never break its table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import pairwise

from deeptide.protocol.usage import Money

BAR = 40


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """A Markdown table; the first `left` columns are flush left, the others right."""
    rules = ["---" if place < left else "--:" for place in range(len(head))]
    lines = [head, rules, *rows]
    return "\n".join("| " + " | ".join(cell(one) for one in line) + " |" for line in lines)


def cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def money(amount: Money | None) -> str:
    return "unknown" if amount is None else str(amount)


def many(number: int, one: str, more: str = "") -> str:
    """`1 message`, `3 messages`."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def clock(at: float) -> str:
    """Local time of a Unix time: the hour today is not told apart, so the date stands with it."""
    return datetime.fromtimestamp(at).strftime("%m-%d %H:%M")


def length(seconds: float) -> str:
    """`40 s`, `12 min`, `3 h`, `2 d`."""
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"


def short(text: str, width: int = 60) -> str:
    """The text as one line of at most `width` characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"


def shares(sizes: Sequence[int], whole: int, width: int = BAR) -> list[int]:
    """Cells of a bar of `width` for each size out of `whole`; everything that is not nothing gets one, and
    their sum is at most `width`."""
    if whole <= 0:
        return [0 for _ in sizes]
    ends, total = [0], 0
    for size in sizes:
        total += size
        ends.append(min(width, round(width * total / whole)))
    cells = [after - before for before, after in pairwise(ends)]
    for place, size in enumerate(sizes):
        if size > 0 and not cells[place] and (largest := max(cells, default=0)) > 1:
            cells[cells.index(largest)] -= 1
            cells[place] = 1
    return cells
