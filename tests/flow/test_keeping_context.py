"""A long talk in a small window: it is warned about, folded, dropped, handed off, and nothing said is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from deeptide.emulator.emulator import Emulator
from deeptide.emulator.says import Call, Say
from deeptide.emulator.script import last_user_text
from deeptide.protocol.errors import UsageError
from deeptide.protocol.events import (
    Compacted,
    ContextWarning,
    CycleHandedOff,
    NoteAppended,
    Notice,
    TurnEnded,
    UnitsDropped,
)
from tests.fakes.houses import of, say, sent, talk

WINDOW = 16_000
SUMMARY = """## Goal
改好登录。
## Constraints
None.
## Progress
Done: reading. In Progress: tests. Blocked: nothing.
## Key Decisions
Use bcrypt, because the old hashes are weak.
## Dead Ends
md5.
## Next step
Run the tests."""
BRIEFING = "<carry_forward>\nWe chose bcrypt because the old hashes are weak; the tests still fail.\n</carry_forward>"


@pytest.fixture(autouse=True)
def small_window(own_home: Path) -> None:
    own_home.mkdir(parents=True, exist_ok=True)
    (own_home / "config.toml").write_text(f'[models."deepseek-flash"]\nwindow = {WINDOW}\n')


def script(request: dict[str, Any], n: int) -> Say:
    """Answers a compaction and a briefing properly and everything else with about 1,100 tokens of words."""
    asked = last_user_text(request)
    if "Key Decisions" in asked:
        return Say(SUMMARY)
    if "## Briefing Request" in asked or "CONTEXT CHECKPOINT COMPACTION" in asked:
        return Say(BRIEFING)
    return Say(f"Answer {n}. " + "The tide rises and falls twice a day. " * 120)


def emulator() -> Emulator:
    return Emulator(script, window=WINDOW)


async def test_each_tier_speaks_once_and_the_model_is_told(tmp_path: Path) -> None:
    async with talk(tmp_path / "w", script, emulator=emulator()) as (session, service):
        seen = []
        for turn in range(8):
            seen += await say(session, f"question {turn}")
            if session.reading().percent >= 90:
                break
        tiers = [event.tier for event in of(seen, ContextWarning)]
        assert tiers == sorted(set(tiers)) and tiers
        notes = [event for event in of(seen, NoteAppended) if event.kind == "warning"]
        assert len(notes) == len(tiers)
        await say(session, "next")
        assert any("usable tokens" in str(m["content"]) for m in sent(service)["messages"])


async def test_compacting_keeps_the_users_words_and_reads_from_the_cache(tmp_path: Path) -> None:
    async with talk(tmp_path / "w", script, emulator=emulator()) as (session, service):
        for turn in range(5):
            await say(session, f"question {turn}: keep this 原话 {turn}")
        before = session.reading().used
        line = await session.compact("the API decisions")
        assert "folded into a summary" in line
        (event,) = of([r.event for r in session.records], Compacted)
        assert event.tokens_after < event.tokens_before
        assert session.reading().used < before
        assert "bcrypt" in event.summary and "the API decisions" in str(
            sent(service)["messages"][-1]["content"]
        )
        assert service.requests[-1].usage["prompt_cache_hit_tokens"] > 0  # type: ignore[index]
        await say(session, "and now?")
        view = str(sent(service)["messages"])
        assert all(f"question {turn}: keep this 原话 {turn}" in view for turn in range(5))
        assert all(request.status == 200 for request in service.requests)


async def test_a_compaction_is_undone_exactly(tmp_path: Path) -> None:
    async with talk(tmp_path / "w", script, emulator=emulator()) as (session, _):
        for turn in range(5):
            await say(session, f"question {turn}")
        before = session.fold.messages()
        await session.compact()
        assert session.fold.messages() != before
        await session.compact_undo()
        assert session.fold.messages() == before
        with pytest.raises(UsageError):
            await session.compact_undo()


async def test_without_a_model_the_ledger_alone_is_used_and_said(tmp_path: Path) -> None:
    def broken(request: dict[str, Any], n: int) -> Say:
        return Say("") if "Key Decisions" in last_user_text(request) else script(request, n)

    async with talk(tmp_path / "w", broken, emulator=Emulator(broken, window=WINDOW)) as (session, _):
        for turn in range(5):
            await say(session, f"question {turn}")
        await session.compact()
        (event,) = of([r.event for r in session.records], Compacted)
        assert not event.narrative and event.notice


async def test_auto_compact_fires_once_at_the_end_of_the_response(tmp_path: Path) -> None:
    async with talk(tmp_path / "w", script, emulator=emulator()) as (session, service):
        session.auto.command("50")
        seen = []
        for turn in range(9):
            seen += await say(session, f"question {turn}")
        assert session.auto.fired >= 1
        assert len(of(seen, Compacted)) == session.auto.fired
        assert [event.trigger for event in of(seen, Compacted)] == ["auto"] * session.auto.fired
        assert any("auto-compact at" in event.text for event in of(seen, Notice))
        assert all(request.status == 200 for request in service.requests)


async def test_a_run_of_calls_never_passes_the_window(tmp_path: Path) -> None:
    def busy(request: dict[str, Any], n: int) -> Say:
        if "Key Decisions" in last_user_text(request):
            return Say(SUMMARY)
        if n > 40:
            return Say("Enough.")
        return Say(f"Step {n}.", calls=(Call("shell", {"command": f"seq {n * 1000} {n * 1000 + 700}"}),))

    service = Emulator(busy, window=WINDOW)
    async with talk(tmp_path / "w", busy, emulator=service, flags={"permissions.mode": "yolo"}) as (
        session,
        _,
    ):
        events = await say(session, "count for a long time, 请")
        assert of(events, TurnEnded)[0].reason == "done"
        assert all(request.status == 200 for request in service.requests)
        assert of([r.event for r in session.records], Compacted, UnitsDropped)
        assert "count for a long time, 请" in str(sent(service)["messages"])


async def test_with_automatic_off_only_the_hard_limit_acts(tmp_path: Path) -> None:
    flags = {"context.automatic": "off"}
    async with talk(tmp_path / "w", script, emulator=emulator(), flags=flags) as (session, service):
        for turn in range(14):
            await say(session, f"question {turn}")
        events = [r.event for r in session.records]
        assert not of(events, Compacted) and of(events, UnitsDropped)
        assert all(request.status == 200 for request in service.requests)


async def test_an_overflow_of_the_provider_is_not_the_end(tmp_path: Path) -> None:
    tight = Emulator(script, window=WINDOW - 6_000)
    async with talk(tmp_path / "w", script, emulator=tight) as (session, service):
        for turn in range(6):
            events = await say(session, f"question {turn}")
            assert of(events, TurnEnded)[0].reason == "done", of(events, TurnEnded)
        assert any(request.status == 400 for request in service.requests)


async def test_a_hand_off_archives_the_talk_and_the_next_cycle_can_recall_it(tmp_path: Path) -> None:
    def answering(request: dict[str, Any], n: int) -> Say:
        asked = last_user_text(request)
        if "what was the code" in asked and request["messages"][-1]["role"] == "user":
            return Say(calls=(Call("recall_archive", {"query": "secret code word"}),))
        return script(request, n)

    service = Emulator(answering, window=WINDOW)
    async with talk(tmp_path / "w", answering, emulator=service) as (session, _):
        await say(session, "the secret code word is 珊瑚 coral")
        await say(session, "go on")
        line = await session.cycle_now()
        assert "Cycle 1" in line
        (event,) = of([r.event for r in session.records], CycleHandedOff)
        assert (session.path / "cycles" / event.archive).exists()
        assert "bcrypt" in event.seed
        view = session.fold.messages()
        assert len(view) == 2 and "coral" not in view[1].text
        await say(session, "what was the code?")
        result = sent(service)["messages"][-1]
        assert result["role"] == "tool" and "coral" in result["content"]


async def test_cancelling_a_compaction_leaves_everything_as_it_was(tmp_path: Path) -> None:
    def slow(request: dict[str, Any], n: int) -> Say:
        if "Key Decisions" in last_user_text(request):
            return Say(SUMMARY, delay=0.2)
        return script(request, n)

    async with talk(tmp_path / "w", slow, emulator=Emulator(slow, window=WINDOW)) as (session, _):
        for turn in range(5):
            await say(session, f"question {turn}")
        before = session.fold.messages()
        work = asyncio.create_task(session.compact())
        await asyncio.sleep(0.3)
        session.submit("said meanwhile")
        assert session.queue == ("said meanwhile",)
        await session.cancel()
        assert "Cancelled" in await work
        assert session.fold.messages()[: len(before)] == before
        await session.wait_idle()
        assert session.fold.last_user is not None
        assert session.fold.last_user.message.text == "said meanwhile"


async def test_rewind_undo_and_redo_move_the_view_and_keep_what_was_spent(tmp_path: Path) -> None:
    async with talk(tmp_path / "w", script, emulator=emulator()) as (session, service):
        await say(session, "one")
        point = session.checkpoint("before two")
        view = session.fold.messages()
        await say(session, "two")
        cost, full = session.fold.cost, session.fold.messages()
        await session.rewind("before two")
        assert session.fold.messages() == view and session.fold.cost == cost
        await session.redo()
        assert session.fold.messages() == full
        await session.undo()
        assert session.fold.messages() == view
        await say(session, "another two")
        assert "two" not in [m.get("content") for m in sent(service)["messages"]]
        with pytest.raises(UsageError):
            await session.redo()
        assert session.checkpoints.find(point.id) == point


@pytest.mark.parametrize(
    ("endpoint", "writer"),
    [("https://api.deepseek.com", "deepseek-flash"), ("http://127.0.0.1:9/v1", "deepseek-v4-pro")],
)
async def test_a_briefing_is_written_by_flash_where_deepseek_answers(
    tmp_path: Path, endpoint: str, writer: str
) -> None:
    flags = {"model.name": "pro", "model.base_url": endpoint}
    async with talk(tmp_path / "w", script, flags=flags) as (session, service):
        await say(session, "one")
        assert "Cycle 1" in await session.cycle_now()
        assert [sent(service, at)["model"] for at in (0, 1)] == ["deepseek-v4-pro", writer]
