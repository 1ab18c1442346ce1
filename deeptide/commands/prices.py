"""What the next request will cost, said where the cached prefix was broken and nowhere else.

Invariant: an unknown price is said to be unknown, never shown as zero.
"""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import UTC, datetime

from deeptide.commands.command import CommandContext
from deeptide.commands.results import Text
from deeptide.model.pricing import estimate_cost
from deeptide.protocol.events import Compacted, CompactionUndone, CycleHandedOff, RewindUndone, Rewound

REWRITES = Compacted | CompactionUndone | CycleHandedOff | Rewound | RewindUndone


async def rewritten(context: CommandContext, doing: Awaitable[str]) -> Text:
    """What `doing` says, and the price of the next request if it rewrote the view."""
    records = context.session.records
    before = len(records)
    said = await doing
    done = any(isinstance(record.event, REWRITES) for record in records[before:])
    return Text(f"{said} {next_request(context)}" if done else said)


def cold_price(context: CommandContext, at: datetime | None = None) -> str:
    """One sentence: what a next request costs of which nothing is cached."""
    currency = context.settings.model.currency
    used = context.session.reading().used
    cold = estimate_cost(context.spec, used, 0, at or datetime.now(UTC), currency)
    if cold is None:
        return f"No {currency} price is known for {context.spec.id}."
    return f"That costs about {cold}."


def next_request(context: CommandContext, at: datetime | None = None) -> str:
    """One sentence: tokens of the next prompt, and its price cold (nothing cached) and warm (all of it)."""
    when = at or datetime.now(UTC)
    tokens = context.session.reading().used
    currency = context.settings.model.currency
    cold = estimate_cost(context.spec, tokens, 0, when, currency)
    warm = estimate_cost(context.spec, tokens, tokens, when, currency)
    said = f"The next request reads about {tokens:,} tokens"
    if cold is None or warm is None:
        return f"{said}; no {currency} price is known for {context.spec.id}."
    return f"{said}: {cold} if nothing of it is cached, {warm} if all of it is."
