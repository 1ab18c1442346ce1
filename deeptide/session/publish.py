"""The outward door: everyone who reads a session gets the same events in the same order.

Invariant: publishing never waits for a reader and never loses an event; a slow reader only has a longer queue,
in which runs of text deltas are joined.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from deeptide.protocol.events import LIVE, Record, TextDelta, ThinkingDelta, ToolOutput

Item = Record | LIVE


class Subscription:
    """Async iterator over what happens from now on; ends after `close`."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._items: deque[Item] = deque()
        self._ready = asyncio.Event()
        self._closed = False

    def put(self, item: Item) -> None:
        last = self._items[-1] if self._items else None
        joined = _join(last, item) if last is not None else None
        if joined is not None:
            self._items[-1] = joined
        else:
            self._items.append(item)
        self._ready.set()

    def close(self) -> None:
        self._closed = True
        self._ready.set()
        self._hub.leave(self)

    def drain(self) -> list[Item]:
        """Everything waiting now, without waiting."""
        items = list(self._items)
        self._items.clear()
        self._ready.clear()
        return items

    def __aiter__(self) -> AsyncIterator[Item]:
        return self

    async def __anext__(self) -> Item:
        while not self._items:
            if self._closed:
                raise StopAsyncIteration
            self._ready.clear()
            await self._ready.wait()
        return self._items.popleft()


class Hub:
    def __init__(self) -> None:
        self._readers: list[Subscription] = []

    def join(self) -> Subscription:
        reader = Subscription(self)
        self._readers.append(reader)
        return reader

    def leave(self, reader: Subscription) -> None:
        if reader in self._readers:
            self._readers.remove(reader)

    def publish(self, item: Item) -> None:
        for reader in self._readers:
            reader.put(item)

    def close(self) -> None:
        for reader in list(self._readers):
            reader.close()


JOIN_LIMIT = 4_096


def _join(last: Item, item: Item) -> Item | None:
    match last, item:
        case TextDelta(before), TextDelta(text) if len(before) < JOIN_LIMIT:
            return TextDelta(before + text)
        case ThinkingDelta(before), ThinkingDelta(text) if len(before) < JOIN_LIMIT:
            return ThinkingDelta(before + text)
        case ToolOutput(call, before), ToolOutput(same, text) if call == same and len(before) < JOIN_LIMIT:
            return ToolOutput(call, before + text)
    return None
