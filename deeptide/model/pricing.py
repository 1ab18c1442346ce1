"""What a response cost, and what a request will cost.

Invariant: reasoning is inside the completion and hits are inside the prompt; nothing is charged twice. An
unknown price is None, never zero.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from deeptide.model.catalog import ModelSpec, Rates
from deeptide.model.peak_hours import is_peak
from deeptide.protocol.usage import Money, Usage

PER = 1_000_000


class Priced(msgspec.Struct, frozen=True):
    """`money` is None if no price is known for the model, the time and the currency."""

    money: Money | None
    peak: bool = False


def rates_at(spec: ModelSpec, at: datetime, currency: str) -> tuple[Rates | None, bool]:
    """The prices in force at `at` (with a time zone), and whether they are the peak ones."""
    period = spec.period(at)
    if period is None:
        return None, False
    peak = period.peak != 1.0 and is_peak(at)
    rates = period.rates.get(currency)
    return (rates.times(period.peak) if rates and peak else rates), peak


def price(spec: ModelSpec, usage: Usage, at: datetime, currency: str = "USD") -> Priced:
    """`at` is when the request was made. A usage without a split of its prompt is priced as all missed."""
    rates, peak = rates_at(spec, at, currency)
    if rates is None:
        return Priced(None, peak)
    hit = min(usage.hit, usage.prompt)
    amount = hit * rates.hit + (usage.prompt - hit) * rates.miss + usage.completion * rates.output
    return Priced(Money(round(amount / PER, 10), currency), peak)


def estimate_cost(
    spec: ModelSpec, prompt_tokens: int, hit: int, at: datetime, currency: str = "USD"
) -> Money | None:
    """The price of a prompt of which `hit` tokens are read from the cache; its answer is not in it."""
    return price(spec, Usage(prompt=prompt_tokens, hit=hit), at, currency).money
