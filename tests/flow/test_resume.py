"""Coming back: the request after a resume is the request before it, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deeptide.agent.step import request_for
from deeptide.emulator.emulator import Emulator
from deeptide.emulator.says import Call, Say
from deeptide.emulator.script import Script
from deeptide.model.wire import body, dialect_for
from deeptide.protocol.errors import SessionError
from deeptide.protocol.events import (
    AssistantMessage,
    HistoryRepaired,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from deeptide.protocol.messages import ToolCall, assistant
from deeptide.session.log import LOG, Log
from tests.fakes.houses import house_of, of, once, say, sent


def wire_bytes(session: object) -> bytes:
    request = request_for(session.fold)  # type: ignore[attr-defined]
    return json.dumps(body(request, dialect_for("https://api.deepseek.com")), ensure_ascii=False).encode()


async def test_the_request_after_a_resume_equals_the_one_before_byte_for_byte(tmp_path: Path) -> None:
    script = Script.of(
        [
            Say("看一下。", thinking="先读", calls=(Call("list", {}), Call("glob", {"pattern": "*"}))),
            Say("Done.", thinking="fine"),
            Say("Again."),
        ]
    )
    emulator = Emulator(script)
    house = house_of(tmp_path / "w", emulator)
    session = await house.new()
    await say(session, "look around", once)
    before, name, cost = wire_bytes(session), session.id, session.fold.cost
    await session.close()
    await house.close()

    house = house_of(tmp_path / "w", emulator)
    session = await house.resume(name[:6])
    assert wire_bytes(session) == before
    assert session.fold.cost == cost
    await say(session, "and again")
    old, new = sent(emulator, 1)["messages"], sent(emulator, 2)["messages"]
    assert new[: len(old)] == old
    assert emulator.requests[2].usage["prompt_cache_hit_tokens"] > 0  # type: ignore[index]
    await session.close()
    await house.close()


async def test_a_session_killed_in_the_middle_of_a_call_resumes_with_the_call_closed(tmp_path: Path) -> None:
    emulator = Emulator(Script.of([Say("ok"), Say("I see.")]))
    house = house_of(tmp_path / "w", emulator)
    session = await house.new()
    await say(session, "hello")
    folder = session.path
    await session.close()
    log = Log(folder)
    log.read()
    log.append(TurnStarted(2))
    log.append(UserMessage("run it"))
    log.append(
        AssistantMessage(
            assistant("", calls=(ToolCall("c1", "shell", "{}"), ToolCall("c2", "list", "{}"))),
            "tool_calls",
            "m",
        )
    )
    log.append(ToolStarted("c1", "shell", "$ make"))
    log.close()
    with open(folder / LOG, "ab") as file:
        file.write(b'{"seq": 99, "torn')

    session = await house.resume("latest")
    assert [e.status for e in of([r.event for r in session.records], ToolFinished)] == [
        "orphaned",
        "orphaned",
    ]
    assert isinstance(session.records[-1].event, HistoryRepaired)
    assert of([r.event for r in session.records], TurnEnded)[-1].reason == "interrupted"
    assert any("torn" in text for text in house.notices)
    events = await say(session, "what happened?")
    assert of(events, TurnEnded)[0].reason == "done"
    assert emulator.requests[-1].status == 200
    await session.close()
    await house.close()


async def test_a_session_open_elsewhere_is_refused_with_its_holder(tmp_path: Path) -> None:
    house = house_of(tmp_path / "w", Emulator(Script.of([Say("hi")])))
    session = await house.new()
    await say(session, "hello")
    with pytest.raises(SessionError, match="is open in"):
        await house.resume(session.id)
    await session.close()
    await house.close()


async def test_settings_in_force_come_back_and_flags_win(tmp_path: Path) -> None:
    emulator = Emulator(Script.of([Say("hi")]))
    house = house_of(tmp_path / "w", emulator)
    session = await house.new()
    session.set_mode("auto-edit")
    session.set_effort("max")
    session.rename("登录")
    await say(session, "hello")
    await session.close()
    session = await house.resume("登录")
    assert (session.fold.mode, session.fold.effort, session.title) == ("auto-edit", "max", "登录")
    await session.close()
    await house.close()
    house = house_of(tmp_path / "w", emulator, flags={"permissions.mode": "plan"})
    session = await house.resume("latest")
    assert session.fold.mode == "plan"
    await session.close()
    await house.close()
