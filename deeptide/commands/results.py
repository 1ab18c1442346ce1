"""What a command answers, as values that any front end can act on.

Invariant: plain frozen data. Whoever draws them decides how; none carries a callback.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Text:
    """Markdown to show. A single sentence has no title."""

    markdown: str
    title: str = ""


@dataclass(frozen=True)
class Open:
    """A screen to open: sessions, rewind, help, model, effort, login. `argument` is what it starts with."""

    screen: str
    argument: str = ""


@dataclass(frozen=True)
class Switch:
    """Another session to change to: a new one, or the stored one with the id `argument`."""

    to: Literal["new", "resume"]
    argument: str = ""


@dataclass(frozen=True)
class Submit:
    """Words to be said as if the user had typed them."""

    text: str


@dataclass(frozen=True)
class Confirm:
    """A question to put to the user; on yes, `line` is dispatched."""

    question: str
    line: str


@dataclass(frozen=True)
class Copy:
    """Text for the clipboard. `what` names it for the remark that it was copied: `the last answer`."""

    text: str
    what: str = ""


@dataclass(frozen=True)
class Quit:
    """Leave the program."""


@dataclass(frozen=True)
class Nothing:
    """It is done, and what happened is seen by itself."""


Result = Text | Open | Switch | Submit | Confirm | Copy | Quit | Nothing
