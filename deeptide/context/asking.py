"""The shrinkers' way to a model: one question, one text, given to them by whoever may open the network.

Invariant: a failure is an `Answer` with `error`, never an exception; only cancellation passes through.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec

from deeptide.context.window import Window
from deeptide.protocol.messages import Message, ToolSchema
from deeptide.protocol.usage import Money, Usage

_EMPTY = re.compile(
    r"[\W_]*|[<\[({【]+[^\n<>\[\](){}【】]{0,80}[>\])}】]+[.。]?"
    r"|\W*(todo|tbd|n/?a|none|placeholder|no summary|summary|briefing|\.\.\.|待补充|无|略|占位)\W*",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$|[”」』）])|(?<=[。！？])|\n")


class Ask(msgspec.Struct, frozen=True):
    """`model` empty: the session's own. `max_tokens` in tokens, thinking included."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    max_tokens: int = 4_096
    temperature: float | None = None
    effort: str = "off"
    model: str = ""


class Answer(msgspec.Struct, frozen=True):
    """`error` non-empty: there is no answer, and it says why. A called tool is never run."""

    text: str = ""
    finish: str = "stop"
    called_tool: bool = False
    usage: Usage | None = None
    cost: Money | None = None
    error: str = ""


Complete = Callable[[Ask], Awaitable[Answer]]


class Texts(Protocol):
    """Prompt texts by name with their slots filled, as `prompts.library.Library` gives them."""

    def text(self, name: str, /, **slots: str) -> str: ...


class Skipped(msgspec.Struct, frozen=True):
    """Nothing was done to the view. `reason` is one sentence for the user. What was asked may have cost."""

    reason: str
    usage: Usage | None = None
    cost: Money | None = None


class Bill:
    """What a few answers cost together."""

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.cost: Money | None = None

    def add(self, answer: Answer) -> None:
        if answer.usage:
            self.usage = answer.usage + (self.usage or Usage())
        if answer.cost:
            self.cost = answer.cost + self.cost if self.cost else answer.cost


def unusable(answer: Answer) -> str:
    """Why this answer cannot stand for a text, or empty."""
    if answer.error:
        return answer.error
    if answer.called_tool:
        return "it called a tool instead of writing"
    if answer.finish != "stop":
        return "it was cut off" if answer.finish == "length" else f"it ended with `{answer.finish}`"
    if is_placeholder(answer.text):
        return "it was empty or a placeholder"
    return ""


def is_placeholder(text: str) -> bool:
    return _EMPTY.fullmatch(text.strip()) is not None


def room_for(window: Window, used: int, wanted: int) -> int:
    """How many of `wanted` output tokens fit behind a prompt of `used`; 0 when too few to be of use."""
    room = min(wanted, window.size - window.safety - used)
    return room if room >= min(wanted, 512) else 0


def cut_at_sentence(text: str, limit: int, count: Callable[[str], int], marker: str) -> str:
    """`text` within `limit` tokens by `count`, ended at a sentence and `marker`; unchanged if it fits."""
    if count(text) <= limit:
        return text
    budget = max(0, limit - count(marker))
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[:middle]) <= budget:
            low = middle
        else:
            high = middle - 1
    ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, low)]
    cut = ends[-1] if ends and ends[-1] > low // 2 else low
    return f"{text[:cut].rstrip()}\n{marker}"
