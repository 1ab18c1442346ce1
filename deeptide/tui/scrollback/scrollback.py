"""The one widget of the transcript: it shows a `Column` and turns keys and the mouse into moves of it.

Invariant: a block that is not in the window costs nothing to show, and while the reader has scrolled up,
nothing that arrives moves what they read.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from time import monotonic
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from deeptide.transcript.blocks import Change
from deeptide.tui.palette import DARK, Palette
from deeptide.tui.scrollback.cards import foldable
from deeptide.tui.scrollback.column import Column
from deeptide.tui.scrollback.finding import Hit, find, pattern
from deeptide.tui.scrollback.glyphs import UNICODE, Glyphs
from deeptide.tui.scrollback.inks import Inks
from deeptide.tui.scrollback.markdown import load_markdown
from deeptide.tui.scrollback.parts import markdown_ready
from deeptide.tui.scrollback.picking import Row, address, around, bounds, character_at, key_of, picked
from deeptide.tui.scrollback.pill import pill_span, with_pill
from deeptide.tui.scrollback.sheet import Span

FLUSH_S = 1 / 20
"""Changes that arrive within this time are drawn together."""


class Scrollback(ScrollView, can_focus=True):
    """Give it the changes of a `Transcript`; it does the rest."""

    DEFAULT_CSS = """
    Scrollback {
        height: 1fr;
        background: $background;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "lines(-1)", "Line up", show=False),
        Binding("down,j", "lines(1)", "Line down", show=False),
        Binding("pageup,ctrl+b", "page_up", "Page up", show=False),
        Binding("pagedown,space", "page_down", "Page down", show=False),
        Binding("home,g", "scroll_home", "Start", show=False),
        Binding("end,G", "scroll_end", "End", show=False),
        Binding("enter", "fold", "Fold", show=False),
        Binding("ctrl+o", "fold_all", "Fold", show=False),
    ]

    class LinkClicked(Message):
        """A link was clicked. `address` is as written by the model: it is not to be trusted."""

        def __init__(self, address: str) -> None:
            super().__init__()
            self.address = address

    def __init__(
        self,
        palette: Palette = DARK,
        *,
        glyphs: Glyphs = UNICODE,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._glyphs = glyphs
        self.column = Column(Inks.of(palette, glyphs))
        self._pending: dict[str, Change] = {}
        self._timer: Timer | None = None
        self._flushed = 0.0
        self._top = 0
        self._placing = False
        self._painting = False
        self._asked = False
        self._fitted = Size(0, 0)
        self._rows: list[Row | None] = []
        self._unseen = 0
        self._grown = False
        self._current = ""
        self._needle: re.Pattern[str] | None = None

    # ---- what is shown -----------------------------------------------------------------------------------

    def apply(self, changes: Iterable[Change]) -> None:
        """Takes changes of the transcript in; they are drawn within FLUSH_S."""
        fresh: list[Change] = []
        for change in changes:
            name = change.block.id
            if change.op == "update":
                self._pending[name] = change
                continue
            self._pending.pop(name, None)
            fresh.append(change)
            if change.op == "add" and not self.column.following:
                self._unseen += 1
        if fresh and self.column.apply(fresh) and self.is_attached and self.text_selection is not None:
            self.screen.clear_selection()
        self._grown = self._grown or not self.column.following
        self._request()

    def clear(self) -> None:
        """An empty transcript, as for another session."""
        self._pending.clear()
        unfolded = self.column.unfolded
        width, height = self.column.width, self.column.height
        self.column = Column(self.column.inks)
        self.column.unfolded = unfolded
        self.column.resize(width, height)
        self._unseen, self._grown, self._current = 0, False, ""
        self._settle()

    def flush(self) -> None:
        """Draws what has arrived now, without waiting for the clock."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._flushed = monotonic()
        if self._pending:
            pending, self._pending = tuple(self._pending.values()), {}
            self.column.apply(pending)
        self._settle()

    def set_palette(self, palette: Palette) -> None:
        self.column.redraw(Inks.of(palette, self._glyphs))
        self._settle()

    @property
    def at_end(self) -> bool:
        """Whether new lines are being followed."""
        return self.column.following

    @property
    def unseen(self) -> int:
        """Blocks that were added below since the reader scrolled up."""
        return self._unseen

    def visible_text(self) -> str:
        """What the window shows, as plain text."""
        return "\n".join(row[2].plain if row else "" for row in self._rows)

    # ---- folding, finding, jumping ------------------------------------------------------------------------

    def toggle(self, block_id: str) -> bool:
        """Folds or unfolds one block. Returns whether there was one to fold."""
        entry = self.column.entry(block_id)
        if entry is None or not foldable(entry.block):
            return False
        self._current = block_id
        self.column.unfold(entry, not entry.unfolded)
        self._moved()
        return True

    def toggle_all(self) -> bool:
        """Folds everything, or unfolds everything. Returns whether all is unfolded now."""
        self.column.unfold_all(not self.column.unfolded)
        self._moved()
        return self.column.unfolded

    def toggle_folds(self) -> None:
        """Unfolds what is folded in the window; if nothing is, folds what is unfolded there."""
        seen = {row[0].block.id: row[0] for row in self._rows if row is not None and foldable(row[0].block)}
        unfolded = any(not entry.unfolded for entry in seen.values())
        for entry in seen.values():
            if entry.unfolded != unfolded:
                self.column.unfold(entry, unfolded)
        self._moved()

    def jump_to_end(self) -> None:
        """Shows the newest lines and follows them from now on."""
        self.column.follow()
        self._moved()

    def search(self, text: str) -> list[Hit]:
        """Marks `text` wherever it is seen and returns every hit; an empty text ends the search."""
        self._needle = pattern(text) if text else None
        self.refresh()
        return find((entry.block for entry in self.column.entries()), text)

    def jump(self, block_id: str, nth: int = -1) -> bool:
        """Shows a block, unfolded if it has to be to show its `nth` hit of the search. False if unknown."""
        entry = self.column.entry(block_id)
        if entry is None:
            return False
        self._current = block_id
        section, line = 0, 0
        if nth >= 0 and self._needle is not None:
            if foldable(entry.block) and not entry.unfolded:
                self.column.unfold(entry, True)
            section, line = self.column.line_of(entry, self._needle, nth)
        self.column.show(entry, section, line)
        self.column.move(-min(3, self.column.height // 4))
        self._moved()
        return True

    # ---- drawing -----------------------------------------------------------------------------------------

    async def _load_markdown(self) -> None:
        """Done when there is something to draw and not before: the first paint of the app does not wait."""
        await asyncio.to_thread(load_markdown)
        self.column.redraw(self.column.inks)
        self._settle()

    def on_resize(self, event: events.Resize) -> None:
        self._fitted = self.outer_size
        region = self.scrollable_content_region
        if region.width and region.height:
            self.column.resize(region.width, region.height)
            self.flush()

    def _request(self) -> None:
        if self._timer is None and self.is_attached:
            wait = FLUSH_S - (monotonic() - self._flushed)
            self._timer = self.set_timer(max(0.001, wait), self.flush)
        if not self._asked and self.is_attached:
            self._asked = True
            if not markdown_ready():
                self.run_worker(self._load_markdown(), exit_on_error=False)

    def _moved(self) -> None:
        """The reader has moved the window."""
        if self.column.following:
            self._unseen, self._grown = 0, False
        self._settle()

    def _settle(self) -> None:
        """Brings the window, the scroll bar and the screen to where the column says."""
        if not self.is_attached:
            return
        column = self.column
        self._top = column.settle()
        if column.following:
            self._unseen, self._grown = 0, False
        size = Size(column.width, max(column.total, 1))
        self._placing = True
        try:
            if size != self.virtual_size:
                # Set without the reactive's own layout pass: the bar is always there, so nothing else moves.
                self.set_reactive(ScrollView.virtual_size, size)
                self._scroll_update(size)
            if round(self.scroll_y) != self._top:
                self.scroll_target_y = self.scroll_y = self._top
        finally:
            self._placing = False
        self._show([column.line_at(self._top + y) for y in range(column.height)])

    def _show(self, rows: list[Row | None]) -> None:
        """Repaints the lines that are not what they were."""
        old, self._rows = self._rows, rows
        if len(old) != len(rows):
            self.refresh()
            return
        changed = [
            y
            for y, (before, now) in enumerate(zip(old, rows, strict=True))
            if (before and before[2]) is not (now and now[2])
        ]
        if self._pill() or not self.column.following:
            changed.append(len(rows) - 1)
        if changed:
            first, last = min(changed), max(changed)
            self.refresh(Region(0, first, self.column.width, last - first + 1))

    def render_lines(self, crop: Region) -> list[Strip]:
        self._painting = True
        try:
            return super().render_lines(crop)
        finally:
            self._painting = False

    def render_line(self, y: int) -> Strip:
        """From `ScrollView`. Outside a paint the question is what stands where: see `Line.addressed`."""
        width = self.column.width
        row = self._rows[y] if y < len(self._rows) else None
        if not self._painting:
            return address(self._rows, y, width)
        page = self.column.inks.page
        if row is None:
            strip = Strip.blank(width, page)
        else:
            strip = row[2].strip(width, page, self._spans(row))
        if y == self.column.height - 1 and (pill := self._pill()):
            strip = with_pill(strip, pill, self.column.inks)
        return strip

    def _spans(self, row: Row) -> list[Span]:
        """What is found and what is selected in a line."""
        spans: list[Span] = []
        inks = self.column.inks
        if self._needle is not None:
            for found in self._needle.finditer(self.column.lay(row[0], row[1]).text):
                if found.start() > row[2].end:
                    break
                spans.append(Span(found.start(), found.end(), inks.find))
        selection = self.text_selection
        if selection is not None:
            found_bounds = bounds(selection, key_of(row), row[2].end + 1)
            if found_bounds is not None:
                spans.append(Span(*found_bounds, inks.select))
        return spans

    # ---- the pill ----------------------------------------------------------------------------------------

    def _pill(self) -> str:
        if self.column.following or not (self._unseen or self._grown):
            return ""
        return f" {self._glyphs.down} {self._unseen} new " if self._unseen else f" {self._glyphs.down} new "

    # ---- moving ------------------------------------------------------------------------------------------

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The scroll bar, a drag at the edge or a caller moved the view."""
        super().watch_scroll_y(old_value, new_value)
        moved = round(new_value) - self._top
        # Before a new height reaches the column, Textual keeps its number inside the new bounds: nobody moved.
        fitting = self.scrollable_content_region.height != self.column.height
        if self._placing or not moved or fitting or self.outer_size != self._fitted:
            return
        if abs(moved) <= 2 * self.column.height:
            self.column.move(moved)
        else:
            self.column.jump_to(round(new_value))
        self._moved()
        self._drag_on()

    def _drag_on(self) -> None:
        """A drag held at the edge scrolls without the mouse being moved: other words are under it now."""
        # There is no public way to ask whether a drag is going on (textual 8.2).
        if getattr(self.screen, "_selecting", False):
            x, y = self.app.mouse_position
            self.app.post_message(events.MouseMove(None, x, y, 0, 0, 1, False, False, False, x, y))

    def scroll_lines(self, lines: int) -> None:
        """Moves the view by lines, up if negative."""
        self.column.move(lines)
        self._moved()

    def action_lines(self, lines: int) -> None:
        self.scroll_lines(lines)

    def action_page_up(self) -> None:
        self.scroll_lines(-max(1, self.column.height - 2))

    def action_page_down(self) -> None:
        self.scroll_lines(max(1, self.column.height - 2))

    def action_scroll_home(self) -> None:
        self.column.jump_to(0)
        self._moved()

    def action_scroll_end(self) -> None:
        self.jump_to_end()

    # ---- folding by hand, links, selection ------------------------------------------------------------------

    def action_fold(self) -> None:
        """The block last touched if it is in sight, else the last one in sight that folds."""
        seen = [row[0] for row in self._rows if row is not None and foldable(row[0].block)]
        ids = [entry.block.id for entry in seen]
        if ids:
            self.toggle(self._current if self._current in ids else ids[-1])

    def action_fold_all(self) -> None:
        self.toggle_folds()

    def on_click(self, event: events.Click) -> None:
        event.prevent_default()
        pill = self._pill()
        if pill and event.y == self.column.height - 1:
            start, end = pill_span(pill, self.column.width)
            if start <= event.x < end:
                self.action_scroll_end()
                return
        row = self._rows[event.y] if 0 <= event.y < len(self._rows) else None
        if row is None:
            return
        if event.chain > 1:
            found = around(self.column, row, event.x, whole_line=event.chain > 2)
            self.screen.selections = {self: found} if found is not None else {}
        elif self.text_selection is None:
            self._touch(row, event.x)

    def _touch(self, row: Row, x: int) -> None:
        entry, section, _ = row
        offset = character_at(row, x, self.column.width)
        for start, end, link in self.column.lay(entry, section).links:
            if start <= offset < end:
                self.post_message(self.LinkClicked(link))
                return
        self._current = entry.block.id
        if self.column.open(entry).sections[section].part.toggles:
            self.toggle(entry.block.id)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """From `Widget`: the logical text under the selection."""
        return picked(self.column, selection), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """From `Widget`."""
        self.refresh()
