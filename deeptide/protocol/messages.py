"""What is said in a talk: one message is a role and an ordered tuple of parts.

Invariant: text that came from the model (reasoning, tool arguments) is kept byte for byte, because the
provider requires it back exactly and because the cached prefix depends on it.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Role = Literal["system", "user", "assistant", "tool"]


class Text(msgspec.Struct, frozen=True, tag="text"):
    text: str


class Thinking(msgspec.Struct, frozen=True, tag="thinking"):
    text: str


class ToolCall(msgspec.Struct, frozen=True, tag="tool_call"):
    """A call as the model wrote it. `arguments` is raw JSON text, possibly malformed; never re-encoded."""

    id: str
    name: str
    arguments: str = "{}"


class ToolResult(msgspec.Struct, frozen=True, tag="tool_result", omit_defaults=True):
    """What the model reads back for one call. `spill` is the path of the file holding the uncut output."""

    call_id: str
    name: str
    content: str
    is_error: bool = False
    spill: str = ""


Part = Text | Thinking | ToolCall | ToolResult


class Message(msgspec.Struct, frozen=True):
    """One chat message. A tool message holds exactly one ToolResult; an assistant message may hold
    Thinking, Text and ToolCall parts, in that order."""

    role: Role
    parts: tuple[Part, ...] = ()

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def thinking(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Thinking))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def result(self) -> ToolResult | None:
        return next((part for part in self.parts if isinstance(part, ToolResult)), None)


def system(text: str) -> Message:
    return Message("system", (Text(text),))


def user(text: str) -> Message:
    return Message("user", (Text(text),))


def assistant(text: str = "", *, thinking: str = "", calls: tuple[ToolCall, ...] = ()) -> Message:
    parts: list[Part] = []
    if thinking:
        parts.append(Thinking(thinking))
    if text:
        parts.append(Text(text))
    parts.extend(calls)
    return Message("assistant", tuple(parts))


def tool(result: ToolResult) -> Message:
    return Message("tool", (result,))


class ToolSchema(msgspec.Struct, frozen=True):
    """A tool as offered to the model. `parameters` is a JSON Schema object, already in its frozen key order."""

    name: str
    description: str
    parameters: msgspec.Raw
