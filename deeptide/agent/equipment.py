"""Everything one agent works with, handed over by wiring.

Invariant: the agent constructs none of it, so a test or a sub-agent can give it other real parts.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from deeptide.agent.inbox import Inbox
from deeptide.agent.journal import Journal
from deeptide.agent.limits import Limits
from deeptide.model.catalog import Catalog
from deeptide.model.request import Request
from deeptide.model.stream import Completed, Failed
from deeptide.permissions.gate import Gate
from deeptide.permissions.policy import Policy
from deeptide.protocol.approvals import Approval, Decision
from deeptide.protocol.events import Retrying, TextDelta, ThinkingDelta, ToolCallDelta
from deeptide.tools.registry import Registry
from deeptide.tools.tool import ToolContext

Emit = Callable[[str], None]
Ask = Callable[[Approval], Awaitable[Decision]]
StreamItem = TextDelta | ThinkingDelta | ToolCallDelta | Retrying | Completed | Failed


class ModelClient(Protocol):
    def stream(self, request: Request) -> AsyncGenerator[StreamItem, None]:
        """Live items, then exactly one Completed or Failed."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True)
class Equipment:
    """`client` is awaited because the model library is imported after the first paint.
    `context_for(call_id, emit, ask)` makes the context of one tool call. `report_crash` writes a fault of
    ours to a file and returns its path."""

    journal: Journal
    client: Callable[[], Awaitable[ModelClient]]
    catalog: Catalog
    currency: str
    registry: Registry
    policy: Policy
    gate: Gate
    context_for: Callable[[str, Emit, Ask], ToolContext]
    limits: Limits
    report_crash: Callable[[BaseException], str]
    result_cap: int = 24_000
    inbox: Inbox = field(default_factory=Inbox)
