"""What was said and waits, above the composer: for the running turn's next request, or for its end.

Invariant: every waiting message is counted; at most SHOWN of each kind are shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.geometry import Size
from textual.widget import Widget

from deeptide.tui import terminal

SHOWN = 3
STEER = "goes into this turn before the next request"
QUEUED = "sent when this turn ends · ↑ takes the last one back"
IDLE = "waiting · Enter sends · ↑ takes it back"


class QueueLines(Widget):
    COMPONENT_CLASSES = {"queue--text", "queue--dim"}

    def __init__(self) -> None:
        super().__init__(id="queue")
        self.items: tuple[str, ...] = ()
        self.steers: tuple[str, ...] = ()
        self.working = False
        self.display = False

    def show(self, items: tuple[str, ...], steers: tuple[str, ...] = (), *, working: bool = True) -> None:
        """`items` wait for the next turn, `steers` for the next request; `working`: a turn runs."""
        if (items, steers, working) != (self.items, self.steers, self.working):
            self.items, self.steers, self.working = items, steers, working
            self.display = bool(items or steers)
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return sum(min(SHOWN, len(kind)) + 1 for kind in (self.steers, self.items) if kind)

    def render(self) -> Text:
        width, height = self.content_size
        dim = self.get_component_rich_style("queue--dim", partial=True)
        if height == 1:
            counts = ((len(self.steers), "for this turn"), (len(self.items), "waiting"))
            said = " · ".join(f"{count} {what}" for count, what in counts if count)
            return Text(f"┊ {said}", dim, no_wrap=True, end="", overflow="ellipsis")
        lines = self._lines(self.steers, STEER) + self._lines(self.items, QUEUED if self.working else IDLE)
        for line in lines:
            line.truncate(width, overflow="ellipsis")
        return Text("\n", no_wrap=True, end="").join(lines)

    def _lines(self, items: Sequence[str], foot: str) -> list[Text]:
        if not items:
            return []
        dim = self.get_component_rich_style("queue--dim", partial=True)
        style = self.get_component_rich_style("queue--text", partial=True)
        lines = [
            Text.assemble(("┊ ", dim), (terminal.printable(item, 300), style), no_wrap=True, end="")
            for item in items[:SHOWN]
        ]
        more = len(items) - SHOWN
        words = f"and {more} more · " if more > 0 else ""
        return [*lines, Text(f"└ {words}{foot}", dim, no_wrap=True, end="")]
