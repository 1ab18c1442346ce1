"""When a turn must stop by itself: steps, money, and calls that bring nothing new.

Invariant: only repetition without progress counts. The same call with a new result is progress, and so is a
successful act that has not been seen before, so polling and test-edit-test cycles are never stopped.
"""

from __future__ import annotations

import hashlib
from collections import Counter

import msgspec

from deeptide.protocol.events import EndReason
from deeptide.protocol.messages import ToolCall
from deeptide.protocol.usage import Money


class Limits(msgspec.Struct, frozen=True):
    """Zero means no limit. `steps` are requests in one turn; money is in the session's currency."""

    steps: int = 0
    turn_cost: float = 0.0
    session_cost: float = 0.0
    repeat_warn: int = 3
    repeat_stop: int = 6


class Stop(msgspec.Struct, frozen=True):
    reason: EndReason
    message: str
    advice: str


class Budget:
    """The caps of one turn; made when it starts with what the session had spent until then."""

    def __init__(self, limits: Limits, spent_before: Money) -> None:
        self._limits = limits
        self._before = spent_before.amount

    def check(self, steps_done: int, spent: Money) -> Stop | None:
        """Asked before each request. `spent` is the session's total so far."""
        limits = self._limits
        if limits.steps and steps_done >= limits.steps:
            return Stop(
                "turns",
                f"The turn used all its {limits.steps} requests."
                if limits.steps != 1
                else "The turn used its one request.",
                "Say `continue` to go on, or raise limits.max_turns.",
            )
        turn = spent.amount - self._before
        if limits.turn_cost and turn >= limits.turn_cost:
            said, cap = Money(turn, spent.currency), Money(limits.turn_cost, spent.currency)
            return Stop(
                "money",
                f"The turn cost {said}; its cap is {cap}.",
                "Say `continue` to spend as much again, or raise limits.max_cost_turn.",
            )
        if limits.session_cost and spent.amount >= limits.session_cost:
            cap = Money(limits.session_cost, spent.currency)
            return Stop(
                "money",
                f"The session cost {spent}; its cap is {cap}.",
                "Raise limits.max_cost_session, or start a new session with /new.",
            )
        return None


class RepetitionGuard:
    """Counts batches whose calls and results were both seen before; any progress starts the count again."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._seen: Counter[bytes] = Counter()
        self._acts: set[bytes] = set()
        self.warned = False

    def observe(self, outcomes: list[tuple[ToolCall, str, bool]]) -> Stop | str | None:
        """`outcomes`: for each call of a batch its call, result text and whether it was a successful act.

        Returns a Stop, or a note for the model (once), or None.
        """
        acts = {
            hashlib.sha256(f"{call.name}\0{call.arguments}".encode()).digest()
            for call, _, acted in outcomes
            if acted
        }
        if acts - self._acts:
            self._acts |= acts
            self._seen.clear()
            self.warned = False
        said = "\0".join(f"{call.name}\0{call.arguments}\0{result}" for call, result, _ in outcomes)
        key = hashlib.sha256(said.encode("utf-8", "replace")).digest()
        self._seen[key] += 1
        times = self._seen[key]
        if times >= self._limits.repeat_stop > 0:
            return Stop(
                "repetition",
                f"The same call gave the same result {times} times without progress.",
                "Say what should be different, or `continue` to let it try again.",
            )
        if times >= self._limits.repeat_warn > 0 and not self.warned:
            self.warned = True
            return (
                f"The last call has given the same result {times} times. Repeating it will not help: "
                "try another way, or tell the user what blocks you."
            )
        return None
