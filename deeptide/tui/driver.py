"""Textual's driver over a terminal that may go away at any moment.

Textual's writer thread dies of the first failed write; its queue then fills up and the main thread waits in it for
ever, and its reader takes a closed terminal for an endless empty input.

Invariant: writing never raises and, once the terminal is gone or was given up, never waits.
"""

from __future__ import annotations

import os
import select
import sys
import termios
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from textual.drivers.linux_driver import LinuxDriver

if TYPE_CHECKING:
    from textual.app import App

BACK = (
    b"\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?2004l\x1b[?7h\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l"
)
"""Ends everything that `LinuxDriver` begins."""


def gone(fd: int) -> bool:
    """Whether there is nobody at the other end of `fd` any more."""
    poller = select.poll()
    poller.register(fd, 0)
    return any(what & (select.POLLHUP | select.POLLERR) for _, what in poller.poll(0))


class Outlet:
    """The terminal as the file that the writer thread writes to."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        try:
            # A description of our own: the other one is shared with the shell and must stay as it is.
            self._out = os.open(os.ttyname(fd), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError:
            self._out = fd
        self._pieces: list[str] = []
        self._waiting_since = 0.0
        self.is_cut = False

    def fileno(self) -> int:
        return self._fd

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._pieces.append(text)
        return len(text)

    def flush(self) -> None:
        data = memoryview("".join(self._pieces).encode("utf-8", "replace"))
        self._pieces.clear()
        while data and not self.is_cut:
            data = data[self.put(data) :]

    def put(self, data: bytes | memoryview) -> int:
        """Writes what the terminal takes now; how many bytes. After nothing it has waited a moment."""
        try:
            written = os.write(self._out, data)
        except BlockingIOError:
            self._waiting_since = self._waiting_since or monotonic()
            select.select((), (self._out,), (), 0.1)
            return 0
        except OSError:
            self.is_cut = True
            return len(data)
        self._waiting_since = 0.0
        return written

    @property
    def stuck_s(self) -> float:
        """For how many seconds the terminal has taken nothing of what waits for it."""
        since = self._waiting_since
        return monotonic() - since if since else 0.0


class TerminalDriver(LinuxDriver):
    def __init__(
        self,
        app: App[object],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        assert sys.__stderr__ is not None
        self.outlet = Outlet(sys.__stderr__.fileno())
        self._file = cast("Any", self.outlet)

    def run_input_thread(self) -> None:
        """From `LinuxDriver`, which would end the app with a traceback when the terminal cannot be read."""
        with suppress(OSError):
            super().run_input_thread()

    def give_up(self) -> None:
        """The terminal is gone or takes nothing: no reading and no writing any more, and nothing fails by it."""
        self.outlet.is_cut = True
        # Ends the reader, which is told of nothing but its end again and again.
        self.exit_event.set()
        self._restore_modes()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            if gone(fd) or os.isatty(fd):
                os.dup2(nowhere, fd)
        os.close(nowhere)

    def give_back(self) -> None:
        """The terminal as it was found, for an end that does not come past `stop_application_mode`."""
        self._restore_modes()
        if not self.outlet.is_cut:
            self.outlet.put(BACK)

    def _restore_modes(self) -> None:
        with suppress(termios.error):
            if self.attrs_before is not None:
                termios.tcsetattr(self.fileno, termios.TCSANOW, self.attrs_before)
