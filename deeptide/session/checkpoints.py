"""Places in a talk to come back to: named ones by the user, automatic ones before every rewrite.

Invariant: a checkpoint is a position in the log, never a copy, so taking one costs the same at any length. They
live in memory; what survives a restart are the turn boundaries in the log.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from deeptide.protocol.errors import UsageError

NAMED, AUTOMATIC, LABEL = 20, 10, 64
_HEX = re.compile(r"[0-9a-fA-F]{2,8}$")


class Checkpoint(msgspec.Struct, frozen=True):
    """`seq`: the last event before it. `at`: Unix seconds. `messages`: how many were in the view."""

    id: str
    label: str
    seq: int
    at: float
    messages: int
    automatic: bool = False


class Verb(msgspec.Struct, frozen=True):
    """What the argument of `/checkpoint` asks for."""

    name: Literal["save", "list", "drop", "clear", "help"]
    argument: str = ""


def parse_verb(text: str) -> Verb:
    """A verb counts only when it is the whole argument or is followed by what it needs; all else is a label.

    `reset db before migration` and `list of things` are labels; `drop 2` and `save my label` are verbs.
    """
    words = text.strip()
    head, _, rest = words.partition(" ")
    rest = rest.strip()
    if not words:
        return Verb("save")
    match head.lower():
        case "list" | "clear" | "help" if not rest:
            return Verb(head.lower())  # type: ignore[arg-type]
        case "drop" if rest and (len(rest.split()) == 1 or _quoted(rest)):
            return Verb("drop", rest)
        case "drop" if not rest:
            raise UsageError("`drop` needs to know which checkpoint.", "For example /checkpoint drop 2.")
        case "save":
            return Verb("save", rest)
    return Verb("save", words)


def _quoted(text: str) -> str:
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] == '"' else ""


class Checkpoints:
    """At most 20 saved ones and 10 automatic ones; the oldest goes first (FIFO)."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._order: dict[str, int] = {}
        self._saved: list[Checkpoint] = []
        self._automatic: list[Checkpoint] = []

    def save(self, label: str, seq: int, messages: int) -> Checkpoint:
        """Raises UsageError when the label is not one line of at most 64 characters, or is taken."""
        label = _unquote(label.strip())
        if "\n" in label or "\r" in label:
            raise UsageError("A label is one line.", "Leave the line break out.")
        if len(label) > LABEL:
            raise UsageError(
                f"A label has at most {LABEL} characters; this one has {len(label)}.", "Shorten it."
            )
        if label and any(point.label == label for point in self.list()):
            raise UsageError(
                f"A checkpoint is already called {label!r}.", "Take another label, or drop that one first."
            )
        point = self._make(label, seq, messages, False)
        self._saved = [*self._saved, point][-NAMED:]
        return point

    def take(self, reason: str, seq: int, messages: int) -> Checkpoint:
        """An automatic one; `reason` is its label and need not be unique."""
        point = self._make(reason, seq, messages, True)
        self._automatic = [*self._automatic, point][-AUTOMATIC:]
        return point

    def list(self) -> list[Checkpoint]:
        """Oldest first, as numbered from 1."""
        return sorted((*self._saved, *self._automatic), key=lambda point: self._order[point.id])

    def find(self, selector: str) -> Checkpoint:
        """In this order: empty or `latest`; a quoted label; a position `n` or `#n`; an exact label; an 8-hex id;
        an id prefix of at least 2. Raises UsageError with the candidates or the whole list."""
        points, text = self.list(), selector.strip()
        if not points:
            raise UsageError("There are no checkpoints yet.", "Take one with /checkpoint [label].")
        if text in ("", "latest"):
            return points[-1]
        if quoted := _quoted(text):
            return self._only([point for point in points if point.label == quoted], text)
        number = text.removeprefix("#")
        if number.isascii() and number.isdigit() and 1 <= int(number) <= len(points):
            return points[int(number) - 1]
        if labelled := [point for point in points if point.label == text]:
            return labelled[-1]
        if _HEX.match(text):
            return self._only([point for point in points if point.id.startswith(text.lower())], text)
        return self._only([], text)

    def drop(self, selector: str) -> Checkpoint:
        point = self.find(selector)
        self._saved = [other for other in self._saved if other.id != point.id]
        self._automatic = [other for other in self._automatic if other.id != point.id]
        return point

    def clear(self) -> int:
        number = len(self._saved) + len(self._automatic)
        self._saved, self._automatic = [], []
        return number

    def _make(self, label: str, seq: int, messages: int, automatic: bool) -> Checkpoint:
        point = Checkpoint(secrets.token_hex(4), label, seq, self._clock(), messages, automatic)
        # By the order of taking, not by the clock: that may be set back.
        self._order[point.id] = len(self._order)
        return point

    def _only(self, found: Sequence[Checkpoint], text: str) -> Checkpoint:
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(
                f"{text!r} fits {len(found)} checkpoints: {listed(found)}.", "Give more of the id."
            )
        raise UsageError(f"No checkpoint is {text!r}.", f"There are: {listed(self.list())}.")


def _unquote(label: str) -> str:
    return _quoted(label) or label


def listed(points: Sequence[Checkpoint]) -> str:
    return ", ".join(f"{point.id} {point.label!r}" if point.label else point.id for point in points)
