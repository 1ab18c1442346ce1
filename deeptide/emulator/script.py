"""The ways to choose the next answer.

Invariant: a script is a function of (request, number of the request); it keeps no hidden state beyond which
of its lines were used, so a replay of the same requests gets the same answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from deeptide.emulator.says import Call, Fault, Line, Say, Wire, dsml
from deeptide.emulator.script_file import read_lines

__all__ = ["Answerer", "Call", "Fault", "Line", "Say", "Script", "Wire", "dsml", "echo", "last_user_text"]

Answerer = Callable[[dict[str, Any], int], Say]


def last_user_text(request: dict[str, Any]) -> str:
    """The text of the last message with role `user`, parts joined; empty if there is none."""
    for message in reversed(request.get("messages") or []):
        if message.get("role") == "user":
            content = message.get("content")
            if isinstance(content, list):
                return "".join(part.get("text", "") for part in content if isinstance(part, dict))
            return content or ""
    return ""


def echo(request: dict[str, Any], n: int) -> Say:
    """The answer of a service without a script: the user's own words back."""
    text = last_user_text(request)
    return Say(f"You said: {text}", "The user wrote something; I repeat it." if text else "")


class Script:
    """Chooses an answer. Conditional lines are tried in order, then the unconditional ones one after the
    other, then `rest`."""

    def __init__(self, lines: Sequence[Line] = (), rest: Answerer = echo) -> None:
        self._lines = tuple(lines)
        self._rest = rest
        self._used: dict[int, int] = {}

    @classmethod
    def of(cls, says: Sequence[Say], rest: Answerer | None = None) -> Script:
        """The answers in order. After them `rest` answers; by default it says that the script ended."""
        return cls([Line(say) for say in says], rest or _ended)

    @classmethod
    def from_file(cls, path: Path | str) -> Script:
        """JSON lines or TOML (`[[say]]` tables); see `python -m deeptide.emulator --help` for the form."""
        return cls(read_lines(Path(path)))

    def __call__(self, request: dict[str, Any], n: int) -> Say:
        index = self._choose(request, n)
        if index is None:
            return self._rest(request, n)
        self._used[index] = self._used.get(index, 0) + 1
        return self._lines[index].say

    def peek(self, request: dict[str, Any], n: int) -> Say:
        """The answer that a call would give, without using it up."""
        index = self._choose(request, n)
        return self._rest(request, n) if index is None else self._lines[index].say

    def _choose(self, request: dict[str, Any], n: int) -> int | None:
        said = last_user_text(request)
        free: int | None = None
        for index, line in enumerate(self._lines):
            used = self._used.get(index, 0)
            if not line.turn and not line.match:
                if free is None and used < max(1, line.times):
                    free = index
                continue
            if line.times and used >= line.times:
                continue
            if (not line.turn or line.turn == n) and (not line.match or re.search(line.match, said)):
                return index
        return free


def _ended(request: dict[str, Any], n: int) -> Say:
    return Say(f"[emulator] the script has no answer for request {n}.")
