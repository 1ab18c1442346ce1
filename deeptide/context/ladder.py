"""What to do about a filling window, decided in one place.

Invariant: pure; no caller compares a percentage with a limit itself.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import msgspec

from deeptide.context.window import Reading

Automatic = Literal["guard", "ladder", "ask", "off"]
Phase = Literal["between", "inside"]
Action = Literal["none", "evict", "compact", "hard", "ask"]


class Policy(msgspec.Struct, frozen=True):
    """Limits in percent of usable. `eviction`: the rung exists and is switched on. `asks`: a person can be
    asked (without one, `ask` behaves as `guard`)."""

    automatic: Automatic = "guard"
    soft_limit: float = 85.0
    evict_at: float = 80.0
    hard_limit: float = 98.0
    eviction: bool = False
    asks: bool = True


def next_action(reading: Reading, policy: Policy, phase: Phase, tried: Collection[str] = ()) -> Action:
    """The next rung: evict, then compact, then the hard limit. `tried` are the rungs taken since the view was
    last found too full; the caller re-measures after each."""
    if policy.automatic == "ladder" or (policy.automatic in ("guard", "ask") and phase == "inside"):
        if policy.eviction and reading.percent >= policy.evict_at and "evict" not in tried:
            return "evict"
        if reading.percent >= policy.soft_limit and "compact" not in tried:
            return "compact"
    asking = policy.automatic == "ask" and policy.asks and phase == "between" and "ask" not in tried
    if asking and reading.percent >= policy.soft_limit:
        return "ask"
    return "hard" if reading.percent >= policy.hard_limit else "none"


def earlier(policy: Policy, threshold: float) -> str:
    """What acts up to `threshold` percent whatever auto-compact does, as a sentence; empty when nothing does."""
    acts: list[str] = []
    if policy.automatic != "off":
        if policy.eviction and policy.evict_at <= threshold:
            acts.append(f"cleared of old tool output at {policy.evict_at:g} %")
        if policy.soft_limit <= threshold:
            acts.append(f"compacted at {policy.soft_limit:g} %")
    if not acts:
        return ""
    what = "the talk is, before any request," if policy.automatic == "ladder" else "a running turn is"
    return f"Independently of it, {what} {' and '.join(acts)} so that it cannot overflow."
