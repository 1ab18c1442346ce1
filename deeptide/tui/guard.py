"""What ends the app from outside: a signal, or a terminal that is gone.

A thread of its own, since the event loop may be waiting for a terminal that takes nothing.

Invariant: after SIGTERM, SIGHUP or the end of the terminal the app is asked to leave at once, and at LAST_S at the
latest this process and everything it started are gone, whatever the event loop does.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import select
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic, sleep
from types import FrameType

from deeptide.tui.driver import TerminalDriver, gone
from deeptide.workspace.survivors import end_all, table

LAST_S = 4.0
STUCK_S = 0.4
"""A terminal that takes nothing for so long while we leave is given up."""


class Guard:
    """`leave(code)` is called in the event loop, once."""

    def __init__(self, driver: TerminalDriver, leave: Callable[[int], None]) -> None:
        self._driver = driver
        self._leave = leave
        self._loop = asyncio.get_running_loop()
        self._bell, self._ring = os.pipe()
        os.set_blocking(self._ring, False)

    def stand(self) -> None:
        """From the main thread, as signals want it."""
        for number in (signal.SIGTERM, signal.SIGHUP):
            # Not the event loop's own handlers: they run only when the loop does.
            signal.signal(number, self._signalled)
        threading.Thread(target=self._watch, name="terminal-guard", daemon=True).start()

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        with suppress(OSError):
            os.write(self._ring, bytes((number,)))

    def _watch(self) -> None:
        poller = select.poll()
        poller.register(self._bell, select.POLLIN)
        # Asks for nothing: only what is told unasked, that it hung up.
        poller.register(self._driver.fileno, 0)
        while True:
            for fd, what in poller.poll():
                if fd == self._bell:
                    return self._end(128 + os.read(self._bell, 1)[0])
                if what & (select.POLLHUP | select.POLLERR):
                    return self._end(128 + signal.SIGHUP)
                poller.unregister(fd)

    def _end(self, code: int) -> None:
        last, lost = monotonic() + LAST_S, False
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._leave, code)
        while monotonic() < last:
            if not lost and (gone(self._driver.fileno) or self._driver.outlet.stuck_s > STUCK_S):
                lost = True
                self._driver.give_up()
            sleep(0.02)
        end_children()
        self._driver.give_back()
        os._exit(code)


def end_children() -> None:
    """Ends everything that this process has started and that still runs."""
    for pid, process in table().items():
        if process.parent == os.getpid():
            end_all(pid, secrets.token_hex(8), 0.3)
