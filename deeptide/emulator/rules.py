"""The second gate: a well-typed request may still be one the service refuses.

Invariant: each rule is one function of the request and raises the service's own text; order is fixed, so one
bad request always gets the same refusal.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from deeptide.emulator.refusals import (
    calls_unanswered,
    choice_in_thinking,
    invalid,
    max_tokens_range,
    nothing_said,
    orphan_result,
    reasoning_missing,
)
from deeptide.emulator.tables import MAX_OUTPUT, MAX_STOPS, MAX_TOOLS, MAX_USER_ID_BYTES

Strict = Literal["tools", "calls", "off"]
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def thinking_on(request: dict[str, Any]) -> bool:
    """Thinking is on unless the request says `disabled`."""
    return (request.get("thinking") or {}).get("type") != "disabled"


def check_rules(request: dict[str, Any], strict: Strict) -> None:
    """Raises Refused. `strict` is the reasoning rule: `tools` wants it on every assistant message when the
    request offers tools, `calls` only on those with tool calls, `off` never."""
    _numbers(request)
    _tools(request)
    if thinking_on(request) and request.get("tool_choice") not in (None, "auto", "none"):
        raise choice_in_thinking()
    messages = request["messages"]
    if not messages:
        raise invalid("Empty input messages")
    _said_something(messages)
    _paired(messages)
    if thinking_on(request) and strict != "off":
        _reasoning(messages, every=strict == "tools" and bool(request.get("tools")))


def _numbers(request: dict[str, Any]) -> None:
    top = request.get("max_tokens")
    if top is not None and not 1 <= top <= MAX_OUTPUT:
        raise max_tokens_range(MAX_OUTPUT)
    for name, low, high in (("temperature", 0, 2), ("top_p", 0, 1), ("presence_penalty", -2, 2),
                            ("frequency_penalty", -2, 2), ("top_logprobs", 0, 20)):  # fmt: skip
        value = request.get(name)
        if value is not None and not low <= value <= high:
            raise invalid(f"Invalid {name} value, the valid range of {name} is [{low}, {high}]")
    stop = request.get("stop")
    if isinstance(stop, list) and len(stop) > MAX_STOPS:
        raise invalid(f"Invalid stop value, at most {MAX_STOPS} stop sequences are allowed")
    if len((request.get("user_id") or "").encode()) > MAX_USER_ID_BYTES:
        raise invalid(f"Invalid user_id value, the maximum length is {MAX_USER_ID_BYTES} bytes")
    if request.get("stream_options") is not None and not request.get("stream"):
        raise invalid("stream_options should be set along with stream = true")


def _tools(request: dict[str, Any]) -> None:
    tools = request.get("tools") or []
    if len(tools) > MAX_TOOLS:
        raise invalid(
            f"Invalid 'tools': array too long. Expected an array with maximum length {MAX_TOOLS}, "
            f"but got an array with length {len(tools)} instead."
        )
    names = [tool["function"]["name"] for tool in tools]
    for index, name in enumerate(names):
        _name(f"tools[{index}].function.name", name)
    if len(set(names)) != len(names):
        raise invalid("Tool names must be unique.")
    for tool in tools:
        parameters = tool["function"].get("parameters")
        if parameters and parameters.get("type") != "object":
            found = parameters.get("type")
            shown = "null" if found is None else found
            raise invalid(
                f"Invalid schema for function '{tool['function']['name']}': schema must be a JSON Schema of "
                f"'type: \"object\"', got 'type: \"{shown}\"'."
            )
    for index, message in enumerate(request["messages"]):
        for place, call in enumerate(message.get("tool_calls") or []):
            _name(f"messages[{index}].tool_calls[{place}].function.name", call["function"]["name"])


def _name(place: str, name: str) -> None:
    if len(name) > 64:
        raise invalid(
            f"Invalid '{place}': string too long. Expected a string with maximum length 64, "
            f"but got a string with length {len(name)} instead."
        )
    if not _NAME.fullmatch(name):
        raise invalid(
            f"Invalid '{place}': string does not match pattern. "
            "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
        )


def _said_something(messages: list[dict[str, Any]]) -> None:
    for message in messages:
        if (
            message["role"] == "assistant"
            and message.get("content") is None
            and not message.get("tool_calls")
        ):
            raise nothing_said()


def _paired(messages: list[dict[str, Any]]) -> None:
    owed: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in owed:
                raise orphan_result()
            owed.discard(message["tool_call_id"])
            continue
        if owed:
            raise calls_unanswered()
        owed = {call["id"] for call in message.get("tool_calls") or []}
    if owed:
        raise calls_unanswered()


def _reasoning(messages: list[dict[str, Any]], every: bool) -> None:
    for message in messages:
        if message["role"] != "assistant" or message.get("prefix"):
            continue
        if (every or message.get("tool_calls")) and not message.get("reasoning_content"):
            raise reasoning_missing()
