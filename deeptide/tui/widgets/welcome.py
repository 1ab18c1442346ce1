"""What an empty talk shows: where we are, with which model, and how to begin.

Invariant: it takes the transcript's place and never stands beside it.
"""

from __future__ import annotations

from pathlib import Path

from rich.text import Text
from textual.widget import Widget

from deeptide.protocol.text import clean
from deeptide.tui.palette import DARK, Palette
from deeptide.tui.styles import inks

SWELL = "▁▂▃▅▆▇▆▅▃▂▁"
HINTS = (
    ("/", "commands"),
    ("@", "mention a file"),
    ("!", "run a shell command"),
    ("Shift+Tab", "plan, ask or auto-edit"),
    ("F1", "all keys and commands"),
)
INVITATION = "Say what you want done, in any language."
STYLES = {
    "swell": "accent",
    "name": "bold strong",
    "text": "text",
    "dim": "muted",
    "key": "accent",
    "hint": "accent",
}


def home_relative(path: Path) -> str:
    try:
        return "~/" + path.relative_to(Path.home()).as_posix() if path != Path.home() else "~"
    except ValueError:
        return str(path)


class Welcome(Widget):
    def __init__(self, workspace: Path, palette: Palette = DARK) -> None:
        super().__init__(id="welcome")
        self._inks = inks(palette, STYLES)
        self._workspace = workspace
        self._detail = ""
        self._hint = ""

    def at(self, workspace: Path) -> None:
        if workspace != self._workspace:
            self._workspace = workspace
            self.refresh()

    def detail(self, text: str) -> None:
        """A second line below the folder: model and effort, or what is being opened."""
        if text != self._detail:
            self._detail = text
            self.refresh()

    def hint(self, text: str) -> None:
        """What to say first, in place of the general invitation; empty: that invitation."""
        if text != self._hint:
            self._hint = text
            self.refresh()

    def render(self) -> Text:
        text = Text(overflow="ellipsis")
        text.append(SWELL, self._inks["swell"])
        text.append("  DeepTide\n\n", self._inks["name"])
        text.append(clean(home_relative(self._workspace)) + "\n", self._inks["text"])
        text.append(self._detail + "\n\n", self._inks["dim"])
        text.append(clean(self._hint or INVITATION) + "\n\n", self._inks["hint" if self._hint else "text"])
        for key, meaning in HINTS:
            text.append(f"{key:<11}", self._inks["key"])
            text.append(meaning + "\n", self._inks["dim"])
        text.right_crop(1)
        return text
