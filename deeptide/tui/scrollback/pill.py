"""The pill at the lower right that says how much is new below, drawn over the last line of the window.

Invariant: it takes no line of its own, so nothing moves when it comes or goes.
"""

from __future__ import annotations

from rich.segment import Segment
from textual.strip import Strip

from deeptide.tui.scrollback.inks import Inks

RIGHT = 2
"""Cells between the pill and the right edge."""


def pill_span(pill: str, width: int) -> tuple[int, int]:
    """The first cell of the pill and the one after its last."""
    return width - RIGHT - len(pill), width - RIGHT


def with_pill(strip: Strip, pill: str, inks: Inks) -> Strip:
    """The line with the pill over it; the line itself if it is too narrow."""
    width = strip.cell_length
    start, end = pill_span(pill, width)
    if start < 0:
        return strip
    left, _, right = strip.divide([start, end, width])
    return Strip.join([left, Strip([Segment(pill, inks.pill)]), right])
