"""An answer as the events of a stream, or as one JSON body.

Order: role, reasoning, content, calls, finish (with usage), trailing usage, `[DONE]`. Invariant: joined over
any chunk size the deltas give back exactly the answer's parts. The hot path formats strings, so an answer of
100,000 tokens costs little.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from deeptide.emulator.answer import Answer
from deeptide.emulator.says import Wire

FINGERPRINT = "fp_deeptide_emulator"


class Frame(NamedTuple):
    """One `data:` line's payload. `role` opens, `delta` carries a piece of the answer, `end` is what follows."""

    data: str
    kind: Literal["role", "delta", "end"]


def frames(answer: Answer, wire: Wire) -> Iterator[Frame]:
    head = (
        f'{{"id":"{answer.id}","object":"chat.completion.chunk","created":{answer.created},'
        f'"model":{_json(answer.model)},"system_fingerprint":"{FINGERPRINT}",'
    )
    opened = head + '"choices":[{"index":0,"delta":'
    closed = ',"logprobs":null,"finish_reason":null}],"usage":null}'
    first = '"content":null,"reasoning_content":""' if answer.thinks else '"content":""'
    yield Frame(f'{opened}{{"role":"assistant",{first}}}{closed}', "role")
    size = max(1, wire.chunk)
    for piece in _pieces(answer.thinking, size):
        yield Frame(f'{opened}{{"content":null,"reasoning_content":{_json(piece)}}}{closed}', "delta")
    rest = ',"reasoning_content":null' if answer.thinks else ""
    for piece in _pieces(answer.text, size):
        yield Frame(f'{opened}{{"content":{_json(piece)}{rest}}}{closed}', "delta")
    for calls in _call_deltas(answer, wire, size):
        yield Frame(f'{opened}{{"tool_calls":{_json(calls)}}}{closed}', "delta")
    usage = _json(answer.usage)
    attached = usage if wire.usage in ("finish", "both") else "null"
    yield Frame(
        f'{opened}{{"content":""{rest}}},"logprobs":null,"finish_reason":{_json(answer.finish)}}}],'
        f'"usage":{attached}}}',
        "end",
    )
    if wire.usage in ("trailing", "both"):
        yield Frame(f'{head}"choices":[],"usage":{usage}}}', "end")
    yield Frame("[DONE]", "end")


def whole(answer: Answer) -> bytes:
    """The body of a reply that is not streamed."""
    message = answer.message()
    for call in message.get("tool_calls", []):
        call.pop("index")
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": answer.finish}
    reply = {
        "id": answer.id,
        "object": "chat.completion",
        "created": answer.created,
        "model": answer.model,
        "choices": [choice],
        "usage": answer.usage,
        "system_fingerprint": FINGERPRINT,
    }
    return _json(reply).encode()


def _call_deltas(answer: Answer, wire: Wire, size: int) -> Iterator[list[dict[str, Any]]]:
    if wire.calls in ("whole", "together"):
        full = [_start(n, id_, name, arguments) for n, (id_, name, arguments) in enumerate(answer.calls)]
        yield from [full] if wire.calls == "together" and full else [[one] for one in full]
        return
    lanes = [list(_fragments(n, call, wire, size)) for n, call in enumerate(answer.calls)]
    if wire.calls == "interleaved":
        for step in range(max(map(len, lanes), default=0)):
            yield from ([lane[step]] for lane in lanes if step < len(lane))
        return
    for lane in lanes:
        yield from ([fragment] for fragment in lane)


def _fragments(index: int, call: tuple[str, str, str], wire: Wire, size: int) -> Iterator[dict[str, Any]]:
    id_, name, arguments = call
    yield _strip(_start(index, id_, name, ""), wire)
    for piece in _pieces(arguments, size):
        if wire.calls == "repeat_id":
            yield _start(index, id_, name, piece)
        elif wire.calls == "blank_name":
            yield {"index": index, "id": "", "function": {"name": "", "arguments": piece}}
        else:
            yield _strip({"index": index, "function": {"arguments": piece}}, wire)


def _start(index: int, id_: str, name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"index": index, "id": id_, "type": "function", "function": function}


def _strip(fragment: dict[str, Any], wire: Wire) -> dict[str, Any]:
    if wire.calls == "no_index":
        fragment.pop("index")
    return fragment


def _pieces(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


_plain = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_escaped = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


def _json(value: Any) -> str:
    """Compact JSON; a lone surrogate in a script goes out as an escape, since UTF-8 cannot hold it."""
    out = _plain(value)
    return out if out.isascii() or not _has_surrogate(out) else _escaped(value)


def _has_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
