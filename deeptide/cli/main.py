"""From argv to an exit code.

Invariant: every DeepTideError becomes one sentence, its advice and its exit code here and nowhere else in the
command line; the modules of a command are imported only when that command runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TextIO

from deeptide import __version__
from deeptide.cli.args import parse
from deeptide.cli.invocation import Invocation
from deeptide.cli.start import loading
from deeptide.cli.terminal import complain, require_terminal
from deeptide.headless.exits import Exit
from deeptide.protocol.errors import DeepTideError


def main(argv: Sequence[str]) -> int:
    """Runs one command line; returns the exit code."""
    _open_what_is_closed()
    for stream in (sys.stdout, sys.stderr):
        _never_fail_on_a_character(stream)
    try:
        code = _run(argv)
        sys.stdout.flush()
        return code
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else Exit.OK
    except DeepTideError as error:
        complain(error)
        return error.exit_code
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # Whoever read us is gone; without this the interpreter complains again when it flushes at exit.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return Exit.FAILED


def _run(argv: Sequence[str]) -> int:
    call = parse(argv)
    if call.version:
        print(f"deeptide {__version__}")
        return Exit.OK
    if call.command in ("tui", "demo"):
        require_terminal()
    if call.command in ("tui", "demo", "exec"):
        loading()
    return _front(call.command)(call)


def _front(command: str) -> Callable[[Invocation], int]:
    """The function of a command. Imported here because the slow ones take 0.2 to 1 s."""
    match command:
        case "tui" | "demo":
            from deeptide.cli.screen import run_screen

            return run_screen
        case "exec":
            from deeptide.cli.once import run_once

            return run_once
        case "emulator":
            from deeptide.cli.serve import run_emulator

            return run_emulator
        case "doctor":
            from deeptide.cli.doctor import run_doctor

            return run_doctor
        case "sessions":
            from deeptide.cli.sessions import run_sessions

            return run_sessions
        case "config":
            from deeptide.cli.settings import run_config

            return run_config
        case _:
            from deeptide.cli.keys import run_keys

            return run_keys


def _open_what_is_closed() -> None:
    """A closed standard stream (`2>&-`) becomes one that swallows, so that nobody need ask for it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _never_fail_on_a_character(stream: TextIO) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        with suppress(OSError, ValueError):
            reconfigure(errors="replace")
