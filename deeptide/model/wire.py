"""A request as the JSON the provider reads. Pure.

Invariant: equal requests give equal bodies, key order included, so that the provider's cached prefix holds;
what the model wrote goes back byte for byte, except where the provider would refuse the whole request for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from deeptide.model.calls import arguments_object
from deeptide.model.catalog import DEEPSEEK_NAMES
from deeptide.model.pairing import paired
from deeptide.model.request import Request
from deeptide.protocol.messages import Message, ToolCall, ToolResult, ToolSchema
from deeptide.protocol.text import scrub

REASONING_PLACEHOLDER = "(no reasoning was kept for this turn)"
"""Sent as the reasoning of an assistant turn that has none, where the provider demands one. Never stored."""

NO_OUTPUT = "(no output)"
ERROR_MARK = "[ERROR]"

_EFFORTS = {
    "minimal": "low",
    "low": "low",
    "medium": "high",
    "high": "high",
    "xhigh": "high",
    "max": "max",
    "ultra": "max",
}
_NAME = re.compile(r"[^A-Za-z0-9_-]")
_ESCAPED_SURROGATE = re.compile(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)


class Dialect(msgspec.Struct, frozen=True):
    """`deepseek`: thinking switch, efforts and reasoning replay. `openai`: what any compatible server
    takes."""

    name: Literal["deepseek", "openai"]


DEEPSEEK = Dialect("deepseek")
OPENAI = Dialect("openai")


def dialect_for(base_url: str, model: str = "") -> Dialect:
    """DeepSeek's own dialect for its own host, and for its own model names behind any other (a proxy, a
    test)."""
    host = urlsplit(base_url).hostname or ""
    own = host == "deepseek.com" or host.endswith(".deepseek.com")
    return DEEPSEEK if own or model in DEEPSEEK_NAMES else OPENAI


def effort_on_wire(effort: str) -> str:
    """`low`, `high` or `max`; empty for `off`. An unknown word counts as `high`, the provider's default."""
    return "" if effort == "off" else _EFFORTS.get(effort, "high")


def body(request: Request, dialect: Dialect) -> dict[str, Any]:
    """The JSON object to send, in frozen key order. `tool_choice` is never in it: thinking refuses it."""
    thinking = effort_on_wire(request.effort) if dialect.name == "deepseek" else ""
    out: dict[str, Any] = {
        "messages": _messages(request, dialect, demanded=bool(thinking and request.tools)),
        "model": scrub(request.model),
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": request.max_tokens,
    }
    if dialect.name == "deepseek":
        out["thinking"] = {"type": "enabled" if thinking else "disabled"}
        if thinking:
            out["reasoning_effort"] = thinking
    if request.temperature is not None and not thinking:
        out["temperature"] = request.temperature
    if request.tools:
        out["tools"] = [_tool(schema) for schema in request.tools]
    return out


def _messages(request: Request, dialect: Dialect, *, demanded: bool) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for message in paired(request.messages):
        if message.role == "assistant":
            if message.text or message.tool_calls or (message.thinking and dialect.name == "deepseek"):
                out.append(_assistant(message, dialect, demanded=demanded))
        elif message.role == "tool":
            out.extend(_result(part) for part in message.parts if isinstance(part, ToolResult))
        else:
            out.append({"role": message.role, "content": scrub(message.text)})
    return out if dialect.name == "deepseek" else _alternating(out)


def _assistant(message: Message, dialect: Dialect, *, demanded: bool) -> dict[str, Any]:
    out: dict[str, Any] = {"role": "assistant", "content": scrub(message.text)}
    if dialect.name == "deepseek":
        reasoning = scrub(message.thinking) or (REASONING_PLACEHOLDER if demanded else "")
        if reasoning:
            out["reasoning_content"] = reasoning
    if message.tool_calls:
        out["tool_calls"] = [_call(call) for call in message.tool_calls]
    return out


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": _function_name(call.name), "arguments": replayable(call.arguments)}
    return {"id": scrub(call.id), "type": "function", "function": function}


def _function_name(name: str) -> str:
    return _NAME.sub("_", name)[:64] or "unknown"


def replayable(arguments: str) -> str:
    """`arguments` as it was if it is a JSON object; else the object it starts with; else `{}`.

    The provider parses arguments again when they come back, and refuses the request if it cannot.
    """
    text = scrub(arguments)
    if "\\ud" in text or "\\uD" in text:
        text = _ESCAPED_SURROGATE.sub(_paired_escape, text)
    if arguments_object(text) is not None:
        return text
    start = len(text) - len(text.lstrip())
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return "{}"
    head = text[start:end]
    return head if isinstance(value, dict) and arguments_object(head) is not None else "{}"


def _paired_escape(found: re.Match[str]) -> str:
    return found[0] if len(found[0]) != 6 else "\\ufffd"


def _result(result: ToolResult) -> dict[str, Any]:
    content = scrub(result.content) if result.content.strip() else NO_OUTPUT
    if result.is_error and not content.startswith(ERROR_MARK):
        content = f"{ERROR_MARK} {content}"
    return {"role": "tool", "tool_call_id": scrub(result.call_id), "content": content}


def _tool(schema: ToolSchema) -> dict[str, Any]:
    function = {
        "name": _function_name(schema.name),
        "description": scrub(schema.description),
        "parameters": scrubbed(json.loads(bytes(schema.parameters))),
    }
    return {"type": "function", "function": function}


def scrubbed(value: Any) -> Any:
    """A JSON value with every string in it, keys too, made fit for the wire; order is kept."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, dict):
        return {scrub(key): scrubbed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [scrubbed(inner) for inner in value]
    return value


def _alternating(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Consecutive user messages as one, a later system message as a user's: templates elsewhere demand it."""
    out: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "system" and out:
            message = {**message, "role": "user"}
        if message["role"] == "user" and out and out[-1]["role"] == "user":
            joined = f"{out[-1]['content']}\n\n{message['content']}"
            out[-1] = {"role": "user", "content": joined}
        else:
            out.append(message)
    return out


def encode(request: Request, dialect: Dialect) -> bytes:
    """The exact bytes that go out."""
    return json.dumps(
        body(request, dialect), ensure_ascii=False, separators=(",", ":"), allow_nan=False
    ).encode()
