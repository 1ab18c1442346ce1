"""Every reader gets everything in order; only runs of deltas may be joined."""

from __future__ import annotations

import asyncio

from deeptide.protocol.events import Record, TextDelta, ThinkingDelta, UserMessage
from deeptide.session.publish import JOIN_LIMIT, Hub


async def test_two_readers_get_the_same_events_in_the_same_order() -> None:
    hub = Hub()
    one, two = hub.join(), hub.join()
    for n in range(3):
        hub.publish(Record(n + 1, 0.0, UserMessage(str(n))))
    assert one.drain() == two.drain() == [Record(n + 1, 0.0, UserMessage(str(n))) for n in range(3)]


async def test_waiting_deltas_are_joined_but_never_across_another_event() -> None:
    hub = Hub()
    reader = hub.join()
    for item in (TextDelta("a"), TextDelta("b"), ThinkingDelta("t"), TextDelta("c")):
        hub.publish(item)
    assert reader.drain() == [TextDelta("ab"), ThinkingDelta("t"), TextDelta("c")]


async def test_joining_stays_linear_for_a_reader_that_never_reads() -> None:
    hub = Hub()
    reader = hub.join()
    for _ in range(50_000):
        hub.publish(TextDelta("x"))
    items = reader.drain()
    assert sum(len(item.text) for item in items if isinstance(item, TextDelta)) == 50_000
    assert len(items) <= 50_000 // JOIN_LIMIT + 2


async def test_a_reader_waits_and_ends_when_closed() -> None:
    hub = Hub()
    reader = hub.join()
    seen: list[object] = []

    async def read() -> None:
        async for item in reader:
            seen.append(item)

    task = asyncio.create_task(read())
    await asyncio.sleep(0)
    hub.publish(TextDelta("late"))
    await asyncio.sleep(0)
    hub.close()
    await asyncio.wait_for(task, 1)
    assert seen == [TextDelta("late")]
