"""The user's own `!command`: run at once, shown, and told to the model.

Invariant: it runs as the user asked, without a question, but with the same environment, bounds and clean-up as a
command of the agent; a cancelled one leaves a note of what it had said.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable
from pathlib import Path

from deeptide.protocol.events import LIVE, Working
from deeptide.workspace.roots import Roots
from deeptide.workspace.shell import Finished, child_env, run


async def run_for_user(
    command: str, roots: Roots, spill_dir: Path, timeout_s: float, tell: Callable[[LIVE], None]
) -> str:
    """The note for the model: the command, its output (capped) and how it ended. Cancelling the task ends the
    command and still returns the note."""
    spill = spill_dir / f"user-{secrets.token_hex(4)}.txt"
    stop = asyncio.Event()
    tell(Working(f"$ {command}"))
    running = asyncio.ensure_future(
        run(
            command,
            cwd=roots.workspace,
            env=child_env(os.environ),
            timeout_s=timeout_s,
            on_output=lambda text: tell(Working(_last_line(text) or f"$ {command}")),
            spill=spill,
            stop=stop,
        )
    )
    try:
        while not running.done():
            try:
                await asyncio.wait({running})
            except asyncio.CancelledError:
                stop.set()
        return _note(command, running.result(), spill)
    finally:
        tell(Working(""))


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:200] if lines else ""


def _note(command: str, done: Finished, spill: Path) -> str:
    ended = f"exit {done.status}"
    if done.cancelled:
        ended = "interrupted by the user"
    elif done.timed_out:
        ended = "timed out"
    elif done.stopped:
        ended = f"stopped: {done.stopped}"
    whole = f"\n(the whole output is in {spill})" if done.spilled else ""
    return f"The user ran a command in the workspace.\n$ {command}\n{done.text}\n({ended}){whole}"
