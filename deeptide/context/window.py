"""The context window: what of it is usable, how full it is, and when to speak about it.

Invariant: every percentage shown or compared anywhere is of `usable`, and each tier speaks once until the
view changes.
"""

from __future__ import annotations

import msgspec

TIERS = (80, 90, 95)
MAX_RESERVE = 64_000
SAFETY = 1_024
ESTIMATE_ERROR = 18
"""Percent by which a count may exceed our estimate: the estimator is within 15 % of the provider's count."""
SCALE_ERROR = 4
"""The same for text that is a part of what the provider has counted."""


class Window(msgspec.Struct, frozen=True):
    """All in tokens. `reserve` is the `max_tokens` of an ordinary request."""

    size: int
    reserve: int
    safety: int
    usable: int

    @staticmethod
    def of(size: int) -> Window:
        """`size` of any positive number; below 8k the safety margin shrinks with the window."""
        size = max(size, 16)
        reserve = min(MAX_RESERVE, size // 4)
        safety = min(SAFETY, max(size // 16, size // 4 - SAFETY))
        return Window(size, reserve, safety, size - reserve - safety)

    @property
    def ceiling(self) -> int:
        """The longest prompt that the provider takes: with the reserve it fills the window."""
        return self.size - self.reserve


class Reading(msgspec.Struct, frozen=True):
    """One look at the meter. `estimated` is false only when the provider has counted exactly this view."""

    used: int
    usable: int
    percent: float
    tier: int
    estimated: bool

    @staticmethod
    def of(used: int, window: Window, *, estimated: bool = True) -> Reading:
        percent = 100.0 * used / window.usable
        return Reading(used, window.usable, percent, tier(percent), estimated)


def raised(tokens: int, percent: int) -> int:
    """`tokens` and `percent` of them, rounded up."""
    return -(-tokens * (100 + percent) // 100)


def lowered(tokens: int, percent: int) -> int:
    """The most that `raised` brings to at most `tokens`."""
    return tokens * 100 // (100 + percent)


def tier(percent: float) -> int:
    """The highest of 80, 90, 95 that `percent` has reached, or 0."""
    return max((step for step in TIERS if percent >= step), default=0)


class Latch:
    """Lets each tier speak once; crossing several at once speaks only the highest."""

    def __init__(self, spoken: int = 0) -> None:
        self.spoken = spoken

    def observe(self, percent: float) -> int | None:
        """After a response: the tier to speak now, or None."""
        reached = tier(percent)
        if reached <= self.spoken:
            return None
        self.spoken = reached
        return reached

    def rearm(self, percent: float) -> None:
        """After any change of the view: the tier the meter now stands in counts as spoken."""
        self.spoken = tier(percent)


_ADVICE = {
    80: "Run /compact when it is convenient.",
    90: "Run /compact soon; it keeps the key facts and your own words.",
    95: "There is almost no headroom left: run /compact or /new now.",
}


def warning_text(step: int, reading: Reading, model: str) -> str:
    """One line: percent, tokens used and usable, the model, and what to do. `step` is 80, 90 or 95."""
    return (
        f"Context {reading.percent:.0f} % full: {reading.used:,} of {reading.usable:,} usable tokens"
        f" ({model}). {_ADVICE[step]}"
    )
