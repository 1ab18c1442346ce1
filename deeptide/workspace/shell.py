"""One command, run to quiescence: streamed, bounded, and with nothing left running behind it.

Invariant: when `run` returns or raises, the shell and everything it started are gone, and the event loop was
never held longer than the reading of one chunk. Why not asyncio's own pipes: with a background process
holding the pipe they return when that process ends, not when the shell does, and a flood of output stalls the
loop.
"""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import shutil
import time
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from deeptide.protocol.errors import WorkspaceError
from deeptide.workspace.environment import child_env
from deeptide.workspace.output import Limits, Output
from deeptide.workspace.survivors import MARKER, end_all

__all__ = ["Finished", "Limits", "child_env", "run"]

_CHUNK = 65_536


class Finished(msgspec.Struct, frozen=True):
    """How a command ended. `status`: its exit status, 128 + N for signal N, None if it was ended from here.

    `text`: what it said (stdout and stderr as they came), cleaned, at most `Limits.keep` characters and a
    line that counts the rest. `total_bytes`: of raw output. `spilled`: the whole is in the spill file.
    `stopped`: why it was ended although neither time nor the user asked for it. `left`: processes of other
    users that could not be ended.
    """

    status: int | None
    text: str
    timed_out: bool = False
    cancelled: bool = False
    total_bytes: int = 0
    spilled: bool = False
    binary: bool = False
    elapsed_ms: int = 0
    stopped: str = ""
    left: tuple[int, ...] = ()


async def run(
    command: str,
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout_s: float,
    on_output: Callable[[str], None] | None = None,
    spill: Path,
    limits: Limits | None = None,
    stop: asyncio.Event | None = None,
) -> Finished:
    """Runs `command` with bash (or sh), not as a login shell, without a terminal, stdin empty, in its own
    session.

    `env` is the whole environment: pass it through `child_env`. `on_output` gets cleaned pieces of text, at
    most one a `tick_s`. Setting `stop` ends the command and returns `cancelled`; cancelling the task ends it
    as well and raises CancelledError once everything is gone. WorkspaceError if the shell cannot be started.
    """
    job = _Job(spill, limits or Limits(), on_output)
    try:
        await job.start(command, cwd, env)
        why = await job.wait(timeout_s, stop)
    except BaseException:
        if job.started:
            await _to_the_end(job.close("cancelled"))
        raise
    return await _to_the_end(job.close(why))


T = TypeVar("T")
Why = Literal["ended", "timeout", "cancelled", "flood"]


async def _to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Awaits `work` whole, however often the task is cancelled meanwhile, and only then lets that be
    known."""
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError
    return task.result()


class _Job:
    """The pipe, the process and the output of one command."""

    def __init__(self, spill: Path, limits: Limits, on_output: Callable[[str], None] | None) -> None:
        self._limits = limits
        self._output = Output(spill, limits)
        self._on_output = on_output
        self._marker = secrets.token_hex(8)
        self._loop = asyncio.get_running_loop()
        self._flood = asyncio.Event()
        self._eof = asyncio.Event()
        self._pipe = -1
        self._timer: asyncio.TimerHandle | None = None
        self._pause: asyncio.TimerHandle | None = None
        self._last_tick = 0.0
        self._started = time.monotonic()
        self._process: asyncio.subprocess.Process

    async def start(self, command: str, cwd: Path, env: Mapping[str, str]) -> None:
        shell = "/bin/bash" if os.access("/bin/bash", os.X_OK) else shutil.which("bash") or "/bin/sh"
        self._pipe, theirs = os.pipe()
        try:
            os.set_blocking(self._pipe, False)
            # Shielded: a cancel between fork and return would leave a process that nobody knows.
            await _to_the_end(self._launch(shell, command, theirs, cwd, {**env, MARKER: self._marker}))
        except (OSError, ValueError) as error:
            raise _not_started(error, cwd) from error
        finally:
            os.close(theirs)
            if self.started:
                self._loop.add_reader(self._pipe, self._read)
            else:
                os.close(self._pipe)

    @property
    def started(self) -> bool:
        """Whether there is a process to end."""
        return hasattr(self, "_process")

    async def _launch(self, shell: str, command: str, out: int, cwd: Path, env: Mapping[str, str]) -> None:
        self._process = await asyncio.create_subprocess_exec(
            shell,
            "-c",
            command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            cwd=cwd,
            env=env,
            start_new_session=True,
        )

    async def wait(self, timeout_s: float, stop: asyncio.Event | None) -> Why:
        """Until the shell ends or must be ended."""
        ended = asyncio.ensure_future(self._process.wait())
        reasons: dict[asyncio.Future[Any], Why] = {
            ended: "ended",
            asyncio.ensure_future(self._flood.wait()): "flood",
        }
        if stop is not None:
            reasons[asyncio.ensure_future(stop.wait())] = "cancelled"
        try:
            done, _ = await asyncio.wait(reasons, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in reasons:
                task.cancel()
        if ended in done:
            return "ended"
        return reasons[done.pop()] if done else "timeout"

    async def close(self, why: Why) -> Finished:
        """Ends what still runs, reads what is still in the pipe, and sums up."""
        if why == "ended":
            try:
                await asyncio.wait_for(self._eof.wait(), self._limits.drain_s)
            except TimeoutError:
                pass
        grace = 0.0 if why == "ended" else self._limits.grace_s
        left = await asyncio.to_thread(end_all, self._process.pid, self._marker, grace)
        status = await self._process.wait()
        self._drain()
        self._tick()
        status = status if status >= 0 else 128 - status
        return Finished(
            status=status if why == "ended" else None,
            text=self._output.text(),
            timed_out=why == "timeout",
            cancelled=why == "cancelled",
            total_bytes=self._output.total,
            spilled=self._output.spilled,
            binary=self._output.binary,
            elapsed_ms=round((time.monotonic() - self._started) * 1000),
            stopped=f"more than {self._limits.spill:,} bytes of output" if why == "flood" else "",
            left=tuple(sorted(left)),
        )

    def _read(self) -> None:
        """One chunk a wake. After a full one a pause as long as its work: a flood gets half of the loop at
        most."""
        began = time.perf_counter()
        if not self._take():
            self._loop.remove_reader(self._pipe)
            self._eof.set()
            return
        if self._output.full:
            self._flood.set()
        spent = time.perf_counter() - began
        if spent > 0.0005:
            self._loop.remove_reader(self._pipe)
            self._pause = self._loop.call_later(spent, self._resume)

    def _resume(self) -> None:
        self._pause = None
        self._loop.add_reader(self._pipe, self._read)

    def _take(self) -> bool:
        """Reads one chunk; False at the end of the pipe."""
        try:
            data = os.read(self._pipe, _CHUNK)
        except BlockingIOError:
            return True
        self._output.feed(data)
        if data and self._on_output is not None and self._timer is None:
            wait = max(0.0, self._last_tick + self._limits.tick_s - self._loop.time())
            self._timer = self._loop.call_later(wait, self._tick)
        return bool(data)

    def _tick(self) -> None:
        self._timer = None
        self._last_tick = self._loop.time()
        live = self._output.take_live()
        if live and self._on_output is not None:
            self._on_output(live)

    def _drain(self) -> None:
        """What the pipe still holds: at most its capacity, whoever still writes to it."""
        for timer in (self._timer, self._pause):
            if timer is not None:
                timer.cancel()
        self._loop.remove_reader(self._pipe)
        before = self._output.total
        while not self._eof.is_set() and self._output.total - before < 4 * _CHUNK:
            seen = self._output.total
            if not self._take() or self._output.total == seen:
                break
        if self._timer is not None:
            self._timer.cancel()
        os.close(self._pipe)
        self._output.finish()


def _not_started(error: OSError | ValueError, cwd: Path) -> WorkspaceError:
    if not cwd.is_dir():
        message = f"The folder {cwd} does not exist; the command was not run."
        return WorkspaceError(message, "Name a folder that exists.")
    if isinstance(error, OSError) and error.errno == errno.E2BIG:
        message = "The command is too long for the system; it was not run."
        return WorkspaceError(message, "Write the text to a file first.")
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return WorkspaceError(f"The shell could not be started: {reason}.", "Check the command and the folder.")
