"""What the next request will cost.

Invariant: an unknown price is said to be unknown, never shown as zero.
"""

from __future__ import annotations

from datetime import UTC, datetime

from deeptide.commands.command import CommandContext
from deeptide.model.pricing import estimate_cost


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
