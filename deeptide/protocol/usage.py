"""Tokens and money as counted by the provider and priced by the catalogue.

Invariant: `prompt` = `hit` + `miss`, and `completion` already includes reasoning; nobody adds them again.
"""

from __future__ import annotations

import msgspec


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Token counts of one response. All fields in tokens."""

    prompt: int = 0
    completion: int = 0
    hit: int = 0
    miss: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        return self.prompt + self.completion

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.hit + other.hit,
            self.miss + other.miss,
            self.reasoning + other.reasoning,
        )


class Money(msgspec.Struct, frozen=True):
    """An amount in one currency (`USD` or `CNY`). Adding two currencies is a programming error."""

    amount: float = 0.0
    currency: str = "USD"

    def __add__(self, other: Money) -> Money:
        if not self.amount:
            return other
        if other.amount and other.currency != self.currency:
            raise ValueError(f"cannot add {other.currency} to {self.currency}")
        return Money(self.amount + other.amount, self.currency)

    def __str__(self) -> str:
        sign = {"USD": "$", "CNY": "¥"}.get(self.currency, self.currency + " ")
        return f"{sign}{self.amount:.{_decimals(abs(self.amount))}f}"


def _decimals(amount: float) -> int:
    """Two from 10 up (and for nothing at all), else four, and as many more as show two figures that count."""
    if not amount or amount >= 10:
        return 2
    # Rounded first: 0.00009996 has two figures at four zeros, not at five.
    power = int(f"{amount:.1e}".partition("e")[2])
    return max(4, min(1 - power, 12))
