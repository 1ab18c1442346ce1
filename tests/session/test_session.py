"""The doors of a session: what is refused, what is queued, what is left behind."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from deeptide.emulator.emulator import Emulator
from deeptide.emulator.says import Say
from deeptide.emulator.script import Script
from deeptide.protocol.approvals import Decision
from deeptide.protocol.errors import UsageError
from deeptide.protocol.events import NoteAppended, QueueChanged, UserMessage
from tests.fakes.houses import house_of, of, say, sent, talk


async def test_a_session_in_which_nothing_was_said_leaves_nothing_behind(tmp_path: Path) -> None:
    house = house_of(tmp_path / "w", Emulator())
    session = await house.new()
    folder = session.path
    await session.close()
    await session.close()
    await house.close()
    assert not folder.exists()


async def test_what_cannot_be_done_while_the_agent_works_is_refused_with_advice(tmp_path: Path) -> None:
    async with talk(tmp_path / "w", Script.of([Say("slow " * 50, delay=0.02)])) as (session, emulator):
        session.submit("go")
        while not emulator.requests:
            await asyncio.sleep(0.005)
        session.checkpoint("now")
        for work in (
            session.compact(),
            session.rewind(""),
            session.undo(),
            session.redo(),
            session.cycle_now(),
        ):
            with pytest.raises(UsageError, match="while the agent works"):
                await work
        await session.cancel()


async def test_wrong_values_are_refused_and_change_nothing(tmp_path: Path) -> None:
    async with talk(tmp_path / "w", Script()) as (session, _):
        before = len(session.records)
        for act in (
            lambda: session.set_effort("huge"),
            lambda: session.set_model("deepseek-chat"),
            lambda: session.rename("  "),
            lambda: session.pin(""),
        ):
            with pytest.raises(UsageError):
                act()
        assert len(session.records) == before
        assert not session.answer("nobody", Decision("once"))


async def test_a_model_switch_measures_again_and_says_what_it_costs(tmp_path: Path) -> None:
    async with talk(tmp_path / "w", Script.of([Say("a"), Say("b")])) as (session, emulator):
        await say(session, "one")
        said = session.set_model("pro")
        assert "deepseek-v4-pro" in said and "anew" in said
        await say(session, "two")
        assert sent(emulator)["model"] == "deepseek-v4-pro"
        assert any(point.automatic for point in session.checkpoints.list())


async def test_the_users_own_command_runs_without_a_question_and_is_told(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    async with talk(workspace, Script.of([Say("seen")])) as (session, emulator):
        await session.run_shell("echo 你好; touch made.txt; exit 3")
        assert (workspace / "made.txt").exists()
        (note,) = of([r.event for r in session.records], NoteAppended)
        assert "你好" in note.text and "exit 3" in note.text
        await say(session, "what happened?")
        assert any("你好" in str(m["content"]) for m in sent(emulator)["messages"])


async def test_a_queued_message_can_be_taken_back(tmp_path: Path) -> None:
    async with talk(tmp_path / "w", Script.of([Say("slow " * 40, delay=0.02), Say("next")])) as (
        session,
        emulator,
    ):
        session.submit("go")
        while not emulator.requests:
            await asyncio.sleep(0.005)
        session.submit("one")
        session.submit("two")
        assert session.queue == ("one", "two")
        assert session.unqueue() == "two"
        await session.wait_idle()
        words = [entry.message.text for entry in session.fold.entries if entry.kind == "user"]
        assert words == ["go", "one"]


async def test_words_wait_in_sight_only_until_they_are_said(tmp_path: Path) -> None:
    async with talk(tmp_path / "w", Script.of([Say("fine")])) as (session, _):
        events = await say(session, "hello")
        shown = [event.items for event in of(events, QueueChanged)]
        assert shown[0] == ("hello",) and set(shown[1:]) == {()}
        kinds = [type(event) for event in events]
        assert kinds.index(QueueChanged, 1) < kinds.index(UserMessage)
