"""`exec`: one prompt, no screen.

Invariant: standard input is read only when the prompt says so (none given, or `-`), so a run started with an
open pipe that never ends does not hang.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import stat
import sys
import termios
from array import array

from deeptide.cli.invocation import Invocation
from deeptide.cli.opening import options_of
from deeptide.cli.start import loaded
from deeptide.cli.terminal import is_tty
from deeptide.headless.exits import Exit
from deeptide.headless.formats import Writer, failed, writer_for
from deeptide.headless.run import run
from deeptide.model.errors import MissingKey
from deeptide.protocol.errors import DeepTideError, UsageError
from deeptide.session.session import Session
from deeptide.wiring.house import House

MAX_INPUT = 10_000_000
"""Bytes read from standard input at most."""


def run_once(call: Invocation) -> int:
    """Runs the prompt; what goes wrong is written in the chosen format too. Raises BrokenPipeError only."""
    writer = writer_for(call.output or "text", sys.stdout, sys.stderr)
    try:
        prompt = prompt_of(call.prompt)
        house = House(options_of(call))
        # A stored session may have an endpoint of its own, which the house finds when it opens it.
        if house.needs_key() and call.resume is None and not call.go_on:
            raise MissingKey(
                f"There is no API key for {house.settings.model.base_url}; nothing was sent.",
                "Set DEEPSEEK_API_KEY, or run `deeptide login`. `deeptide demo` needs no key.",
            )
    except DeepTideError as error:
        writer.result(failed(str(error), error.advice, error.exit_code))
        return error.exit_code
    return asyncio.run(_once(house, call, prompt, writer))


def prompt_of(words: list[str]) -> str:
    """The words, and standard input behind them where `-` stands or where there are no words. Otherwise it is
    left alone (a loop over lines would lose them), which is said if something stands in it.

    Raises UsageError when that leaves nothing, or `-` was said and standard input is a terminal.
    """
    text = " ".join(word for word in words if word != "-")
    asked = not words or "-" in words
    if asked and is_tty(0):
        raise UsageError("There is no prompt.", 'Write `deeptide exec "..."`, or pipe the prompt in.')
    if asked:
        text = "\n\n".join(part for part in (text, _standard_input()) if part)
    elif _holds_something():
        print("Standard input was not read; write `-` after the prompt to add it.", file=sys.stderr)
    if not text.strip():
        raise UsageError("The prompt is empty.", 'Write `deeptide exec "..."`, or pipe the prompt in.')
    return text


async def _once(house: House, call: Invocation, prompt: str, writer: Writer) -> Exit:
    resumed = call.go_on or call.resume is not None

    async def open_session() -> Session:
        await house.warm()
        loaded()
        if resumed:
            return await house.resume(call.resume or "latest")
        return await house.new()

    # Half a second of imports, done while the session opens.
    warming = asyncio.create_task(house.warm())
    try:
        return await run(open_session, prompt, writer, resumed=resumed, opened=house.show_notices)
    finally:
        await warming
        await house.close()


def _holds_something() -> bool:
    """Whether standard input is a file at its start, or a pipe in which bytes stand: never waits for them."""
    try:
        kind = os.fstat(0).st_mode
        if stat.S_ISREG(kind):
            return os.fstat(0).st_size > 0 and os.lseek(0, 0, os.SEEK_CUR) == 0
        waiting = array("i", [0])
        if stat.S_ISFIFO(kind):
            fcntl.ioctl(0, termios.FIONREAD, waiting)
        return waiting[0] > 0
    except OSError:
        return False


def _standard_input() -> str:
    if sys.stdin is None:
        return ""
    data = sys.stdin.buffer.read(MAX_INPUT + 1)
    if len(data) > MAX_INPUT:
        raise UsageError(
            f"Standard input has over {MAX_INPUT:,} bytes; nothing was sent.",
            "Put it in a file and name the file.",
        )
    return data.decode("utf-8", "replace").strip("\n")
