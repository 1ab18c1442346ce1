"""How a headless run is written: an answer for people, one object or a line per event for programs.

Invariant: standard output holds nothing but the format; every line of stream-json is one JSON object with a
`type`, and both machine formats end with the same result object, also when the run failed before it began.
"""

from __future__ import annotations

from typing import Literal, Protocol, TextIO

import msgspec

from deeptide.headless.exits import Exit
from deeptide.protocol.approvals import Approval
from deeptide.protocol.events import (
    ApprovalRequested,
    AssistantMessage,
    Compacted,
    ContextWarning,
    CycleHandedOff,
    Event,
    HistoryRepaired,
    Notice,
    Record,
    Retrying,
    ToolFinished,
    ToolStarted,
    UnitsDropped,
    encode_event,
)
from deeptide.protocol.text import clean
from deeptide.protocol.usage import Money, Usage

Output = Literal["text", "json", "stream-json"]
Item = Record | Event


class Header(msgspec.Struct, frozen=True, tag="session", tag_field="type"):
    """The first line of stream-json."""

    session: str
    workspace: str
    model: str
    effort: str
    mode: str
    resumed: bool


class Denied(msgspec.Struct, frozen=True):
    """A call that would have needed a human. `rule` is what to allow."""

    tool: str
    title: str
    rule: str
    reason: str


class Result(msgspec.Struct, frozen=True, tag="result", tag_field="type"):
    """What a run came to. `usage` and `cost` are of this run (`cost` is null when no price is
    known); `session_cost` is of the session so far.
    `steps` counts requests to the model. `error` and `advice` are empty unless something went wrong."""

    session: str
    answer: str
    reason: str
    exit_code: int
    model: str = ""
    steps: int = 0
    usage: Usage = Usage()
    cost: Money | None = None
    session_cost: Money | None = None
    elapsed_ms: int = 0
    denied: tuple[Denied, ...] = ()
    error: str = ""
    advice: str = ""


class Writer(Protocol):
    """One format. `header` comes once before any `see`; `result` once at the end, with or without them."""

    def header(self, header: Header) -> None: ...
    def see(self, item: Item) -> None: ...
    def denied(self, approval: Approval, reason: str) -> None: ...
    def result(self, result: Result) -> None: ...


class TextWriter:
    """The answer to `out`; what goes on meanwhile to `progress`."""

    def __init__(self, out: TextIO, progress: TextIO) -> None:
        self._out = out
        self._progress = progress
        self._titles: dict[str, str] = {}
        self._denied: set[str] = set()

    def header(self, header: Header) -> None:
        state = "resumed" if header.resumed else "new"
        self._say(f"session {header.session} ({state}) · {header.model} · {header.effort} · {header.mode}")

    def see(self, item: Item) -> None:
        line = self._line(item.event if isinstance(item, Record) else item)
        if line:
            self._say(line)

    def denied(self, approval: Approval, reason: str) -> None:
        self._denied.add(approval.call_id)
        self._say(f"  denied: {reason}")

    def result(self, result: Result) -> None:
        if result.answer:
            self._out.write(clean(result.answer).rstrip("\n") + "\n")
            self._out.flush()
        if result.error:
            self._say("\n".join(part for part in (f"error: {result.error}", result.advice) if part))
        if result.session:
            usage = result.usage
            hit = f", {100 * usage.hit // usage.prompt} % from cache" if usage.prompt else ""
            self._say(
                f"{result.reason} · {result.steps} {_requests(result.steps)} · {usage.prompt:,} tokens in{hit}, "
                f"{usage.completion:,} out · {result.cost or 'price unknown'} · session {result.session}"
            )

    def _line(self, event: Event) -> str:
        match event:
            case ToolStarted(call_id, _, title):
                self._titles[call_id] = title
                return f"• {title}"
            case ToolFinished(result, status) if status != "ok" and result.call_id not in self._denied:
                first = result.content.strip().split("\n", 1)[0][:200]
                return f"  {status}: {self._titles.get(result.call_id, result.name)}: {first}"
            case AssistantMessage(message) if message.tool_calls and message.text.strip():
                return message.text.strip()
            case Retrying(attempt, of, delay, reason):
                return f"trying again in {delay:.0f} s ({attempt} of {of}): {reason}"
            case Notice(text, _, advice):
                return f"{text} {advice}".rstrip()
            case HistoryRepaired(detail):
                return detail
            case ContextWarning(tier, percent, used, usable):
                return f"context {percent:.0f} % full ({used:,} of {usable:,} tokens; warning at {tier} %)"
            case Compacted() | UnitsDropped() | CycleHandedOff():
                return f"context shrunk: {event.tokens_before:,} → {event.tokens_after:,} tokens"
        return ""

    def _say(self, text: str) -> None:
        self._progress.write(clean(text) + "\n")
        self._progress.flush()


class JsonWriter:
    """One object, the Result, when all is over."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def header(self, header: Header) -> None:
        pass

    def see(self, item: Item) -> None:
        pass

    def denied(self, approval: Approval, reason: str) -> None:
        pass

    def result(self, result: Result) -> None:
        self._out.write(_line(msgspec.json.encode(result)))
        self._out.flush()


class StreamWriter(JsonWriter):
    """A Header, then every event as it happens, then the Result: one object a line.

    Events are those of `protocol.events`, so a reader in Python decodes a line with `decode_event`.
    """

    def header(self, header: Header) -> None:
        self._put(msgspec.json.encode(header))

    def see(self, item: Item) -> None:
        self._put(encode_event(item.event if isinstance(item, Record) else item))

    def _put(self, data: bytes) -> None:
        self._out.write(_line(data))
        self._out.flush()


def _requests(number: int) -> str:
    return "request" if number == 1 else "requests"


def writer_for(output: str, out: TextIO, progress: TextIO) -> Writer:
    """The writer of one `--output`."""
    if output == "json":
        return JsonWriter(out)
    return StreamWriter(out) if output == "stream-json" else TextWriter(out, progress)


def denial(event: ApprovalRequested) -> Denied:
    """An approval nobody can give, as a value for the result."""
    approval = event.approval
    return Denied(approval.tool, approval.title, approval.scope, approval.reason)


def failed(error: str, advice: str, code: Exit | int, session: str = "") -> Result:
    """A Result for a run that never came to a turn."""
    return Result(session, "", "error", int(code), error=error, advice=advice)


def _line(data: bytes) -> str:
    return data.decode("utf-8") + "\n"
