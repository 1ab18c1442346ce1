"""What a finished run means to a script.

Invariant: a number never changes its meaning; the table in the README is held to this one by a test.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deeptide.protocol.events import TurnEnded


class Exit(IntEnum):
    """Exit codes. 128 + n is a signal, as a shell would say it."""

    OK = 0
    FAILED = 1
    USAGE = 2
    TURNS = 3
    COST = 4
    DENIED = 5
    BLOCKED = 6
    RETRYABLE = 75
    INTERRUPTED = 130
    TERMINATED = 143


MEANING: dict[Exit, str] = {
    Exit.OK: "done",
    Exit.FAILED: "the task or the provider failed",
    Exit.USAGE: "wrong use: a flag, a setting, or no terminal",
    Exit.TURNS: "the cap on turns was met",
    Exit.COST: "a cap on money, tokens or time was met",
    Exit.DENIED: "it ended because something was not permitted",
    Exit.BLOCKED: "it ended blocked: no progress without you",
    Exit.RETRYABLE: "the provider failed for now; try again later",
    Exit.INTERRUPTED: "interrupted (SIGINT)",
    Exit.TERMINATED: "terminated (SIGTERM)",
}


def exit_of(ended: TurnEnded, denied_last: bool) -> Exit:
    """The code for a turn. `denied_last`: the last thing it tried was denied, and it gave up after that."""
    match ended.reason:
        case "done":
            return Exit.DENIED if denied_last else Exit.OK
        case "denied":
            return Exit.DENIED
        case "turns":
            return Exit.TURNS
        case "money":
            return Exit.COST
        case "repetition":
            return Exit.BLOCKED
        case "interrupted":
            return Exit.INTERRUPTED
        case "error":
            return Exit.RETRYABLE if ended.retryable else Exit.FAILED
