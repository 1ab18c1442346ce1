"""Every key of the app, once: the help screen, the hints and the tests read this table.

Invariant: a key that does something is listed here; a key listed here does what its line says.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from time import monotonic
from typing import Literal

import msgspec
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS

from deeptide.protocol.approvals import Mode

Where = Literal["Writing", "While it works", "Approvals", "Everywhere"]


class KeyLine(msgspec.Struct, frozen=True):
    """`keys` as Textual names them; `shown` as a person reads them."""

    where: Where
    keys: tuple[str, ...]
    shown: str
    summary: str


class _LegacyAlt(Enum):
    ENTER = "alt+enter"


NEWLINE = ("shift+enter", "ctrl+j", "shift+\r")
STEER = ("alt+enter", "ctrl+enter", "ctrl+\r")

TABLE: tuple[KeyLine, ...] = (
    KeyLine("Writing", ("enter",), "Enter", "send; queue it while a turn is running"),
    KeyLine("Writing", NEWLINE, "Shift+Enter, Ctrl+J, \\ Enter", "new line"),
    KeyLine("Writing", ("up", "down"), "↑ ↓", "at the first or last line: earlier prompts"),
    KeyLine("Writing", ("ctrl+r",), "Ctrl+R", "search earlier prompts"),
    KeyLine("Writing", ("slash",), "/", "commands, with their help"),
    KeyLine("Writing", ("at",), "@", "mention a file"),
    KeyLine("Writing", ("exclamation_mark",), "!", "run a shell command yourself"),
    KeyLine("Writing", ("tab",), "Tab", "take the highlighted suggestion"),
    KeyLine("Writing", ("ctrl+g",), "Ctrl+G", "write in $VISUAL or $EDITOR"),
    KeyLine("Writing", ("ctrl+o",), "Ctrl+O", "on a collapsed paste: show its text"),
    KeyLine("While it works", ("escape",), "Esc", "interrupt the turn"),
    KeyLine("While it works", STEER, "Alt+Enter, Ctrl+Enter", "steer: say it into the running turn"),
    KeyLine("While it works", ("up",), "↑ on empty", "take the last queued message back"),
    KeyLine("Approvals", ("y", "1"), "y", "allow once"),
    KeyLine("Approvals", ("s", "2"), "s", "allow for this session"),
    KeyLine("Approvals", ("a", "3"), "a", "always allow in this folder"),
    KeyLine("Approvals", ("n", "escape"), "n, Esc", "deny; a reason may follow"),
    KeyLine("Approvals", ("pageup", "pagedown"), "PgUp PgDn", "read a long preview"),
    KeyLine("Everywhere", ("shift+tab",), "Shift+Tab", "mode: plan → ask → auto-edit"),
    KeyLine("Everywhere", ("escape",), "Esc Esc", "when idle: clear what is written; on empty, rewind"),
    KeyLine("Everywhere", ("ctrl+o",), "Ctrl+O", "unfold or fold thinking and tool output"),
    KeyLine("Everywhere", ("ctrl+t",), "Ctrl+T", "unfold or fold the plan"),
    KeyLine("Everywhere", ("pageup", "pagedown"), "PgUp PgDn", "scroll the talk"),
    KeyLine("Everywhere", ("ctrl+end",), "Ctrl+End", "back to the newest line"),
    KeyLine("Everywhere", ("f1",), "F1", "help"),
    KeyLine("Everywhere", ("ctrl+c",), "Ctrl+C", "copy a selection, clear, interrupt; twice quits"),
    KeyLine("Everywhere", ("ctrl+d",), "Ctrl+D on empty", "quit"),
)


def next_mode(mode: Mode) -> Mode:
    """Shift+Tab: plan → ask → auto-edit → plan; from yolo back to ask, and never into it."""
    return {"plan": "ask", "ask": "auto-edit", "auto-edit": "plan"}.get(mode, "ask")  # type: ignore[return-value]


class Twice:
    """Whether a key was pressed twice in quick succession; a third press is a first one again."""

    WITHIN_S = 1.5

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._pressed: dict[str, float] = {}

    def press(self, key: str) -> bool:
        before, now = self._pressed.pop(key, None), self._now()
        if before is not None and now - before < self.WITHIN_S:
            return True
        self._pressed[key] = now
        return False

    def forget(self) -> None:
        """Something else was done in between."""
        self._pressed.clear()


def teach_legacy_keys() -> None:
    """Let Textual tell Alt+Enter from Enter in terminals without the kitty keyboard protocol: they send
    ESC CR, which its table does not know and reads as plain Enter."""
    if isinstance(ANSI_SEQUENCES_KEYS, dict):
        ANSI_SEQUENCES_KEYS.setdefault("\x1b\r", (_LegacyAlt.ENTER,))
