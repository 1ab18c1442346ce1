"""What people say while the agent works: a queue for the next turn and steers for this one.

Invariant: a text is in exactly one place (queue, steers, or the log), so nothing typed is lost or said twice.
"""

from __future__ import annotations

from collections import deque


class Inbox:
    def __init__(self) -> None:
        self._queue: deque[str] = deque()
        self._steers: deque[str] = deque()

    @property
    def queue(self) -> tuple[str, ...]:
        return tuple(self._queue)

    @property
    def steers(self) -> tuple[str, ...]:
        return tuple(self._steers)

    def put(self, text: str) -> None:
        self._queue.append(text)

    def put_first(self, text: str) -> None:
        self._queue.appendleft(text)

    def next(self) -> str | None:
        return self._queue.popleft() if self._queue else None

    def unqueue(self) -> str | None:
        """Take the newest queued text back, to be edited."""
        return self._queue.pop() if self._queue else None

    def steer(self, text: str) -> None:
        self._steers.append(text)

    def take_steers(self) -> tuple[str, ...]:
        taken = tuple(self._steers)
        self._steers.clear()
        return taken

    def keep_steers_for_later(self) -> None:
        """A turn ended before these were read: they become the head of the queue, in order."""
        self._queue.extendleft(reversed(self._steers))
        self._steers.clear()
