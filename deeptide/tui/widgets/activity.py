"""One row above the composer: a wave and a clock while something runs, and short hints to the right.

Invariant: its size never changes, so a tick repaints one row and lays out nothing; no timer runs while idle.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual.timer import Timer
from textual.widget import Widget

from deeptide.tui import terminal
from deeptide.tui.palette import DARK, Palette
from deeptide.tui.styles import inks

FRAME_S = 0.12
HINT_S = 3.0
SWELL = "▁▂▃▄▅▆▅▄▃▂"
WAVE = 4
STYLES = {"wave": "accent", "label": "text", "dim": "muted", "hint": "muted"}


def wave(tick: int) -> str:
    """WAVE cells of a swell moving to the right."""
    return "".join(SWELL[(tick - 2 * cell) % len(SWELL)] for cell in range(WAVE))


def clock(seconds: float) -> str:
    whole = int(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02d}m"


class Activity(Widget):
    def __init__(
        self, palette: Palette = DARK, *, now: Callable[[], float] = monotonic, moving: bool = True
    ) -> None:
        super().__init__(id="activity")
        self._inks = inks(palette, STYLES)
        self._now = now
        self._moving = moving
        self._label = ""
        self._waiting = False
        self._since = 0.0
        self._tick = 0
        self._hint = ""
        self._beat: Timer | None = None
        self._hint_end: Timer | None = None

    @property
    def label(self) -> str:
        return self._label

    @property
    def hint(self) -> str:
        return self._hint

    @property
    def beating(self) -> bool:
        return self._beat is not None

    def work(self, label: str, *, waiting: bool = False) -> None:
        """Show `label` and let the clock run; empty stops both. A new label does not restart the clock.
        `waiting` says that it is the reader's turn: then nothing moves."""
        if (label, waiting) == (self._label, self._waiting):
            return
        if label and not self._label:
            self._since = self._now()
        self._label, self._waiting = label, waiting
        beats = bool(label) and self._moving and not waiting
        if beats and self._beat is None:
            self._beat = self.set_interval(FRAME_S, self._on_beat)
        elif not beats and self._beat is not None:
            self._beat.stop()
            self._beat = None
        self.refresh()

    def tell(self, hint: str, seconds: float = HINT_S) -> None:
        """A short remark that goes away by itself; empty takes it away now."""
        if self._hint_end is not None:
            self._hint_end.stop()
            self._hint_end = None
        self._hint = terminal.printable(hint, 200)
        if hint:
            self._hint_end = self.set_timer(seconds, lambda: self.tell(""))
        self.refresh()

    def untell(self, *hints: str) -> None:
        """Take the remark away if it is one of these: it holds no more."""
        if self._hint in hints:
            self.tell("")

    @property
    def elapsed(self) -> float:
        return self._now() - self._since if self._label else 0.0

    def _on_beat(self) -> None:
        self._tick += 1
        self.refresh()

    def render(self) -> Text:
        width = self.content_size.width
        line = Text(no_wrap=True, end="")
        if self._label:
            lead = "?".center(WAVE) if self._waiting else wave(self._tick)
            line.append(lead, self._inks["wave"])
            line.append(" " + self._label, self._inks["label"])
            rest = "" if self._waiting else f"  {clock(self.elapsed)} · Esc interrupts"
            line.append(rest, self._inks["dim"])
        if self._hint:
            room = width - line.cell_len - 2
            if room < cell_len(self._hint):
                line, room = Text(no_wrap=True, end=""), width
            hint = set_cell_size(self._hint, min(room, cell_len(self._hint)))
            line.append(" " * max(0, width - line.cell_len - cell_len(hint)))
            line.append(hint, self._inks["hint"])
        line.truncate(width, overflow="ellipsis")
        return line
