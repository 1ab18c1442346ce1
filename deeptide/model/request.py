"""One question to the model, as a value.

Invariant: two equal requests give the same bytes on the wire.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from deeptide.protocol.messages import Message, ToolSchema

Effort = Literal["off", "low", "high", "max"]


class Request(msgspec.Struct, frozen=True):
    """`messages` starts with the system message. `max_tokens` caps the output, reasoning included."""

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    effort: str = "high"
    max_tokens: int = 64_000
    temperature: float | None = None
