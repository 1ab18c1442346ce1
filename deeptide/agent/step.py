"""One request and its answer.

Invariant: a step ends with exactly one AssistantMessage in the log for every answer that was shown, whole,
interrupted or cut; only a whole one (`stop`, `tool_calls`, `length`) is ever acted on.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Literal

import msgspec

from deeptide.agent.equipment import Equipment
from deeptide.context.assemble import Fold
from deeptide.model.pricing import price
from deeptide.model.request import Request
from deeptide.model.stream import Completed, Failed
from deeptide.protocol.errors import ModelError
from deeptide.protocol.events import (
    AssistantMessage,
    Retrying,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from deeptide.protocol.messages import Message, assistant
from deeptide.protocol.usage import Money, Usage


class Answered(msgspec.Struct, frozen=True):
    message: Message
    finish: str


def request_for(fold: Fold) -> Request:
    """The next request: a pure function of the fold, so of the log."""
    return Request(
        model=fold.model,
        messages=fold.messages(),
        tools=fold.tools,
        effort=fold.effort,
        max_tokens=fold.window.reserve,
    )


def priced(gear: Equipment, model: str, usage: Usage | None) -> tuple[Money | None, bool]:
    if usage is None:
        return None, False
    result = price(gear.catalog.resolve(model).spec, usage, datetime.now(UTC), gear.currency)
    return result.money, result.peak


async def take_step(gear: Equipment, turn: int, step: int) -> Answered | ModelError:
    """Send one request and log its answer. Cancellation logs what was shown, then goes on upwards."""
    journal, fold = gear.journal, gear.journal.fold
    journal.record(StepStarted(turn, step, fold.model, fold.effort, fold.used()))
    partial = Partial()
    try:
        client = await gear.client()
        async with aclosing(client.stream(_fitting(gear, request_for(fold)))) as stream:
            async for item in stream:
                match item:
                    case Completed():
                        return _record_answer(gear, item)
                    case Failed():
                        _record_rest(gear, item.partial, "cut")
                        return item.error
                    case Retrying():
                        partial = Partial()
                    case TextDelta() | ThinkingDelta() | ToolCallDelta():
                        partial.add(item)
                journal.publish(item)
    except asyncio.CancelledError:
        _record_rest(gear, partial.message(), "interrupted")
        raise
    except ModelError as error:
        return error
    raise AssertionError("a stream ended without Completed or Failed")


def _fitting(gear: Equipment, request: Request) -> Request:
    """With no more output asked for than the model can give."""
    most = gear.catalog.resolve(request.model).spec.max_output
    return msgspec.structs.replace(request, max_tokens=min(request.max_tokens, most))


class Partial:
    """The answer as shown so far; its unfinished calls are left out because they were never whole."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._thinking: list[str] = []

    def add(self, item: TextDelta | ThinkingDelta | ToolCallDelta) -> None:
        match item:
            case TextDelta(text):
                self._text.append(text)
            case ThinkingDelta(text):
                self._thinking.append(text)
            case ToolCallDelta():
                pass

    def message(self) -> Message:
        return assistant("".join(self._text), thinking="".join(self._thinking))


def _record_answer(gear: Equipment, item: Completed) -> Answered:
    fold = gear.journal.fold
    cost, peak = priced(gear, fold.model, item.usage)
    gear.journal.record(
        AssistantMessage(
            message=item.message,
            finish=item.finish,
            model=item.model or fold.model,
            usage=item.usage,
            cost=cost,
            peak=peak,
            request_id=item.request_id,
            elapsed_ms=item.elapsed_ms,
        )
    )
    return Answered(item.message, item.finish)


def _record_rest(gear: Equipment, message: Message, finish: Literal["interrupted", "cut"]) -> None:
    shown = assistant(message.text, thinking=message.thinking)
    if shown.parts:
        gear.journal.record(AssistantMessage(shown, finish, gear.journal.fold.model))
