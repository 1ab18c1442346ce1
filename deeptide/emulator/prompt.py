"""A request as the one text that the model reads, in segments: what is counted and what is cached.

Invariant: order is system, tools, messages, and key order is kept as sent, so any changed byte changes
everything after it.
"""

from __future__ import annotations

import json
from typing import Any

from deeptide.emulator.counting import Count
from deeptide.emulator.rules import thinking_on
from deeptide.emulator.tables import IMAGE_TOKENS

_TOOLS = (
    "\n<|tools|>You may call the functions below. Each is given as a JSON object with its name, what it does "
    "and a JSON schema of its parameters. Answer in words when no function is needed.\n"
)
_IMAGE = "\ue000"


def segments(request: dict[str, Any]) -> list[str]:
    """The prompt of `request`, one string a message; tools stand after the leading system messages."""
    messages = request["messages"]
    offered = bool(request.get("tools")) and request.get("tool_choice") != "none"
    lead = 0
    while lead < len(messages) and messages[lead]["role"] == "system":
        lead += 1
    out = [_mode(request)]
    out += [segment(message, offered) for message in messages[:lead]]
    if offered:
        out.append(_TOOLS + "\n".join(json.dumps(tool, ensure_ascii=False) for tool in request["tools"]))
    out += [segment(message, offered) for message in messages[lead:]]
    return out


def segment(message: dict[str, Any], offered: bool) -> str:
    """One message. Reasoning counts only when tools are offered; otherwise the service ignores it."""
    text = f"\n<|{message['role']}|>"
    if offered and message.get("reasoning_content"):
        text += f"<think>{message['reasoning_content']}</think>"
    content = message.get("content")
    text += content if isinstance(content, str) else _parts(content or [])
    for call in message.get("tool_calls") or []:
        function = call["function"]
        text += f"\n<|call|>{function['name']}\n{function['arguments']}"
    return text


def count_segment(text: str, count: Count) -> int:
    """Tokens of one segment; an image counts as a fixed number."""
    return count(text) + text.count(_IMAGE) * IMAGE_TOKENS


def _parts(parts: list[dict[str, Any]]) -> str:
    out = ""
    for part in parts:
        if part["type"] == "text":
            out += part["text"]
        else:
            source = (
                part.get("image_url", {}).get("url", "") if part["type"] == "image_url" else str(part["file"])
            )
            out += f"{_IMAGE}{len(source)}:{hash_of(source)}"
    return out


def hash_of(source: str) -> str:
    """A short stand-in for bulky data, the same for the same data."""
    total = 0
    for char in source[:256] + source[-256:]:
        total = (total * 131 + ord(char)) % 4_294_967_291
    return f"{total:08x}"


def _mode(request: dict[str, Any]) -> str:
    if not thinking_on(request):
        return "<|begin|>"
    effort = request.get("reasoning_effort") or "high"
    return "<|begin|>" if effort not in ("max", "ultra") else "<|begin|><|effort max|>"
