"""Messages that wait for the running turn to end, above the composer.

Invariant: every waiting message is counted; at most three are shown.
"""

from __future__ import annotations

from rich.text import Text
from textual.geometry import Size
from textual.widget import Widget

from deeptide.tui import terminal

SHOWN = 3


class QueueLines(Widget):
    COMPONENT_CLASSES = {"queue--text", "queue--dim"}

    def __init__(self) -> None:
        super().__init__(id="queue")
        self.items: tuple[str, ...] = ()
        self.display = False

    def show(self, items: tuple[str, ...]) -> None:
        if items != self.items:
            self.items = items
            self.display = bool(items)
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return min(SHOWN, len(self.items)) + 1

    def render(self) -> Text:
        width = self.content_size.width
        dim = self.get_component_rich_style("queue--dim", partial=True)
        style = self.get_component_rich_style("queue--text", partial=True)
        lines = []
        for item in self.items[:SHOWN]:
            line = Text(no_wrap=True, end="")
            line.append("┊ ", dim)
            line.append(terminal.printable(item, 300), style)
            line.truncate(width, overflow="ellipsis")
            lines.append(line)
        more = len(self.items) - SHOWN
        words = f"and {more} more · " if more > 0 else ""
        foot = Text(
            f"└ {words}sent when this turn ends · ↑ takes the last one back", dim, no_wrap=True, end=""
        )
        foot.truncate(width, overflow="ellipsis")
        return Text("\n", no_wrap=True, end="").join([*lines, foot])
