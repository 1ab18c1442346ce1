"""The reader's window on the column.

The reader's place is a block, a section and a line in it. Heights elsewhere are estimates, so the y of the
place moves when estimates are corrected; what is shown at the place does not.

Invariant: after `settle`, every line of the window is exact, and while `following` is off the line at the top
of the window shows the same text as before, whatever was added, changed or measured elsewhere.
"""

from __future__ import annotations

from deeptide.tui.scrollback.inks import Inks
from deeptide.tui.scrollback.stack import Entry, Place, Stack


class Column(Stack):
    """A stack with a window of `height` lines on it."""

    def __init__(self, inks: Inks) -> None:
        super().__init__(inks)
        self.height = 24
        self.following = True
        self._place: Place | None = None

    # ---- shape ----------------------------------------------------------------------------------------------

    def resize(self, width: int, height: int) -> None:
        """Another window. The place stays: it is clamped to its section when that is laid out again."""
        self.height = max(1, height)
        if width != self.width:
            self._rewidth(width)

    def _remove(self, entry: Entry) -> None:
        index = entry.index
        super()._remove(entry)
        if self._place is not None and self._place.entry is entry:
            self._place = Place(self._entries[index], 0, 0) if index < len(self._entries) else None
            self.following = self.following or self._place is None

    def unfold(self, entry: Entry, unfolded: bool) -> None:
        """Folds or unfolds a block; if its first line is in the window, that line stays where it is."""
        top = self.settle()
        above = self._heights.before(entry.index) - top
        self._set_unfolded(entry, unfolded)
        if 0 <= above < self.height:
            self._place = self._up(Place(entry, 0, 0), above)
            self.following = False
            self._stick()

    def unfold_all(self, unfolded: bool) -> None:
        """Folds or unfolds every block, and those that come later. The block at the top stays there."""
        self.settle()
        self.unfolded = unfolded
        for entry in self._entries:
            if entry.unfolded != unfolded:
                self._set_unfolded(entry, unfolded)

    # ---- the window -----------------------------------------------------------------------------------------

    def settle(self) -> int:
        """Lays out the window and returns the y of its first line."""
        if not self._entries:
            self.following, self._place = True, None
            return 0
        if not self.following and self._place is not None:
            self._place = self._clamped(self._place)
            below = self._measure_down(self._place, self.height)
            if below < self.height:
                self.following = True
        if self.following or self._place is None:
            self._measure_up(self._end(), self.height)
            top = max(0, self.total - self.height)
            self._place = self.locate(top)
            self._measure_down(self._place, self.height)
        self._trim(self.height)
        return self.y_of(self._place)

    def move(self, lines: int) -> None:
        """Moves the window down (or up) by so many lines of what is really there."""
        if not self._entries or lines == 0:
            return
        place = self._place or self.locate(0)
        if lines < 0:
            self._place = self._up(place, -lines)
            self.following = False
            self._stick()
        elif not self.following:
            self._place = self._down(place, lines)
            self._stick()

    def jump_to(self, y: int) -> None:
        """Puts the window where the scroll bar says."""
        if not self._entries:
            return
        self._place = self.locate(max(0, min(y, self.total - 1)))
        self.following = False
        self._stick()

    def show(self, entry: Entry, section: int = 0, line: int = 0) -> None:
        """Puts a line at the top of the window."""
        body = self.open(entry)
        if body.sections:
            self.lay(entry, section)
            self._place = Place(entry, section, body.sections[section].gap + line)
            self.following = False
            self._stick()

    def follow(self) -> None:
        self.following = True

    def _stick(self) -> None:
        """Follows again if the end is in the window."""
        if self._place is not None and self._measure_down(self._place, self.height + 1) <= self.height:
            self.following = True

    # ---- walking --------------------------------------------------------------------------------------------

    def _clamped(self, place: Place) -> Place:
        sections = self.open(place.entry).sections
        if not sections:
            return Place(place.entry, 0, 0)
        section = min(place.section, len(sections) - 1)
        self.lay(place.entry, section)
        span = sections[section].gap + sections[section].height
        return Place(place.entry, section, max(0, min(place.line, span - 1)))

    def _end(self) -> Place:
        entry = self._entries[-1]
        sections = self.open(entry).sections
        return Place(entry, len(sections), 0)

    def _measure_down(self, place: Place, lines: int) -> int:
        """Lays out at least `lines` lines from a place on, if there are as many; how many there are."""
        found = -place.line
        for entry, index in self._from(place):
            found += self._span(entry, index)
            if found >= lines:
                break
        return found

    def _measure_up(self, place: Place, lines: int) -> None:
        for entry, index in self._back(place):
            lines -= self._span(entry, index)
            if lines <= 0:
                break

    def _down(self, place: Place, lines: int) -> Place:
        left = place.line + lines
        last = place
        for entry, index in self._from(place):
            span = self._span(entry, index)
            if left < span:
                return Place(entry, index, left)
            left -= span
            last = Place(entry, index, max(0, span - 1))
        return last

    def _up(self, place: Place, lines: int) -> Place:
        if place.line >= lines:
            return place._replace(line=place.line - lines)
        left = lines - place.line
        last = place._replace(line=0)
        for entry, index in self._back(place):
            span = self._span(entry, index)
            if left <= span:
                return Place(entry, index, span - left)
            left -= span
            last = Place(entry, index, 0)
        return last
