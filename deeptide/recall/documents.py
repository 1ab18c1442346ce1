"""A message as the one text that is searched and shown by recall.

Invariant: everything a message holds is in it, reasoning, calls and results included, so a search misses nothing.
"""

from __future__ import annotations

from deeptide.protocol.messages import Message, Part, ToolCall, ToolResult


def whole_text(message: Message) -> str:
    """The parts in order, a line each: words, reasoning, `tool arguments`, results."""
    return "\n".join(_part(part) for part in message.parts)


def _part(part: Part) -> str:
    match part:
        case ToolCall(name=name, arguments=arguments):
            return f"{name} {arguments}"
        case ToolResult(content=content):
            return content
        case _:
            return part.text
