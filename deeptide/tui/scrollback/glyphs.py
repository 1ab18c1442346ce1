"""The signs that are drawn around text, in a Unicode and an ASCII set.

Invariant: every sign is one cell wide where ambiguous characters are narrow; the ASCII set is for terminals
that draw box characters two cells wide.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Glyphs:
    bar: str = "▌"
    thin: str = "│"
    rule: str = "─"
    corner: str = "└"
    bullets: str = "•◦▪"
    done: str = "✓"
    failed: str = "✗"
    denied: str = "⊘"
    stopped: str = "◌"
    running: str = "●"
    waiting: str = "○"
    writing: str = "✎"
    think: str = "∴"
    folded: str = "▸"
    unfolded: str = "▾"
    more: str = "…"
    dot: str = "·"
    down: str = "↓"
    box_open: str = "☐"
    box_half: str = "◐"
    box_done: str = "☑"
    cross: str = "┼"
    column: str = "│"


UNICODE = Glyphs()
ASCII = Glyphs(
    bar="|",
    thin="|",
    rule="-",
    corner="`",
    bullets="*-+",
    done="+",
    failed="x",
    denied="!",
    stopped="-",
    running="*",
    waiting="o",
    writing="~",
    think="~",
    folded=">",
    unfolded="v",
    more="~",
    dot="-",
    down="v",
    box_open="o",
    box_half="~",
    box_done="x",
    cross="+",
    column="|",
)
