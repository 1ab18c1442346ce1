"""One question with a few answers: confirm, trust.

Invariant: the answer that changes nothing is highlighted first, and Esc gives it.
"""

from __future__ import annotations

from pathlib import Path

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from deeptide.protocol.text import visible
from deeptide.tui.screens.dialog import Dialog
from deeptide.tui.widgets.choices import Choice, Choices, typed_letter


class Ask(Dialog[str]):
    """Returns the `value` of the answer; `otherwise` on Esc."""

    def __init__(self, heading: str, body: Text, choices: list[Choice], otherwise: str) -> None:
        super().__init__()
        self._heading = heading
        self._body = body
        self._choices = choices
        self._otherwise = otherwise

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog ask") as dialog:
            dialog.border_title = self._heading
            yield Static(self._body, markup=False, classes="body")
            yield Choices()

    def on_mount(self) -> None:
        at = next((i for i, one in enumerate(self._choices) if one.value == self._otherwise), 0)
        self.query_one(Choices).show(self._choices, at)

    def on_choices_clicked(self, event: Choices.Clicked) -> None:
        event.stop()
        self.dismiss(event.choice.value)

    def on_key(self, event: events.Key) -> None:
        choices = self.query_one(Choices)
        if event.key == "ctrl+c":
            return
        event.stop()
        match event.key:
            case "up" | "down":
                choices.move(-1 if event.key == "up" else 1)
            case "escape":
                self.dismiss(self._otherwise)
            case "enter":
                if choices.chosen:
                    self.dismiss(choices.chosen.value)
            case _:
                if choice := choices.by_letter(typed_letter(event)):
                    self.dismiss(choice.value)


def confirm(question: str) -> Ask:
    """Gives `yes` or `no`."""
    choices = [Choice("y", "Yes", "yes"), Choice("n", "No", "no")]
    return Ask("Please confirm", Text(visible(question)), choices, "no")


def trust(workspace: Path) -> Ask:
    """Gives `yes`, `no` or `quit`."""
    body = Text()
    body.append(visible(str(workspace)), "bold")
    body.append(
        "\n\nThis folder has instructions or settings of its own. They can steer the agent and allow commands."
        " Use them only if you trust where the folder came from.\n"
        "\nWithout trust the agent works here all the same, and leaves them unread."
    )
    choices = [
        Choice("y", "Trust this folder", "yes", "use its AGENTS.md and .deeptide settings"),
        Choice("n", "Go on without", "no", "leave them unread"),
        Choice("q", "Quit", "quit"),
    ]
    return Ask("Do you trust this folder?", body, choices, "no")
