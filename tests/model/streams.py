"""Writes response streams as the provider and its gateways send them."""

from __future__ import annotations

import json
from typing import Any

USAGE = {"prompt_tokens": 283, "completion_tokens": 69, "prompt_cache_hit_tokens": 256, "prompt_cache_miss_tokens": 27,
         "completion_tokens_details": {"reasoning_tokens": 24}}  # fmt: skip
DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n\n"


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> bytes:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    value = {"id": "0123456789abcdef", "model": "deepseek-flash", "choices": choices, "usage": None, **more}
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def call(index: int | None, *, arguments: Any = None, **more: Any) -> dict[str, Any]:
    function = {key: more.pop(key) for key in ("name",) if key in more}
    if arguments is not None:
        function["arguments"] = arguments
    fragment = (
        {"function": function, **more} if index is None else {"index": index, "function": function, **more}
    )
    return {"tool_calls": [fragment]}


def answer(*deltas: dict[str, Any], finish: str = "stop", usage: Any = USAGE) -> bytes:
    first = chunk({"role": "assistant", "content": None, "reasoning_content": ""})
    return first + b"".join(map(chunk, deltas)) + chunk({"content": ""}, finish, usage=usage) + DONE
