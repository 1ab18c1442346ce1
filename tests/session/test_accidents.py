"""Odd moments and odd text: nothing typed is lost, nothing wedges, and the session stays resumable."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from deeptide.emulator.emulator import Emulator
from deeptide.emulator.says import Call, Say
from deeptide.emulator.script import Script
from deeptide.protocol.approvals import Decision
from deeptide.protocol.events import (
    ApprovalRequested,
    NoteAppended,
    Notice,
    ToolFinished,
    ToolOutput,
    TurnEnded,
    UserMessage,
    Working,
)
from deeptide.session.log import LOG, load
from deeptide.session.rewinding import turn_points
from deeptide.session.session import Session
from tests.fakes.houses import house_of, of, once, say, sent, talk


def said(session: Session) -> list[str]:
    return [r.event.text for r in session.records if isinstance(r.event, UserMessage)]


@pytest.mark.parametrize("ticks", [0, 1, 2, 3, 5, 8])
async def test_an_interrupt_at_any_moment_of_a_start_keeps_the_words_and_wedges_nothing(
    tmp_path: Path, ticks: int
) -> None:
    async with talk(tmp_path / "w", Script.of([Say("one"), Say("two")])) as (session, _):
        session.submit("do not lose me")
        for _ in range(ticks):
            await asyncio.sleep(0)
        await session.cancel()
        assert not session.busy
        assert said(session) == ["do not lose me"]
        events = await say(session, "next")
        assert of(events, TurnEnded)[-1].reason == "done"


async def test_what_an_interrupted_turn_left_in_the_queue_goes_before_new_words(tmp_path: Path) -> None:
    slow = Say("slow " * 60, delay=0.02)
    async with talk(tmp_path / "w", Script.of([slow, Say("a"), Say("b")])) as (session, emulator):
        session.submit("first")
        while not emulator.requests:
            await asyncio.sleep(0.005)
        session.submit("queued")
        await session.cancel()
        assert session.queue == ("queued",)
        await say(session, "new")
        assert said(session) == ["first", "queued", "new"]


async def test_lone_surrogates_from_anyone_are_mended_and_the_session_goes_on(tmp_path: Path) -> None:
    script = Script.of(
        [
            Say(calls=(Call("shell", '{"command":"echo \\ud83d"}'), Call("read", '{"path":"\\udcff.txt"}'))),
            Say("fine"),
        ]
    )
    async with talk(tmp_path / "w", script, flags={"permissions.mode": "yolo"}) as (session, emulator):
        events = await say(session, "hi \udcff there", once)
        assert of(events, TurnEnded)[-1].reason == "done"
        assert len(of(events, ToolFinished)) == 2
        session.rename("title \ud83d")
        session.pin("pin \ud83d")
        assert all(request.status == 200 for request in emulator.requests)
        assert load(session.path / LOG).records == tuple(session.records)
        assert said(session) == ["hi \ufffd there"]


async def test_a_workspace_whose_name_is_no_text_can_be_worked_in(tmp_path: Path) -> None:
    folder = Path(str(tmp_path / "w") + "\udcff")
    async with talk(folder, Script.of([Say("fine")])) as (session, _):
        assert of(await say(session, "hello"), TurnEnded)[-1].reason == "done"


async def test_a_target_that_changed_while_the_user_was_asked_is_not_touched(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "w", tmp_path / "outside"
    outside.mkdir()
    script = Script.of([Say(calls=(Call("write", {"path": "new/x.txt", "content": "x"}),)), Say("ok")])

    def swap(_: ApprovalRequested) -> Decision:
        (workspace / "new").symlink_to(outside)
        return Decision("once")

    async with talk(workspace, script) as (session, emulator):
        await say(session, "write it", swap)
        assert not list(outside.iterdir())
        assert "changed while the user was asked" in sent(emulator)["messages"][-1]["content"]


async def test_an_own_command_can_be_interrupted_and_what_it_said_is_kept(tmp_path: Path) -> None:
    async with talk(tmp_path / "w", Script()) as (session, _):
        reader = session.subscribe()
        running = asyncio.create_task(session.run_shell("echo before; sleep 60; echo after"))
        async for item in reader:
            if item == Working("before"):
                break
        assert session.shells == 1
        await session.cancel()
        await running
        (note,) = of([r.event for r in session.records], NoteAppended)
        assert note.text.endswith("before\n\n(interrupted by the user)")


async def test_an_interrupted_command_of_the_agent_keeps_its_last_output(tmp_path: Path) -> None:
    script = Script.of([Say(calls=(Call("shell", {"command": "echo tick; sleep 60"}),)), Say("ok")])
    async with talk(tmp_path / "w", script, flags={"permissions.mode": "yolo"}) as (session, _):
        reader = session.subscribe()
        session.submit("run")
        async for item in reader:
            if isinstance(item, ToolOutput):
                break
        await session.cancel()
        (finished,) = of([r.event for r in session.records], ToolFinished)
        assert finished.status == "cancelled" and "tick" in finished.result.content


async def test_a_resumed_session_is_asked_where_it_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", "sk-of-the-user-00")
    house = house_of(
        tmp_path / "w", Emulator(Script.of([Say("hi")])), flags={"model.base_url": "http://127.0.0.1:9/v1"}
    )
    session = await house.new()
    await say(session, "hello", once)
    await session.close()
    await house.close()
    later = house_of(tmp_path / "w", Emulator())
    assert later.store.find("latest").endpoint == "http://127.0.0.1:9/v1"
    assert later._endpoint("http://127.0.0.1:9/v1") == "http://127.0.0.1:9/v1"
    await later.close()


def test_a_damaged_number_and_a_missing_line_are_said_and_cost_nothing(tmp_path: Path) -> None:
    lines = [
        b'{"seq":%d,"at":1,"event":{"type":"user_message","text":"x"}}\n' % seq for seq in (1, 2, 4, 10**12)
    ]
    (tmp_path / LOG).write_bytes(b"".join(lines))
    loaded = load(tmp_path / LOG)
    assert [record.seq for record in loaded.records] == [1, 2, 3, 4]
    assert (loaded.missing, loaded.unreadable) == (1, (4,))


async def test_every_turn_can_be_gone_back_to_also_after_a_restart(tmp_path: Path) -> None:
    house = house_of(tmp_path / "w", Emulator(Script.of([Say("a"), Say("b"), Say("c"), Say("d")])))
    session = await house.new()
    for words in ("one", "two", "三"):
        await say(session, words)
    await session.close()
    session = await house.resume("latest")
    points = turn_points(session.fold)
    assert [point.words for point in points] == ["one", "two", "三"]
    await session.rewind_to(points[1])
    assert [entry.message.text for entry in session.fold.entries if entry.kind == "user"] == ["one"]
    await session.redo()
    assert [point.words for point in turn_points(session.fold)] == ["one", "two", "三"]
    await session.close()
    await house.close()


async def test_a_model_that_is_too_small_takes_nothing_out_of_the_view(
    tmp_path: Path, own_home: Path
) -> None:
    own_home.mkdir(parents=True, exist_ok=True)
    (own_home / "config.toml").write_text("[models.tiny]\nwindow = 2048\n")
    async with talk(tmp_path / "w", Script.of([Say("a"), Say("b"), Say("c"), Say("d")])) as (
        session,
        emulator,
    ):
        for words in ("one", "two", "three"):
            await say(session, words)
        before = session.fold.messages()
        session.set_model("tiny")
        events = await say(session, "hm")
        assert of(events, TurnEnded)[-1].reason == "error" and len(emulator.requests) == 3
        assert session.fold.messages()[: len(before)] == before
        session.set_model("flash")
        assert of(await say(session, "back"), TurnEnded)[-1].reason == "done"


async def test_a_log_that_was_deleted_is_said_at_once(tmp_path: Path) -> None:
    async with talk(tmp_path / "w", Script.of([Say("a"), Say("b")])) as (session, _):
        await say(session, "one")
        shutil.rmtree(session.path)
        events = await say(session, "precious")
        assert any("deleted while it was open" in event.text for event in of(events, Notice))
        assert session.queue == ("precious",)


@pytest.mark.parametrize(
    "usage", [{"completion_tokens": 10**9}, {"prompt_tokens": 10**15}, {"prompt_tokens": 1}]
)
async def test_a_usage_that_cannot_be_true_does_not_move_the_meter(
    tmp_path: Path, usage: dict[str, int]
) -> None:
    async with talk(tmp_path / "w", Script.of([Say("a", usage=usage), Say("b")])) as (session, _):
        await say(session, "one")
        assert 500 < session.reading().used < 10_000
        assert of(await say(session, "two"), TurnEnded)[-1].reason == "done"
