"""The real program in a real pseudo-terminal, with pyte as the terminal and the emulator as the provider."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pyte
from rich.cells import cell_len

from deeptide.emulator.emulator import Emulator
from deeptide.emulator.script import Answerer
from deeptide.emulator.server import serve

PATIENCE_S = 40.0
"""Far more than is ever needed; only a failing test waits that long."""


class Program:
    """`deeptide` with `args`, `cols` by `rows` cells. `raw` is every byte it wrote."""

    def __init__(
        self, args: Sequence[str], *, cwd: Path, env: Mapping[str, str], cols: int = 80, rows: int = 24
    ) -> None:
        self.raw = b""
        self._reaped = False
        self._screen = pyte.Screen(cols, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._child = pexpect.spawn(
            sys.executable,
            ["-m", "deeptide", *args],
            cwd=str(cwd),
            env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **env},
            dimensions=(rows, cols),
            timeout=PATIENCE_S,
        )

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self._screen.display]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row, from 0."""
        return self._screen.cursor.x, self._screen.cursor.y

    def read(self, seconds: float = 0.05) -> bool:
        """Take in what was written for at most `seconds`; false when the program has ended."""
        try:
            data = self._child.read_nonblocking(65_536, seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.raw += data
        self._stream.feed(_without_kitty(data))
        return True

    def wait(self, wanted: str | Callable[[], bool]) -> None:
        """Until the text is on the screen, or the condition holds."""
        until = time.monotonic() + PATIENCE_S
        holds = wanted if callable(wanted) else lambda: wanted in self.text
        while not holds():
            alive = self.read()
            if not holds() and (not alive or time.monotonic() > until):
                raise AssertionError(f"waited in vain for {wanted}; the screen is\n{self.text}")

    def settle(self) -> None:
        """Until nothing was written for a moment, or three seconds while something moves all the time."""
        size, until = -1, time.monotonic() + 3
        while size != len(self.raw) and time.monotonic() < until:
            size = len(self.raw)
            for _ in range(4):
                self.read(0.05)

    def type(self, text: str) -> None:
        self._child.send(text.encode())

    def resize(self, cols: int, rows: int) -> None:
        self._screen.resize(rows, cols)
        self._child.setwinsize(rows, cols)

    def signal(self, number: int) -> None:
        self._child.kill(number)

    @property
    def pid(self) -> int:
        return int(self._child.pid)

    def hang_up(self) -> None:
        """Close the terminal, as a window that is closed does."""
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, self._child.child_fd)
        os.close(nowhere)

    def status(self) -> int:
        """Wait for the end without a terminal; the exit status, 128 + N for signal N."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._reaped = True
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
            time.sleep(0.02)
        raise AssertionError("it does not end")

    def end(self) -> int:
        """Wait for the end; the exit status."""
        until = time.monotonic() + PATIENCE_S
        while self.read() and time.monotonic() < until:
            pass
        self._child.close()
        return int(self._child.exitstatus if self._child.exitstatus is not None else -1)

    def stop(self) -> None:
        if self._reaped:
            self._child.ptyproc.terminated = True
        self._child.close(force=True)

    def row_of(self, text: str) -> int:
        return next(row for row, line in enumerate(self.lines) if text in line)


def _without_kitty(data: bytes) -> bytes:
    """pyte prints the `u` of keyboard protocol requests, which real terminals swallow."""
    for request in (b"\x1b[>1u", b"\x1b[<u", b"\x1b[>25u"):
        data = data.replace(request, b"")
    return data


def column_of(line: str, text: str) -> int:
    """The cell in which `text` begins. pyte's lines hold each wide character once."""
    return cell_len(line[: line.index(text)])


@contextmanager
def provider(script: Answerer) -> Iterator[str]:
    """An emulator as a real server; its base URL."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    served = asyncio.run_coroutine_threadsafe(serve(Emulator(script)), loop).result()
    try:
        yield f"{served.url}/v1"
    finally:
        asyncio.run_coroutine_threadsafe(served.close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@contextmanager
def running(
    script: Answerer,
    folder: Path,
    *args: str,
    cols: int = 80,
    rows: int = 24,
    env: Mapping[str, str] | None = None,
) -> Iterator[Program]:
    """The program in `folder`, ready to be typed into."""
    workspace = folder / "project"
    workspace.mkdir(exist_ok=True)
    with provider(script) as url:
        own = {"DEEPTIDE_HOME": str(folder / "home"), "DEEPSEEK_API_KEY": "sk-test", **(env or {})}
        program = Program(["--base-url", url, *args], cwd=workspace, env=own, cols=cols, rows=rows)
        try:
            program.wait("ctx ")
            yield program
        finally:
            program.stop()
