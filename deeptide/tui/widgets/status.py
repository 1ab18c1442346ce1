"""The last line of the screen: mode, model, how full the context is, what it costs, what waits.

Invariant: it is exactly one row of exactly the width it is given, at any width; what matters least goes first.
"""

from __future__ import annotations

import msgspec
from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual.widget import Widget

from deeptide.protocol.approvals import Mode
from deeptide.tui import terminal
from deeptide.tui.palette import DARK, Palette
from deeptide.tui.styles import inks

GAUGE = 10
TIERS = {0: "calm", 80: "near", 90: "high", 95: "full"}


class Facts(msgspec.Struct, frozen=True):
    """What the line shows. `percent` is of the usable window; `hit` the cached share of prompt tokens in
    percent, None before the first response; `cost` is ready to print, empty if nothing was priced."""

    mode: Mode = "ask"
    model: str = ""
    effort: str = ""
    percent: float | None = None
    tier: int = 0
    hit: float | None = None
    cost: str = ""
    queued: int = 0
    title: str = ""


Piece = tuple[str, str]
"""A text and the role that colours it."""


def gauge(percent: float, cells: int = GAUGE) -> tuple[str, str]:
    """The full and the empty part of the bar; anything above nothing shows, only full is all full."""
    full = min(cells - 1, max(1, round(percent / 100 * cells))) if 0 < percent < 100 else 0
    full = cells if percent >= 100 else full
    return "━" * full, "─" * (cells - full)


def compose_line(facts: Facts, width: int) -> tuple[list[list[Piece]], str]:
    """The groups that fit `width` in their order, and the title cut to what is left (may be empty)."""
    level = TIERS.get(facts.tier, "calm")
    mode = [(f" {facts.mode} ", f"mode-{facts.mode}")]
    model = [(facts.model, "model")] + ([(f" {facts.effort}", "dim")] if facts.effort else [])
    groups: list[tuple[int, list[Piece]]] = [(9, mode), (5, model)]
    if facts.percent is not None:
        bar, rest = gauge(facts.percent)
        number = [("ctx ", "dim"), (f"{facts.percent:.0f}%", level)]
        groups.append((8, number))
        groups.append((2, [(bar, level), (rest, "line")]))
    if facts.hit is not None:
        groups.append((3, [("cache ", "dim"), (f"{facts.hit:.0f}%", "plain")]))
    if facts.cost:
        groups.append((6, [(facts.cost, "plain")]))
    if facts.queued:
        groups.append((7, [(f"{facts.queued} queued", "mark")]))
    return _fit(groups, facts, width)


def _size(groups: list[tuple[int, list[Piece]]]) -> int:
    return sum(cell_len(text) for _, group in groups for text, _ in group) + 2 * max(0, len(groups) - 1)


def _fit(groups: list[tuple[int, list[Piece]]], facts: Facts, width: int) -> tuple[list[list[Piece]], str]:
    room = width - 1
    while len(groups) > 1 and _size(groups) > room:
        groups.remove(min(groups, key=lambda group: group[0]))
    left = room - _size(groups) - 3
    title = terminal.printable(facts.title, 200)
    if left < 8:
        title = ""
    elif cell_len(title) > left:
        title = set_cell_size(title, left - 1).rstrip() + "…"
    return [group for _, group in groups], title


STYLES = {
    "dim": "muted",
    "plain": "text",
    "model": "text",
    "line": "line",
    "calm": "accent",
    "near": "warning",
    "high": "bold warning",
    "full": "bold bad",
    "mark": "user",
    "title": "muted",
    "mode-plan": "bold ground on info",
    "mode-ask": "bold accent_text on accent",
    "mode-auto-edit": "bold ground on warning",
    "mode-yolo": "bold ground on bad",
}


class Status(Widget):
    def __init__(self, palette: Palette = DARK) -> None:
        super().__init__(id="status")
        self._inks = inks(palette, STYLES)
        self.facts = Facts()

    def show(self, facts: Facts) -> None:
        if facts != self.facts:
            self.facts = facts
            self.refresh()

    def render(self) -> Text:
        width = self.content_size.width
        groups, title = compose_line(self.facts, width)
        line = Text(no_wrap=True, end="")
        for number, group in enumerate(groups):
            if number:
                line.append("  ")
            for text, role in group:
                line.append(text, self._inks[role])
        if title:
            line.append(" " * (width - line.cell_len - cell_len(title)))
            line.append(title, self._inks["title"])
        return line
