"""A short list of answers, each with its letter; arrows and Enter work as well as letters.

Invariant: one answer is always highlighted, and the safest is never more than one key away.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from deeptide.tui import terminal


@dataclass(frozen=True)
class Choice:
    """`letter` picks it at once; `value` is what the owner gets."""

    letter: str
    label: str
    value: str
    detail: str = ""


def typed_letter(event: events.Key) -> str:
    """The letter of a key press, also when an input method made it full-width."""
    if not event.character or not event.is_printable:
        return ""
    return unicodedata.normalize("NFKC", event.character).casefold()


class Choices(Widget):
    COMPONENT_CLASSES = {"choices--row", "choices--chosen", "choices--letter", "choices--detail"}

    class Clicked(Message):
        def __init__(self, choice: Choice) -> None:
            super().__init__()
            self.choice = choice

    def __init__(self) -> None:
        super().__init__()
        self.choices: Sequence[Choice] = ()
        self.at = 0

    def show(self, choices: Sequence[Choice], at: int = 0) -> None:
        self.choices, self.at = choices, at
        self.refresh(layout=True)

    def move(self, step: int) -> None:
        if self.choices:
            self.at = (self.at + step) % len(self.choices)
            self.refresh()

    def choose(self, value: str) -> None:
        self.at = next((at for at, choice in enumerate(self.choices) if choice.value == value), self.at)
        self.refresh()

    @property
    def chosen(self) -> Choice | None:
        return self.choices[self.at] if self.choices else None

    def by_letter(self, letter: str) -> Choice | None:
        return next((choice for choice in self.choices if choice.letter == letter), None)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.choices)

    def render(self) -> Text:
        width = self.content_size.width
        style = self.get_component_rich_style
        room = max((cell_len(choice.label) for choice in self.choices), default=0) + 2
        lines = []
        for number, choice in enumerate(self.choices):
            here = number == self.at
            line = Text(no_wrap=True, end="")
            line.append("▌ " if here else "  ", style("choices--letter", partial=True))
            line.append(f"{choice.letter}  ", style("choices--letter", partial=True))
            label = terminal.printable(choice.label, 400)
            line.append(set_cell_size(label, max(room, cell_len(label))), style("choices--row", partial=True))
            line.append(terminal.printable(choice.detail, 400), style("choices--detail", partial=True))
            line.truncate(width, overflow="ellipsis", pad=True)
            if here:
                line.stylize(style("choices--chosen", partial=False), 2)
            lines.append(line)
        return Text("\n", no_wrap=True, end="").join(lines)

    def on_click(self, event: events.Click) -> None:
        y = event.y - self.gutter.top
        if 0 <= y < len(self.choices):
            self.post_message(self.Clicked(self.choices[y]))
