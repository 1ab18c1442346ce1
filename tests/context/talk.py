"""Building small logs by hand, and a model that answers what it is told to."""

from __future__ import annotations

import json
from collections.abc import Iterable

from deeptide.context.asking import Answer, Ask
from deeptide.context.assemble import Fold
from deeptide.protocol.events import (
    DURABLE,
    AssistantMessage,
    Finish,
    Record,
    SessionStarted,
    StepStarted,
    ToolFinished,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from deeptide.protocol.messages import ToolCall, ToolResult, assistant
from deeptide.protocol.usage import Usage


def started(window: int = 131_072, workspace: str = "/w") -> SessionStarted:
    return SessionStarted(
        "s1", workspace, "You are an agent.", (), "deepseek-flash", "high", "ask", "0", window
    )


def fold_of(events: Iterable[DURABLE]) -> Fold:
    return Fold.of(Record(seq, float(seq), event) for seq, event in enumerate(events, 1))


def call(id: str, name: str = "read", **arguments: str) -> ToolCall:
    return ToolCall(id, name, json.dumps(arguments))


def said(
    text: str = "", *calls: ToolCall, thinking: str = "", finish: Finish = "stop", usage: Usage | None = None
) -> AssistantMessage:
    return AssistantMessage(assistant(text, thinking=thinking, calls=calls), finish, "deepseek-flash", usage)


def result(id: str, text: str, name: str = "read", *, error: bool = False, summary: str = "") -> ToolFinished:
    value = ToolResult(id, name, text, is_error=error)
    return ToolFinished(value, "error" if error else "ok", summary=summary)


def turn(number: int, words: str, steps: int = 1, size: int = 400) -> list[DURABLE]:
    """A turn of `steps` file reads of `size` characters each and an answer."""
    events: list[DURABLE] = [UserMessage(words), TurnStarted(number)]
    for step in range(1, steps + 1):
        id = f"t{number}s{step}"
        events += [
            StepStarted(number, step, "deepseek-flash", "high"),
            said("", call(id, path=f"src/f{number}_{step}.py"), thinking="let me look", finish="tool_calls"),
            result(id, f"content {id} " + "word " * (size // 5)),
        ]
    events += [StepStarted(number, steps + 1, "deepseek-flash", "high"), said(f"answer {number}")]
    return [*events, TurnEnded(number, "done")]


def session(turns: int, steps: int = 1, size: int = 400, window: int = 131_072) -> list[DURABLE]:
    events: list[DURABLE] = [started(window)]
    for number in range(1, turns + 1):
        events += turn(number, f"please do thing number {number}", steps, size)
    return events


class Writer:
    """A model that gives the answers it was made with, in order, and keeps what it was asked."""

    def __init__(self, *answers: Answer | str) -> None:
        self._answers = list(answers)
        self.asked: list[Ask] = []

    async def __call__(self, ask: Ask) -> Answer:
        self.asked.append(ask)
        answer = self._answers.pop(0)
        return Answer(text=answer, usage=Usage(100, 10, 90, 10)) if isinstance(answer, str) else answer
