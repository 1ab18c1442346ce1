"""The demo, from its first prompt to a hand-off, with the real tools on the sample project."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

from deeptide.commands.results import Text
from deeptide.emulator.demo import demo_script
from deeptide.emulator.demo_words import WORDS
from deeptide.emulator.emulator import Emulator
from deeptide.emulator.transport import EmulatorTransport
from deeptide.protocol.approvals import Approval, Decision
from deeptide.protocol.events import ApprovalRequested, AssistantMessage, ContextWarning, Record, ToolFinished
from deeptide.session.session import Session
from deeptide.wiring.demo import DEMO_WINDOW
from deeptide.wiring.house import House, Options


async def approve(session: Session, asked: list[Approval]) -> None:
    async for item in session.subscribe():
        event = item.event if isinstance(item, Record) else item
        if isinstance(event, ApprovalRequested):
            asked.append(event.approval)
            session.answer(event.approval.id, Decision("once"))


async def test_a_denied_edit_is_owned_up_to_and_can_be_asked_for_again(tmp_path: Path) -> None:
    transport = EmulatorTransport(Emulator(demo_script(0.0), window=DEMO_WINDOW))
    house = House(Options(tmp_path, home=tmp_path / "home", demo=True, transport=transport))
    assert "scripted demo" in house.hint
    session, answers = await house.new(), {"edit": Decision("deny", "use round()")}

    async def answer() -> None:
        async for item in session.subscribe():
            event = item.event if isinstance(item, Record) else item
            if isinstance(event, ApprovalRequested):
                session.answer(event.approval.id, answers.get(event.approval.tool, Decision("once")))

    async def say(text: str) -> str:
        session.submit(text)
        await session.wait_idle()
        return next(
            r.event.message.text for r in reversed(session.records) if isinstance(r.event, AssistantMessage)
        )

    watching = asyncio.create_task(answer())
    await asyncio.sleep(0)
    price = house.workspace / "basket/price.py"
    before = price.read_text(encoding="utf-8")
    assert await say("hello, what is in this project?") == WORDS["en"]["guide"]
    told = "The user denied this call. use round()"
    assert await say("fix the failing test") == WORDS["en"]["refused"].format(result=told)
    assert price.read_text(encoding="utf-8") == before
    answers.clear()
    assert await say("please fix it") == WORDS["en"]["final"]
    await house.command("/undo", session)
    assert await say("fix the failing test") == WORDS["en"]["already"]
    session.set_mode("plan")
    assert await say("再修一次") == WORDS["zh"]["fixed_code"]
    watching.cancel()
    await session.close()
    await house.close()


async def test_the_demo_plays_from_the_first_prompt_to_a_hand_off(tmp_path: Path) -> None:
    emulator = Emulator(demo_script(0.0), window=DEMO_WINDOW)
    house = House(Options(tmp_path, home=tmp_path / "home", demo=True, transport=EmulatorTransport(emulator)))
    session, asked = await house.new(), list[Approval]()
    watching = asyncio.create_task(approve(session, asked))
    await asyncio.sleep(0)

    async def say(text: str) -> str:
        session.submit(text)
        await session.wait_idle()
        return next(
            r.event.message.text for r in reversed(session.records) if isinstance(r.event, AssistantMessage)
        )

    async def read(line: str) -> str:
        result = await house.command(line, session)
        assert isinstance(result, Text)
        return result.markdown

    assert await say("fix the failing test") == WORDS["en"]["final"]
    results = [r.event for r in session.records if isinstance(r.event, ToolFinished)]
    names = [result.result.name for result in results if result.status == "ok"]
    assert names.count("edit") == 1 and names.count("todo") == 3
    assert "OK" in [result.result.content for result in results if result.result.name == "shell"][-1]
    assert {approval.preview_kind for approval in asked} >= {"diff"}
    tests = subprocess.run("python3 -m unittest -q", shell=True, cwd=house.workspace, capture_output=True)
    assert tests.returncode == 0
    assert "3 of 3 done" in await read("/plan")

    for _ in range(5):
        await say("fill it")
    assert any(isinstance(r.event, ContextWarning) for r in session.records)
    assert "folded into a summary" in await read("/compact")
    assert WORDS["en"]["done_fix"] in session.fold.messages()[1].text
    assert "is archived" in await read("/cycle now")
    assert "dividing before multiplying" in await read("/cycle 1")
    assert await say("还能做什么?") in (WORDS["zh"]["guide"], WORDS["zh"]["guide_again"])
    refused = [seen.error for seen in emulator.requests if seen.status != 200]
    assert all("maximum context length" in error for error in refused)
    watching.cancel()
    await session.close()
    await house.close()
