"""Styles of hand-drawn rows, made from a palette without the stylesheet.

Component classes would do the same, but each one costs the first frame a pass over all rules.

Invariant: a style names palette fields only; there is no colour of its own in it.
"""

from __future__ import annotations

from collections.abc import Mapping

from rich.style import Style

from deeptide.tui.palette import Palette

Table = Mapping[str, str]
"""Role → palette fields and attributes: `muted`, `bold accent`, `bold ground on warning`."""


def inks(palette: Palette, table: Table) -> dict[str, Style]:
    return {role: _ink(palette, words) for role, words in table.items()}


def _ink(palette: Palette, words: str) -> Style:
    front, _, back = words.partition(" on ")
    *attributes, colour = front.split()
    return Style(
        color=getattr(palette, colour),
        bgcolor=getattr(palette, back) if back else None,
        bold="bold" in attributes or None,
        reverse="reverse" in attributes or None,
    )
