"""What to do about a missing or refused key.

Invariant: the key is shown nowhere, and leaves this screen only as its result.
"""

from __future__ import annotations

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Static

from deeptide.tui.screens.dialog import Dialog


class Login(Dialog[str | None]):
    """Returns the key, or None for later. `reason` is why it is asked (a refusal of the provider), or empty."""

    def __init__(self, reason: str = "") -> None:
        super().__init__()
        self._reason = reason

    def compose(self) -> ComposeResult:
        body = Text()
        if self._reason:
            body.append(self._reason + "\n\n", "bold")
        body.append(
            "DeepTide needs a DeepSeek API key to talk. You can make one at platform.deepseek.com.\n\n"
        )
        body.append("Paste it here", "bold")
        body.append(" and it is kept in a file only you can read; or set ")
        body.append("DEEPSEEK_API_KEY", "bold")
        body.append(" before starting; or run ")
        body.append("deeptide login", "bold")
        body.append(".\nTo look around without a key: ")
        body.append("deeptide demo", "bold")
        body.append(".")
        with Vertical(classes="dialog ask") as dialog:
            dialog.border_title = "The key was refused" if self._reason else "No API key yet"
            dialog.border_subtitle = "Enter keeps it · Esc later"
            yield Static(body, markup=False, classes="body")
            yield Input(password=True, placeholder="sk-…", compact=True, classes="filter")
            yield Static("", markup=False, classes="complaint")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        key = event.value.strip()
        if not key or any(letter.isspace() for letter in key) or not key.isascii() or not key.isprintable():
            self.query_one(".complaint", Static).update(
                "A key is one word of ASCII characters, such as sk-…."
            )
            return
        self.dismiss(key)

    def on_key(self, event: events.Key) -> None:
        if event.key == "escape":
            event.stop()
            self.dismiss(None)
