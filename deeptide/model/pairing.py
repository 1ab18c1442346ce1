"""Calls and their results, put side by side.

The provider refuses a whole request for one call without a result or one result without its call, and a
session with such a hole could never go on. The log closes its own holes; this is the net below it.

Invariant: in what comes out, every assistant message with calls is followed by exactly one result for each
call, in the order of the calls, and no other tool message exists. A sound list comes out as it was.
"""

from __future__ import annotations

from collections.abc import Sequence

from deeptide.protocol.messages import Message, ToolResult, tool

NO_RESULT = "No result was recorded for this call: it was interrupted, or its result was lost."


def paired(messages: Sequence[Message]) -> list[Message]:
    out: list[Message] = []
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        if message.role == "tool":
            continue
        out.append(message)
        if message.role != "assistant" or not message.tool_calls:
            continue
        results: dict[str, list[ToolResult]] = {}
        while at < len(messages) and messages[at].role == "tool":
            for part in messages[at].parts:
                if isinstance(part, ToolResult):
                    results.setdefault(part.call_id, []).append(part)
            at += 1
        for call in message.tool_calls:
            waiting = results.get(call.id)
            missing = ToolResult(call.id, call.name, NO_RESULT, is_error=True)
            out.append(tool(waiting.pop(0) if waiting else missing))
    return out
