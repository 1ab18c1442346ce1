"""The agent's checklist above the composer: one line when folded, all of it when open.

Invariant: it shows a whole plan or nothing; a finished plan goes away when the work ends.
"""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual.geometry import Size
from textual.widget import Widget

from deeptide.protocol.plan import Plan, Status
from deeptide.tui import terminal

ROWS = 8
MARKS: dict[Status, str] = {"pending": "○", "in_progress": "◐", "completed": "●"}


class PlanPanel(Widget):
    COMPONENT_CLASSES = {f"plan--{name}" for name in ("head", "dim", "pending", "now", "done")}

    def __init__(self) -> None:
        super().__init__(id="plan")
        self.plan = Plan()
        self.folded = True
        self.fresh = True
        self.display = False

    def show(self, plan: Plan, *, working: bool, fresh: bool = True) -> None:
        """A plan with nothing left to do goes away when the work ends; the transcript still has it. One of an
        earlier turn (not `fresh`) stays, dim, while something is left."""
        before, self.plan, self.fresh = (self.plan, self.fresh), plan, fresh
        shown = bool(plan.items) and ((working and fresh) or self.done < len(plan.items))
        if shown != self.display or (shown and (plan, fresh) != before):
            self.display = shown
            self.refresh(layout=True)

    def toggle(self) -> None:
        self.folded = not self.folded
        self.refresh(layout=True)

    @property
    def done(self) -> int:
        return sum(item.status == "completed" for item in self.plan.items)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 1 if self.folded else 1 + min(ROWS, len(self.plan.items))

    def _window(self) -> tuple[int, int]:
        """The rows shown: around the first item that is not done."""
        items = self.plan.items
        first_open = next((i for i, item in enumerate(items) if item.status != "completed"), len(items))
        start = max(0, min(first_open - 2, len(items) - ROWS))
        return start, start + ROWS

    def _head(self, width: int) -> Text:
        items = self.plan.items
        style = self.get_component_rich_style
        line = Text(no_wrap=True, end="")
        line.append("▸ " if self.folded else "▾ ", style("plan--dim", partial=True))
        line.append("Plan", style("plan--head" if self.fresh else "plan--dim", partial=True))
        earlier = "" if self.fresh else " of an earlier turn"
        line.append(f" {self.done}/{len(items)}{earlier}", style("plan--dim", partial=True))
        now = next((item for item in items if item.status == "in_progress"), None)
        start, end = self._window()
        if self.folded and now:
            role = "plan--now" if self.fresh else "plan--dim"
            line.append("  " + terminal.printable(now.text, 300), style(role, partial=True))
        elif not self.folded and len(items) > ROWS:
            line.append(f"  showing {start + 1}–{end}", style("plan--dim", partial=True))
        line.truncate(width, overflow="ellipsis")
        return line

    def render(self) -> Text:
        width = self.content_size.width
        lines = [self._head(width)]
        if not self.folded:
            start, end = self._window()
            for item in self.plan.items[start:end]:
                role = {"pending": "pending", "in_progress": "now", "completed": "done"}[item.status]
                text = terminal.printable(item.text, 300)
                if cell_len(text) > width - 4:
                    text = set_cell_size(text, max(1, width - 5)).rstrip() + "…"
                style = self.get_component_rich_style(f"plan--{role}", partial=True)
                lines.append(Text(f"  {MARKS[item.status]} {text}", style, no_wrap=True, end=""))
        return Text("\n", no_wrap=True, end="").join(lines)

    def on_click(self) -> None:
        self.toggle()
