"""The user's own trigger: compact by itself at the end of a response that crosses a threshold.

Invariant: off unless switched on; fires at most once per turn; an error changes nothing and says the range.
"""

from __future__ import annotations

import re

from deeptide.context.ladder import Policy, earlier
from deeptide.context.window import Reading
from deeptide.protocol.errors import UsageError

LOWEST, HIGHEST, DEFAULT = 50, 99, 95
HELP = f"""\
/auto-compact              show whether it is on, its threshold and how often it fired
/auto-compact on           switch on at the current threshold ({DEFAULT} unless set)
/auto-compact N            switch on at N percent ({LOWEST}..{HIGHEST}); N% is the same
/auto-compact threshold N  set the threshold only
/auto-compact off          switch off
/auto-compact reset        set the fired counter to 0
/auto-compact help         this text
--save with on, off, N or threshold also writes it to the config"""

_NUMBER = re.compile(r"([0-9]+)%?", re.ASCII)


class Reply(str):
    """What to tell the user. `save`: the new state is to be written to the config as well."""

    save: bool

    def __new__(cls, text: str, save: bool = False) -> Reply:
        made = super().__new__(cls, text)
        made.save = save
        return made


class AutoCompact:
    """`threshold` in percent of usable; `fired` counts compactions since the start or the last reset."""

    def __init__(self, on: bool = False, threshold: int = DEFAULT) -> None:
        self.on = on
        self.threshold = threshold
        self.fired = 0
        self._turn: int | None = None

    def should_fire(self, reading: Reading, turn: int) -> bool:
        """At the end of a response: has the meter crossed the threshold, for the first time this turn?"""
        return self.on and reading.percent >= self.threshold and turn != self._turn

    def record_fired(self, turn: int) -> None:
        self._turn = turn
        self.fired += 1

    def command(self, text: str, policy: Policy | None = None) -> Reply:
        """`text` is what follows `/auto-compact`. Raises UsageError, with nothing changed."""
        words = text.lower().split()
        save = "--save" in words
        words = [word for word in words if word != "--save"]
        match words:
            case [] | ["status"]:
                return Reply(self.status(policy), save)
            case ["on"]:
                self.on = True
            case ["off"]:
                self.on = False
            case ["reset" | "help" as verb] if save:
                raise UsageError(f"`{verb}` changes nothing that could be saved.", "Leave out --save.")
            case ["reset"]:
                self.fired = 0
                return Reply("The auto-compact counter is 0 again.")
            case ["help"]:
                return Reply(HELP)
            case ["threshold", number]:
                self.threshold = percent(number)
            case ["threshold"]:
                raise UsageError("`threshold` needs a number.", _range())
            case [number]:
                self.threshold = percent(number)
                self.on = True
            case _:
                raise UsageError(f"/auto-compact does not know `{' '.join(words)}`.", _range())
        return Reply(self.status(policy), save)

    def status(self, policy: Policy | None = None) -> str:
        parts = [
            f"Auto-compact is on at {self.threshold} %: an answer that ends above it is followed by a compaction."
            if self.on
            else f"Auto-compact is off. (If on, it would fire at {self.threshold} %.)"
        ]
        if self.fired or self.on:
            parts.append(f"It has {_times(self.fired)}.")
        if policy is not None:
            parts.append(earlier(policy, self.threshold if self.on else 100))
        return " ".join(part for part in parts if part)


def _times(fired: int) -> str:
    return "not fired yet" if not fired else "fired once" if fired == 1 else f"fired {fired} times"


def percent(word: str) -> int:
    """`word` as a threshold: an integer 50..99, with or without %. Raises UsageError with the range."""
    match = _NUMBER.fullmatch(word)
    if match is None or len(match[1]) > 4 or not LOWEST <= int(match[1]) <= HIGHEST:
        raise UsageError(f"`{word}` is not a threshold.", _range())
    return int(match[1])


def _range() -> str:
    return f"Give a whole number from {LOWEST} to {HIGHEST}, or: on, off, status, threshold N, reset, help."
