"""Small builders for scripted answers and for requests sent straight to the emulator.

Invariant: real pieces only; a script here is an ordinary `Script` of `Say` values.
"""

from __future__ import annotations

import json
from typing import Any

import httpx

from deeptide.emulator.emulator import Emulator
from deeptide.emulator.script import Call, Say, Script
from deeptide.emulator.transport import EmulatorTransport


def say(text: str, thinking: str = "") -> Say:
    return Say(text, thinking)


def calls(*items: tuple[str, dict[str, Any]], text: str = "", thinking: str = "I look.") -> Say:
    """An answer that calls the named tools with the given arguments."""
    return Say(text, thinking, tuple(Call(name, args) for name, args in items))


def talk(*says: Say | str) -> Script:
    """The answers in order; a plain string is an answer of text alone."""
    return Script.of([one if isinstance(one, Say) else Say(one) for one in says])


def transport(*says: Say | str, **settings: Any) -> EmulatorTransport:
    """A transport in front of an emulator that plays these answers; see `transport.emulator.requests`."""
    return EmulatorTransport(Emulator(talk(*says), **settings))


def request(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A chat request for `deepseek-flash`; without messages the user says hello."""
    said = list(messages) or [{"role": "user", "content": "hello"}]
    return {"model": "deepseek-flash", "messages": said, **fields}


def tool(name: str = "read", **fields: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"path": {"type": "string"}}}
    return {
        "type": "function",
        "function": {"name": name, "description": "d", "parameters": parameters, **fields},
    }


async def post(
    emulator: Emulator, body: Any, path: str = "/chat/completions", key: str = "k"
) -> httpx.Response:
    """Sends `body` (bytes, or something to be made JSON) through the in-process transport."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    async with httpx.AsyncClient(transport=EmulatorTransport(emulator), base_url="http://emulator") as client:
        return await client.post(path, content=content, headers=headers)


def events(data: bytes) -> list[dict[str, Any]]:
    """The JSON payloads of a stream, `[DONE]` and comments left out."""
    lines = data.decode().replace("\r\n", "\n").split("\n")
    return [json.loads(line[6:]) for line in lines if line.startswith("data: ") and line != "data: [DONE]"]
