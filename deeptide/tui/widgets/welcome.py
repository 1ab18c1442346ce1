"""What an empty talk shows: where we are, with which model, and how to begin.

Invariant: it takes the transcript's place and never stands beside it.
"""

from __future__ import annotations

from pathlib import Path

from rich.text import Text
from textual.widget import Widget

from deeptide.protocol.text import clean

SWELL = "▁▂▃▅▆▇▆▅▃▂▁"
HINTS = (
    ("/", "commands"),
    ("@", "mention a file"),
    ("!", "run a shell command"),
    ("Shift+Tab", "plan, ask or auto-edit"),
    ("F1", "all keys and commands"),
)


def home_relative(path: Path) -> str:
    try:
        return "~/" + path.relative_to(Path.home()).as_posix() if path != Path.home() else "~"
    except ValueError:
        return str(path)


class Welcome(Widget):
    COMPONENT_CLASSES = {"welcome--swell", "welcome--name", "welcome--dim", "welcome--key", "welcome--text"}

    def __init__(self, workspace: Path) -> None:
        super().__init__(id="welcome")
        self._workspace = workspace
        self._detail = ""

    def at(self, workspace: Path) -> None:
        if workspace != self._workspace:
            self._workspace = workspace
            self.refresh()

    def detail(self, text: str) -> None:
        """A second line below the folder: model and effort, or what is being opened."""
        if text != self._detail:
            self._detail = text
            self.refresh()

    def render(self) -> Text:
        style = self.get_component_rich_style
        text = Text(no_wrap=True, overflow="ellipsis")
        text.append(SWELL, style("welcome--swell", partial=True))
        text.append("  DeepTide\n\n", style("welcome--name", partial=True))
        text.append(clean(home_relative(self._workspace)) + "\n", style("welcome--text", partial=True))
        text.append(self._detail + "\n\n", style("welcome--dim", partial=True))
        text.append("Say what you want done, in any language.\n\n", style("welcome--text", partial=True))
        for key, meaning in HINTS:
            text.append(f"{key:<11}", style("welcome--key", partial=True))
            text.append(meaning + "\n", style("welcome--dim", partial=True))
        text.right_crop(1)
        return text
