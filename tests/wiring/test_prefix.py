"""The prefix of every request is frozen: nothing volatile in it, whatever changes around it."""

from __future__ import annotations

import itertools
from datetime import date
from pathlib import Path

from deeptide.emulator.emulator import Emulator
from deeptide.emulator.says import Say
from deeptide.emulator.script import Script
from deeptide.protocol.events import NoteAppended
from deeptide.wiring.facts import Facts
from deeptide.workspace.roots import Roots
from tests.fakes.houses import house_of, of, say, sent, talk


async def test_the_start_of_every_request_is_the_same_bytes(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    async with talk(workspace, Script.of([Say("one"), Say("two"), Say("three")])) as (session, emulator):
        await say(session, "first")
        (workspace / "new.txt").write_text("a change in the folder")
        session.set_mode("plan")
        await say(session, "second")
        session.set_effort("max")
        await say(session, "third")
        bodies = [request.body for request in emulator.requests]
        requests = [sent(emulator, at) for at in range(3)]
        for earlier, later in itertools.pairwise(requests):
            assert later["messages"][: len(earlier["messages"])] == earlier["messages"]
            assert later["tools"] == earlier["tools"]
        assert str(date.today()).encode() not in bodies[0].split(b'"user"')[0]


async def test_two_sessions_in_one_folder_share_their_prefix(tmp_path: Path) -> None:
    emulator = Emulator(Script.of([Say("a"), Say("b")]))
    for _ in range(2):
        house = house_of(tmp_path / "w", emulator)
        session = await house.new()
        await say(session, "hello")
        await session.close()
        await house.close()
    first, second = sent(emulator, 0), sent(emulator, 1)
    assert first["messages"][0] == second["messages"][0] and first["tools"] == second["tools"]


async def test_an_upgrade_that_changes_a_prompt_does_not_change_a_resumed_session(tmp_path: Path) -> None:
    emulator = Emulator(Script.of([Say("a"), Say("b")]))
    house = house_of(tmp_path / "w", emulator)
    session = await house.new()
    await say(session, "hello")
    await session.close()
    (tmp_path / "w" / "AGENTS.md").write_text("new instructions")
    changed = house_of(tmp_path / "w", emulator, trust=True)
    resumed = await changed.resume("latest")
    await say(resumed, "again")
    assert sent(emulator, 1)["messages"][0] == sent(emulator, 0)["messages"][0]
    await resumed.close()
    await changed.close()
    await house.close()


async def test_date_and_mode_are_told_once_and_again_only_when_they_change(tmp_path: Path) -> None:
    async with talk(tmp_path / "w", Script.of([Say("a"), Say("b"), Say("c")])) as (session, _):
        first = of(await say(session, "one"), NoteAppended)
        second = of(await say(session, "two"), NoteAppended)
        session.set_mode("plan")
        third = of(await say(session, "three"), NoteAppended)
        assert [len(notes) for notes in (first, second, third)] == [1, 0, 1]
        assert first[0].text.startswith("Today is ") and third[0].text.startswith("Mode: plan")
        tomorrow = Facts(Roots(tmp_path / "w"), session.fold, lambda: date(2099, 1, 1))
        assert (await tomorrow.note()).startswith("Today is Thursday, 2099-01-01")
