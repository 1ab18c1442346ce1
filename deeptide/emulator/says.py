"""One answer, as values: what is said, how it is cut on its way, and what goes wrong.

Invariant: plain frozen data, convertible from JSON and TOML with strict names.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

FaultKind = Literal[
    "status",
    "reset_before_headers",
    "reset_after_headers",
    "reset",
    "eof",
    "stall",
    "error_object",
    "plain_tail",
    "bad_json",
    "data_comment",
    "wrong_type",
    "gzip",
    "split_utf8",
    "no_done",
    "no_finish",
]
UsageAt = Literal["finish", "trailing", "both", "none"]
CallStyle = Literal["fragments", "whole", "together", "interleaved", "repeat_id", "blank_name", "no_index"]


class Call(msgspec.Struct, frozen=True):
    """One tool call. `args` is an object, or raw text sent as it is (malformed arguments)."""

    name: str
    args: dict[str, Any] | str = {}
    id: str | None = None

    @property
    def arguments(self) -> str:
        return self.args if isinstance(self.args, str) else json.dumps(self.args, ensure_ascii=False)


class Fault(msgspec.Struct, frozen=True):
    """Something going wrong. `at` counts the deltas sent before it (all, if there are fewer). `seconds` bounds
    a stall (below 0: for ever). `status`, `message` and `retry_after` belong to the kind `status`; `message`
    also to `error_object` and `plain_tail`."""

    kind: FaultKind
    at: int = 3
    seconds: float = -1.0
    status: int = 503
    message: str = ""
    retry_after: float | None = None


class Wire(msgspec.Struct, frozen=True):
    """How an answer is cut on its way. `chunk`: characters a delta. `burst`: events a network write when
    nothing is delayed. `split`: bytes a network write (0: whole events). `calls`: gateway habits."""

    chunk: int = 4
    burst: int = 8
    split: int = 0
    usage: UsageAt = "finish"
    calls: CallStyle = "fragments"
    crlf: bool = False


class Say(msgspec.Struct, frozen=True):
    """One answer. `finish` replaces the natural finish reason, `usage` replaces counted fields.

    `delay`: seconds before each delta. `queue`: seconds before the first byte of the answer, with a
    keep-alive each 10 s (600 s closes the connection). `keep_alive`: keep-alives sent at once before it.
    `leak`: the calls are written as DSML into the content, as a broken server does. `model`: the name that
    the response gives, if not the served one.
    """

    text: str = ""
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    finish: str | None = None
    usage: dict[str, int] | None = None
    delay: float = 0.0
    queue: float = 0.0
    keep_alive: int = 0
    fault: Fault | None = None
    leak: bool = False
    wire: Wire | None = None
    model: str = ""


class Line(msgspec.Struct, frozen=True):
    """A `Say` with the condition it waits for. `turn`: the number of the request, from 1. `match`: a regular
    expression searched in the last user message. `times`: how often it may be used (0: without end)."""

    say: Say
    turn: int = 0
    match: str = ""
    times: int = 0


def dsml(calls: Sequence[Call], bar: str = "\uff5c") -> str:
    """Calls in the markup that the model uses inside and that broken servers leak as text."""
    tag = f"{bar}DSML{bar}"
    out = [f"<{tag}tool_calls>"]
    for call in calls:
        out.append(f'<{tag}invoke name="{call.name}">')
        args = call.args if isinstance(call.args, dict) else {"raw": call.args}
        for name, value in args.items():
            is_text = isinstance(value, str)
            shown = value if is_text else json.dumps(value, ensure_ascii=False)
            out.append(
                f'<{tag}parameter name="{name}" string="{str(is_text).lower()}">{shown}</{tag}parameter>'
            )
        out.append(f"</{tag}invoke>")
    out.append(f"</{tag}tool_calls>")
    return "\n".join(out)
