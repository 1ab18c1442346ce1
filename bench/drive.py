"""A program in a real pseudo-terminal, its screen emulated with pyte, every chunk of output timed on arrival.

Invariant: only processes started here are ended, by their id; terminal queries are answered, so that no program
waits for a terminal that never speaks.
"""

from __future__ import annotations

import codecs
import collections
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import psutil
import pyte

TICK = os.sysconf("SC_CLK_TCK")
NOT_FOR_PYTE = re.compile(
    r"\x1b\[[<>=][0-9;:]*[a-zA-Z~]|\x1b\[\?[0-9;]*[uSn]|\x1b\[[0-9;?]*\$[a-z]|\x1b\[[0-9;]* q|\x1bP.*?\x1b\\"
    r"|\x1b_.*?\x1b\\|\x1b\].*?(?:\x07|\x1b\\)|\x1b\[[0-9;]*:[0-9;:]*m",
    re.DOTALL,
)
UNFINISHED = re.compile(r"\x1b(?:\[[0-9;:<=>?$ ]*|[\]P_][^\x07\x1b]{0,4000}\x1b?)?$")
QUERY = re.compile(rb"\x1b\[(6n|0?c|5n|>0?q|\?(\d+)\$p)|\x1b\](1[01]);\?")


class Terminal:
    """`argv` running in a terminal of `rows` x `cols`. Times are seconds of `time.monotonic`."""

    def __init__(
        self, argv: Sequence[str], *, cwd: Path, env: dict[str, str], rows: int = 40, cols: int = 120
    ) -> None:
        sys.setswitchinterval(0.0005)
        self.screen = pyte.Screen(cols, rows)
        self._stream = pyte.Stream(self.screen)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._chunks: collections.deque[tuple[float, bytes]] = collections.deque()
        self.written = 0
        self.alive = True
        self._fd, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
        full = {**env, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
        for name in ("COLUMNS", "LINES", "NO_COLOR", "TMUX", "CI", "PYTHONDONTWRITEBYTECODE"):
            full.pop(name, None)
        self.started = time.monotonic()
        self.pid = os.fork()
        if self.pid == 0:
            _become(slave, list(argv), cwd, full)
        os.close(slave)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._fd, 65_536)
            except OSError:
                data = b""
            if not data:
                self.alive = False
                return
            self._chunks.append((time.monotonic(), data))
            self.written += len(data)
            self._answer(data)

    def _answer(self, data: bytes) -> None:
        out = b""
        for found in QUERY.finditer(data):
            match found[1]:
                case b"6n":
                    out += b"\x1b[1;1R"
                case b"c" | b"0c":
                    out += b"\x1b[?62;22c"
                case b"5n":
                    out += b"\x1b[0n"
                case b">q" | b">0q":
                    out += b"\x1bP>|bench\x1b\\"
                case _ if found[2]:
                    out += b"\x1b[?%s;0$y" % found[2]
                case _:
                    out += b"\x1b]%s;rgb:8080/8080/8080\x1b\\" % found[3]
        if out:
            with suppress(OSError):
                os.write(self._fd, out)

    def pump(self, timeout: float) -> float | None:
        """Feeds one chunk to the screen; its arrival time, or None when none came in `timeout` seconds."""
        end = time.monotonic() + timeout
        while not self._chunks:
            if time.monotonic() > end or not self.alive:
                return None
            time.sleep(0.0005)
        at, data = self._chunks.popleft()
        text = self._held + self._decoder.decode(data)
        self._held = ""
        if (tail := UNFINISHED.search(text)) and len(tail[0]) < 5_000:
            self._held, text = tail[0], text[: tail.start()]
        self._stream.feed(NOT_FOR_PYTE.sub("", text))
        return at

    def text(self) -> str:
        return "\n".join(self.screen.display)

    def wait(self, seen: Callable[[str], bool], timeout: float = 30.0) -> float | None:
        """The arrival time of the chunk after which `seen(screen text)` held; None after `timeout`."""
        if seen(self.text()):
            return time.monotonic()
        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0:
            at = self.pump(min(0.5, left))
            if at is None and not self.alive:
                return None
            if at is not None and seen(self.text()):
                return at
        return None

    def settle(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if self.pump(left) is None and not self.alive:
                raise RuntimeError("the program ended:\n" + self.text())

    def key(self, text: str) -> float:
        """Types `text` and returns when."""
        at = time.monotonic()
        select.select([], [self._fd], [])
        os.write(self._fd, text.encode())
        return at

    def _tree(self) -> list[psutil.Process]:
        try:
            top = psutil.Process(self.pid)
            return [top, *top.children(recursive=True)]
        except psutil.Error:
            return []

    def cpu_s(self) -> float:
        """User and system seconds of the program and its children so far."""
        ticks = 0
        for process in self._tree():
            with suppress(OSError):
                fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
                ticks += sum(int(field) for field in fields[11:15])
        return ticks / TICK

    def cpu_ms(self) -> float:
        """CPU milliseconds of the program's living threads so far, finer than `cpu_s` (schedstat, in ns)."""
        total = 0
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            with suppress(OSError):
                total += int((task / "schedstat").read_text().split()[0])
        return total / 1e6

    def rss_mb(self) -> float:
        total = 0
        for process in self._tree():
            with suppress(psutil.Error):
                total += process.memory_info().rss
        return total / 1e6

    def close(self) -> None:
        left = self._tree()
        for number in (signal.SIGTERM, signal.SIGKILL):
            for process in left:
                with suppress(psutil.Error):
                    process.send_signal(number)
            _, left = psutil.wait_procs(left, timeout=2)
            if not left:
                break
        os.close(self._fd)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, os.WNOHANG)


def _become(slave: int, argv: list[str], cwd: Path, env: dict[str, str]) -> None:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for descriptor in (0, 1, 2):
        os.dup2(slave, descriptor)
    os.closerange(3, 256)
    os.chdir(cwd)
    os.execvpe(argv[0], argv, env)
