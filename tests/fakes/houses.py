"""A whole DeepTide for one test: the real house, a real folder, and the shipped emulator as the provider."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from deeptide.emulator.emulator import Emulator
from deeptide.emulator.script import Answerer
from deeptide.emulator.transport import EmulatorTransport
from deeptide.protocol.approvals import Decision
from deeptide.protocol.events import ApprovalRequested, Event, Record
from deeptide.session.session import Session
from deeptide.wiring.house import House, Options


def house_of(
    workspace: Path, emulator: Emulator, *, flags: dict[str, object] | None = None, **options: Any
) -> House:
    """A house whose network is `emulator`; DEEPTIDE_HOME is the test's own (see conftest)."""
    workspace.mkdir(parents=True, exist_ok=True)
    return House(
        Options(
            workspace=workspace,
            transport=EmulatorTransport(emulator),
            flags=flags or {},
            **options,
        )
    )


@asynccontextmanager
async def talk(
    workspace: Path,
    script: Answerer,
    *,
    flags: dict[str, object] | None = None,
    emulator: Emulator | None = None,
    **options: Any,
) -> AsyncIterator[tuple[Session, Emulator]]:
    """An open new session and the emulator behind it; both are closed afterwards."""
    service = emulator or Emulator(script)
    house = house_of(workspace, service, flags=flags, **options)
    session = await house.new()
    try:
        yield session, service
    finally:
        await session.close()
        await house.close()


Answering = Callable[[ApprovalRequested], Decision] | None


async def say(session: Session, text: str, answering: Answering = None) -> list[Event]:
    """One whole turn: say `text`, answer every question with `answering`, return what was published."""
    reader = session.subscribe()
    seen: list[Event] = []
    session.submit(text)
    try:
        while session.busy or not seen:
            async for item in _until_quiet(session, reader):
                event = item.event if isinstance(item, Record) else item
                seen.append(event)
                if isinstance(event, ApprovalRequested) and answering is not None:
                    await _next_tick()
                    session.answer(event.approval.id, answering(event))
    finally:
        reader.close()
    return seen


async def _until_quiet(session: Session, reader: Any) -> AsyncIterator[Any]:
    while True:
        for item in reader.drain():
            yield item
        if not session.busy:
            for item in reader.drain():
                yield item
            return
        await asyncio.sleep(0.002)


async def _next_tick() -> None:
    await asyncio.sleep(0)


def once(_: ApprovalRequested) -> Decision:
    return Decision("once")


def deny(_: ApprovalRequested) -> Decision:
    return Decision("deny", "not like this")


def of(events: Sequence[Event], *kinds: type[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kinds)]


def names(events: Sequence[Event]) -> list[str]:
    """Class names of the durable events, for a readable comparison of a turn."""
    return [type(event).__name__ for event in events if event.durable]


def sent(emulator: Emulator, index: int = -1) -> dict[str, Any]:
    """The JSON body of one request that the emulator saw."""
    body = json.loads(emulator.requests[index].body)
    assert isinstance(body, dict)
    return body
