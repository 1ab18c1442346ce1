"""Whether there is a terminal a screen can be drawn on, and how plain lines are printed.

Invariant: the app is never started where it would hang or write escapes into a file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from deeptide.protocol.errors import DeepTideError, UsageError
from deeptide.protocol.text import clean

HINT = 'Without a terminal use `deeptide exec "..."`, or pipe the prompt into `deeptide exec`.'


def require_terminal(environ: Mapping[str, str] | None = None) -> None:
    """Raises UsageError when the terminal app cannot run here."""
    env = os.environ if environ is None else environ
    if not is_tty(0) or not is_tty(1):
        raise UsageError("DeepTide's screen needs a terminal, and input or output is not one.", HINT)
    if env.get("TERM") == "dumb":
        raise UsageError("DeepTide's screen needs a terminal that can draw; TERM is `dumb`.", HINT)


def is_tty(descriptor: int) -> bool:
    """False also for a closed descriptor."""
    try:
        return os.isatty(descriptor)
    except OSError:
        return False


def say(text: str) -> None:
    """One or more lines to standard output, without outside escape sequences."""
    print(clean(text))


def complain(error: DeepTideError) -> None:
    """What happened and what to do, to standard error."""
    print(clean(f"deeptide: {error}"), file=sys.stderr)
    if error.advice:
        print(clean(error.advice), file=sys.stderr)


def ask_yes(question: str) -> bool:
    """A question on the terminal; anything but y or yes is no."""
    try:
        return input(f"{clean(question)} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False
