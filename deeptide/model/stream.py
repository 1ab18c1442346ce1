"""The events of one streamed response, put together into one message.

Invariant: for the same events the result is the same; only a response that named its finish (and, where the
provider promises it, said `[DONE]`) is Completed; no tool call leaves a response that was not whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from deeptide.model import sse
from deeptide.model.calls import Calls
from deeptide.model.errors import BadRequest, MalformedAnswer, ProviderError, ServerFault, StreamCut
from deeptide.model.faults import described, from_stream
from deeptide.model.leaks import Echo, Markup
from deeptide.model.wire import REASONING_PLACEHOLDER
from deeptide.protocol.events import TextDelta, ThinkingDelta, ToolCallDelta
from deeptide.protocol.messages import Message, ToolCall, assistant
from deeptide.protocol.text import scrub
from deeptide.protocol.usage import Usage

Delta = TextDelta | ThinkingDelta | ToolCallDelta
WholeFinish = Literal["stop", "tool_calls", "length", "content_filter"]

_FINISHES: dict[str, WholeFinish] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
}
_TRANSIENT = {
    "insufficient_system_resource": "The provider ran out of resources in the middle of the answer.",
    "aborted": "The provider aborted the answer.",
    "error": "The provider broke off the answer.",
}


@dataclass(frozen=True)
class Completed:
    """A whole response. `finish` is `length` or `content_filter` if the model was stopped: the message then
    holds no calls, and those it was writing are in `unfinished`. `usage` is None if the provider counted
    nothing."""

    message: Message
    usage: Usage | None
    finish: WholeFinish
    model: str
    request_id: str = ""
    elapsed_ms: int = 0
    unfinished: tuple[ToolCall, ...] = ()
    fingerprint: str = ""


@dataclass(frozen=True)
class Failed:
    """No whole response. `partial` holds the thinking and text that arrived in the last attempt, never a
    call."""

    error: ProviderError
    partial: Message = field(default_factory=assistant)
    usage: Usage | None = None
    request_id: str = ""
    elapsed_ms: int = 0


MOST_TOKENS = 100_000_000


def read_usage(value: Mapping[str, Any]) -> Usage:
    """Token counts from a `usage` object; a provider that does not split the prompt has only missed."""
    prompt, completion = _count(value.get("prompt_tokens")), _count(value.get("completion_tokens"))
    hit = _count(value.get("prompt_cache_hit_tokens")) or _inner(
        value, "prompt_tokens_details", "cached_tokens"
    )
    hit = min(hit, prompt)
    return Usage(
        prompt=prompt,
        completion=completion,
        hit=hit,
        miss=prompt - hit,
        reasoning=_inner(value, "completion_tokens_details", "reasoning_tokens"),
    )


def _inner(value: Mapping[str, Any], key: str, name: str) -> int:
    details = value.get(key)
    return _count(details.get(name)) if isinstance(details, Mapping) else 0


def _count(value: object) -> int:
    """Zero for what is no count: negative, infinite, not a number, or more than any model could have."""
    return int(value) if isinstance(value, int | float) and 0 < value < MOST_TOKENS else 0


class _Channel:
    """Text of one kind: a surrogate pair split over two deltas is joined, nothing else is changed."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._high = ""

    def add(self, text: str) -> str:
        text = self._high + text
        self._high = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._high = text[:-1], text[-1]
        text = scrub(text)
        self.parts.append(text)
        return text

    def close(self) -> str:
        held, self._high = scrub(self._high), ""
        self.parts.append(held)
        return held

    @property
    def text(self) -> str:
        return "".join(self.parts)


class Assembly:
    """Feed it the events of one response, then `end` it once.

    `tools`: whether tools were offered (only then can their markup leak). `require_done`: whether a response
    without `[DONE]` is cut.
    """

    def __init__(self, *, tools: bool = True, require_done: bool = True) -> None:
        self.done = False
        self.began = False
        self._require_done = require_done
        self._thinking, self._text, self._calls = _Channel(), _Channel(), Calls()
        self._echo = Echo(REASONING_PLACEHOLDER)
        self._said_echo = Echo(REASONING_PLACEHOLDER)
        self._markup = Markup() if tools else None
        self._finish = ""
        self._error: ProviderError | None = None
        self._usage: Usage | None = None
        self._id = self._model = self._fingerprint = ""
        self._strays: list[str] = []

    @property
    def broken(self) -> bool:
        """An error has been seen: nothing that follows can make the response whole."""
        return self._error is not None

    def interrupt(self, error: ProviderError) -> None:
        """The transport failed; that counts unless the response was whole by then."""
        whole = bool(self._finish) and (self.done or not self._require_done)
        if self._error is None and not whole:
            self._error = error

    def feed(self, event: sse.Event) -> list[Delta]:
        """What became visible through this event. Nothing counts after `[DONE]` or an error."""
        if self.done or self._error is not None or isinstance(event, sse.Comment):
            return []
        if isinstance(event, sse.Stray):
            self._strays.append(event.text)
            return []
        return self._data(event)

    def _data(self, event: sse.Data) -> list[Delta]:
        text = event.text.strip()
        if text == "[DONE]":
            self.done = True
            return []
        if not text or text.startswith(":"):
            return []
        values = _json_values(text)
        if values is None:
            said = described(text)
            self._error = (
                from_stream({"message": said})
                if event.name == "error"
                else StreamCut(f"The answer broke off: what came is not JSON ({said})")
            )
            return []
        deltas: list[Delta] = []
        for value in values:
            self._chunk(value, event.name, deltas)
        return deltas

    def _chunk(self, chunk: object, name: str, deltas: list[Delta]) -> None:
        if not isinstance(chunk, Mapping):
            return
        if chunk.get("error") or name == "error":
            self._error = from_stream(chunk)
            return
        self.began = True
        self._id = _string(chunk, "id") or self._id
        self._model = _string(chunk, "model") or self._model
        self._fingerprint = _string(chunk, "system_fingerprint") or self._fingerprint
        if isinstance(chunk.get("usage"), Mapping):
            self._usage = read_usage(chunk["usage"])
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, Mapping) and choice.get("index") in (0, None):
                self._choice(choice, deltas)

    def _choice(self, choice: Mapping[str, Any], deltas: list[Delta]) -> None:
        delta = choice.get("delta")
        if delta is None:
            delta = choice.get("message")
        if isinstance(delta, Mapping):
            self._delta(delta, deltas)
        self._finish = _string(choice, "finish_reason") or self._finish
        if isinstance(choice.get("usage"), Mapping):
            self._usage = read_usage(choice["usage"])

    def _delta(self, delta: Mapping[str, Any], deltas: list[Delta]) -> None:
        thinking = _string(delta, "reasoning_content") or _string(delta, "reasoning")
        if thinking:
            self._show(ThinkingDelta, self._thinking.add(self._echo.feed(thinking)), deltas)
        text, fragments = _string(delta, "content"), delta.get("tool_calls")
        if text or fragments:
            self._show(ThinkingDelta, self._thinking.add(self._echo.close()), deltas)
        if text:
            text = self._said_echo.feed(text)
            self._show(TextDelta, self._text.add(self._markup.feed(text) if self._markup else text), deltas)
        for fragment in fragments if isinstance(fragments, list) else ():
            if isinstance(fragment, Mapping):
                slot = self._calls.add(fragment)
                deltas.append(ToolCallDelta(slot.index, scrub(slot.name), slot.size))

    @staticmethod
    def _show(kind: type[TextDelta | ThinkingDelta], text: str, deltas: list[Delta]) -> None:
        if text:
            deltas.append(kind(text))

    def flush(self) -> list[Delta]:
        """What was held back and can now be shown, since nothing more comes."""
        deltas: list[Delta] = []
        self._body_without_events(deltas)
        held = self._said_echo.close()
        if self._markup:
            held = self._markup.feed(held) + self._markup.close()
        self._show(ThinkingDelta, self._thinking.add(self._echo.close()) + self._thinking.close(), deltas)
        self._show(TextDelta, self._text.add(held) + self._text.close(), deltas)
        return deltas

    def _body_without_events(self, deltas: list[Delta]) -> None:
        """A gateway that ignores `stream` answers with one JSON body; an error may come so with status
        200."""
        if self.began or self._error is not None or not self._strays:
            return
        values = _json_values("\n".join(self._strays))
        for value in values or ():
            self._chunk(value, "", deltas)
        self.done = self.done or self.began

    def end(self, *, request_id: str = "", elapsed_ms: int = 0) -> Completed | Failed:
        """The result, after `flush`. `elapsed_ms` is only carried through."""
        calls = self._calls.finish(self._id[-8:])
        error = self._verdict(calls)
        if error is not None:
            error.request_id = error.request_id or request_id
            return Failed(error, self.partial(), self._usage, request_id, elapsed_ms)
        finish = _FINISHES[self._finish]
        whole = finish in ("stop", "tool_calls")
        if whole:
            finish = "tool_calls" if calls else "stop"
        return Completed(
            assistant(self._text.text, thinking=self._thinking.text, calls=calls if whole else ()),
            self._usage,
            finish,
            self._model,
            request_id or self._id,
            elapsed_ms,
            () if whole else calls,
            self._fingerprint,
        )

    def partial(self) -> Message:
        """The thinking and text so far, without any call."""
        return assistant(self._text.text, thinking=self._thinking.text)

    def _verdict(self, calls: tuple[ToolCall, ...]) -> ProviderError | None:
        """Why the response is no whole answer, None if it is one."""
        if self._error is not None:
            return self._error
        if not self.began and " ".join(self._strays).lstrip().startswith("<"):
            said = described("\n".join(self._strays))
            return BadRequest(f"A web page came instead of an answer: {said}", "Check the base URL.")
        if not self._finish or (self._require_done and not self.done):
            return StreamCut(self._cut_reason())
        if self._finish in _TRANSIENT:
            return ServerFault(_TRANSIENT[self._finish])
        if self._finish not in _FINISHES:
            return MalformedAnswer(
                f"The answer ended for a reason that is not known: {described(self._finish)}"
            )
        if self._markup and self._markup.leaked and not calls:
            return MalformedAnswer("The model wrote its tool call as text, so that it could not be run.")
        if any(not call.name for call in calls):
            return MalformedAnswer("The model called a tool without naming it.")
        if _FINISHES[self._finish] == "tool_calls" and not calls and not self._text.text:
            return MalformedAnswer("The model announced a tool call and made none.")
        return None

    def _cut_reason(self) -> str:
        if self._strays:
            return f"The answer broke off with: {described(' '.join(self._strays))}"
        if not self.began:
            return "The connection closed before the answer began."
        return "The answer broke off before its end."


def _string(value: Mapping[str, Any], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


def _json_values(text: str) -> list[Any] | None:
    """The JSON value of an event, or those of its lines if an event holds several; None if it is not JSON."""
    value = _json(text)
    if value is not _BAD:
        return [value]
    lines = [line for line in text.split("\n") if line.strip() and line.strip() != "[DONE]"]
    values = [_json(line) for line in lines]
    return None if not values or _BAD in values else values


_BAD = object()


def _json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        pass
    try:
        # msgspec refuses lone surrogate escapes, of which a pair may be split over two deltas.
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return _BAD
