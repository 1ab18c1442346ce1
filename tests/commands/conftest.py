"""One real session in a temporary house, with the emulator in place of the provider."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from deeptide.commands.results import Result, Text
from deeptide.emulator.emulator import Emulator
from deeptide.emulator.script import Answerer, Say
from deeptide.emulator.transport import EmulatorTransport
from deeptide.session.session import Session
from deeptide.wiring.house import House, Options

SUMMARY = "\n\n".join(
    f"## {heading}\nx"
    for heading in ("Goal", "Constraints", "Progress", "Key Decisions", "Dead Ends", "Next step")
)
BRIEFING = "<carry_forward>\nWe keep integers because floats lose cents. 我们继续。\n</carry_forward>"


def talker(request: dict, n: int) -> Say:  # type: ignore[type-arg]
    """Answers anything at length, summaries and briefings in their form."""
    said = request["messages"][-1].get("content") or ""
    if "CONTEXT CHECKPOINT COMPACTION" in said:
        return Say(BRIEFING, "I sum up.")
    if "## Dead Ends" in said and not said.startswith("[context-summary]"):
        return Say(SUMMARY, "I sum up.")
    return Say(f"Answer {n}: " + f"the basket holds item {n}. " * 60, f"thinking {n}")


class Desk:
    """A house, its open session, and a hand that types."""

    def __init__(self, house: House, session: Session, emulator: Emulator) -> None:
        self.house, self.session, self.emulator = house, session, emulator

    async def type(self, line: str) -> Result:
        return await self.house.command(line, self.session)

    async def read(self, line: str) -> str:
        """What a command that answers with text says."""
        result = await self.type(line)
        assert isinstance(result, Text), result
        return result.markdown

    async def say(self, *texts: str) -> None:
        for text in texts:
            self.session.submit(text)
            await self.session.wait_idle()
            ended = self.session.records[-1].event
            assert getattr(ended, "reason", "") == "done", ended


Opener = Callable[..., Awaitable[Desk]]


@pytest.fixture
async def open_desk(tmp_path: Path) -> AsyncIterator[Opener]:
    desks: list[Desk] = []

    async def opened(script: Answerer = talker, **settings: object) -> Desk:
        workspace = tmp_path / "work"
        workspace.mkdir(exist_ok=True)
        emulator = Emulator(script)
        options = Options(
            workspace, home=tmp_path / "home", flags=settings, transport=EmulatorTransport(emulator)
        )
        house = House(options)
        desk = Desk(house, await house.new(), emulator)
        desks.append(desk)
        return desk

    yield opened
    for desk in desks:
        await desk.session.close()
        await desk.house.close()


@pytest.fixture
async def desk(open_desk: Opener) -> Desk:
    return await open_desk()
