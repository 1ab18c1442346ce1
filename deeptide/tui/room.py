"""How the rows of the screen are shared out between what stands above the composer.

Invariant: composer and status line are always in sight; a question takes what the others leave, and the transcript
keeps at least a row.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.screen import Screen
from textual.widget import Widget

from deeptide.tui.widgets.approval import ApprovalPanel

LOW, TINY = 31, 18
"""Below so many rows nothing is spaced out, and beside a question plan and queue take a row each, or none."""


class Room:
    """`foot` holds composer and status; `beside` is what else stands between it and the transcript."""

    def __init__(self, foot: Widget, beside: Sequence[Widget], approval: ApprovalPanel) -> None:
        self._foot = foot
        self._beside = beside
        self._approval = approval

    def share(self, screen: Screen[object]) -> None:
        """After each layout. It settles: what it reads does not depend on the height of the panel."""
        rows = screen.size.height
        screen.set_class(rows < LOW, "-low")
        screen.set_class(rows < TINY, "-tiny")
        screen.set_class(self._approval.display, "-asking")
        if not self._approval.display:
            return
        taken = sum(one.outer_size.height + one.styles.margin.top for one in self._beside if one.display)
        talk = 1 if rows < 25 else rows // 8
        self._approval.fit(self._foot.region.y - taken - talk)
