"""What one record contributes to the view, and what a unit of the view is.

Invariant: an entry that came from a record holds exactly what was logged; only `cut` ones differ, and then
the logged original is in `departed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from deeptide.model.tokens import estimate_message
from deeptide.protocol.events import (
    AssistantMessage,
    NoteAppended,
    Record,
    Steered,
    ToolFinished,
    UserMessage,
)
from deeptide.protocol.messages import Message, Part, Text, ToolCall, ToolResult, assistant, tool, user

Kind = Literal["user", "steered", "note", "assistant", "tool", "summary", "pointer", "seed"]
How = Literal["folded", "dropped", "cycle", "rewound"]
SAID: tuple[Kind, ...] = ("user", "steered")
SYNTHETIC: tuple[Kind, ...] = ("summary", "pointer", "seed")


class Entry(msgspec.Struct, frozen=True):
    """One message of the view. `seq` is the event it came from, `tokens` the estimate of the message.

    `anchor` is the place the entry holds against `Compacted.through`: usually its own seq; never falling
    along the view.
    """

    seq: int
    kind: Kind
    message: Message
    tokens: int
    anchor: int


class Departed(msgspec.Struct, frozen=True):
    """A logged entry that is no longer in the view, and how it left. `cycle` counts from 1; `index` is its
    place (from 0) among all that was said in that cycle. Cut entries are here whole, as `dropped`."""

    entry: Entry
    how: How
    cycle: int
    index: int

    @property
    def seq(self) -> int:
        return self.entry.seq


def make(seq: int, kind: Kind, message: Message, anchor: int = -1) -> Entry:
    return Entry(seq, kind, message, estimate_message(message), seq if anchor < 0 else anchor)


def entry_of(record: Record) -> Entry | None:
    """The entry a record adds to the view, or None when it adds none (also: cut or empty responses)."""
    match record.event:
        case UserMessage(text=text):
            return make(record.seq, "user", user(text))
        case Steered(text=text):
            return make(record.seq, "steered", user(text))
        case NoteAppended(text=text):
            return make(record.seq, "note", user(text))
        case AssistantMessage() as event:
            message = viewable(event)
            return make(record.seq, "assistant", message) if message else None
        case ToolFinished(result=result):
            return make(record.seq, "tool", tool(result))
        case _:
            return None


def viewable(event: AssistantMessage) -> Message | None:
    """What of a response belongs in the view: nothing of a cut one, no calls of an interrupted one."""
    message = event.message
    if event.finish == "cut" or not any(part_size(part) for part in message.parts):
        return None
    if event.finish == "interrupted":
        return without_calls(message) if message.text.strip() else None
    return message


def part_size(part: Part) -> int:
    """Characters that a part carries; a call counts even with empty arguments."""
    match part:
        case ToolCall(name=name, arguments=arguments):
            return 1 + len(name) + len(arguments)
        case ToolResult(content=content):
            return 1 + len(content)
        case _:
            return len(part.text)


def without_calls(message: Message, keep: frozenset[int] = frozenset()) -> Message:
    """The message with only those calls whose position among its calls is in `keep`."""
    parts: list[Part] = []
    position = 0
    for part in message.parts:
        if isinstance(part, ToolCall):
            if position in keep:
                parts.append(part)
            position += 1
        else:
            parts.append(part)
    return Message(message.role, tuple(parts))


def cut_parts(message: Message) -> dict[str, str]:
    """What of a message can be shown shortened, by the name that `with_cuts` takes: the one text of a user or
    tool message has the empty name, a response has `thinking`, `text` and its calls' arguments by position."""
    if message.role != "assistant":
        return {"": message.result.content if message.result else message.text}
    parts = {"thinking": message.thinking, "text": message.text}
    parts |= {str(n): call.arguments for n, call in enumerate(message.tool_calls)}
    return {name: text for name, text in parts.items() if text}


def cuts_of(cut: Mapping[str, str]) -> dict[int, dict[str, str]]:
    """`UnitsDropped.cut` by seq and name of the part."""
    found: dict[int, dict[str, str]] = {}
    for key, text in cut.items():
        seq, _, name = key.partition(":")
        found.setdefault(int(seq), {})[name] = text
    return found


def with_cuts(message: Message, cuts: Mapping[str, str]) -> Message:
    """The message showing the texts of `cuts` instead of its own; calls keep their ids and names. The empty
    name in a response stands for all its words, thinking included."""
    if message.role == "tool":
        result = message.result
        assert result is not None
        return tool(msgspec.structs.replace(result, content=cuts.get("", result.content)))
    if message.role != "assistant":
        return Message(message.role, (Text(cuts.get("", message.text)),))
    calls = tuple(
        msgspec.structs.replace(call, arguments=cuts.get(str(n), call.arguments))
        for n, call in enumerate(message.tool_calls)
    )
    if "" in cuts:
        return assistant(cuts[""], calls=calls)
    text, thinking = cuts.get("text", message.text), cuts.get("thinking", message.thinking)
    return assistant(text, thinking=thinking, calls=calls)


def units(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """The view cut into what may leave it only together: one message, or a response with its results."""
    unit: list[Entry] = []
    for entry in entries:
        if entry.kind != "tool" and unit:
            yield unit
            unit = []
        unit.append(entry)
    if unit:
        yield unit


def slots(calls: Sequence[ToolCall], results: Iterable[Entry]) -> list[int]:
    """For each result the position of the call it answers; equal ids are answered in order. -1: none."""
    free: dict[str, list[int]] = {}
    for position, call in enumerate(calls):
        free.setdefault(call.id, []).append(position)
    found: list[int] = []
    for entry in results:
        result = entry.message.result
        waiting = free.get(result.call_id) if result else None
        found.append(waiting.pop(0) if waiting else -1)
    return found


def send(unit: list[Entry]) -> Iterator[Message]:
    """The messages of one unit as a request may carry them: no call without its result."""
    head = unit[0].message
    calls = head.tool_calls if unit[0].kind == "assistant" else ()
    if len(calls) != len(unit) - 1:
        head = without_calls(head, frozenset(slots(calls, unit[1:])))
        if not head.parts:
            return
    yield head
    for entry in unit[1:]:
        yield entry.message
