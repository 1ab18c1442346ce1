"""What to do about a missing or refused key.

Invariant: the key is shown nowhere, and leaves this screen only to be kept and as its result.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Static

from deeptide.protocol.errors import DeepTideError
from deeptide.tui.screens.dialog import Dialog

Keep = Callable[[str], Awaitable[object]]
"""Stores a key; raises DeepTideError if it cannot be one."""
NOT_A_WORD = "That is not a key: a key is one word of plain ASCII characters, such as sk-…."
NOT_SK = "Keys of api.deepseek.com begin with sk-. Enter again keeps this one all the same."


class Login(Dialog[str | None]):
    """Returns the key, which `keep` has taken, or None for later. `reason` is why it is asked (a refusal of the
    provider), or empty. `sk` says that keys begin with sk- here."""

    def __init__(self, reason: str = "", keep: Keep | None = None, *, sk: bool = False) -> None:
        super().__init__()
        self._reason = reason
        self._keep = keep
        self._sk = sk
        self._doubted = ""

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

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        key = event.value.strip()
        if not key or any(letter.isspace() for letter in key) or not key.isascii() or not key.isprintable():
            self._complain(NOT_A_WORD)
        elif self._sk and not key.startswith("sk-") and key != self._doubted:
            self._doubted = key
            self._complain(NOT_SK)
        else:
            await self._take(key)

    async def _take(self, key: str) -> None:
        try:
            if self._keep is not None:
                await self._keep(key)
        except DeepTideError as error:
            self._complain(f"{error} {error.advice}".strip())
        else:
            self.dismiss(key)

    def _complain(self, text: str) -> None:
        self.query_one(".complaint", Static).update(text)

    def on_key(self, event: events.Key) -> None:
        if event.key == "escape":
            event.stop()
            self.dismiss(None)
