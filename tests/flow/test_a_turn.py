"""One whole turn: words in, events out, then the files and the bytes that were sent."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from deeptide.emulator.emulator import Emulator
from deeptide.emulator.says import Call, Fault, Say
from deeptide.emulator.script import Script
from deeptide.protocol.approvals import Decision
from deeptide.protocol.events import (
    ApprovalAnswered,
    ApprovalRequested,
    AssistantMessage,
    PlanChanged,
    Retrying,
    TextDelta,
    ToolFinished,
    TurnEnded,
)
from tests.fakes.houses import deny, names, of, once, say, sent, talk


async def test_a_question_gets_its_answer(tmp_path: Path) -> None:
    script = Script.of([Say("The answer is 42.", thinking="Easy.")])
    async with talk(tmp_path / "w", script) as (session, emulator):
        events = await say(session, "What is the answer?")
        assert names(events) == [
            "TurnStarted",
            "NoteAppended",
            "UserMessage",
            "StepStarted",
            "AssistantMessage",
            "TurnEnded",
        ]
        assert "".join(event.text for event in of(events, TextDelta)) == "The answer is 42."
        (answer,) = of(events, AssistantMessage)
        assert (answer.message.text, answer.message.thinking) == ("The answer is 42.", "Easy.")
        assert answer.usage and answer.usage.prompt > 0 and answer.cost and answer.cost.amount > 0
        assert sent(emulator)["messages"][-1] == {"role": "user", "content": "What is the answer?"}


async def test_an_edit_is_shown_approved_applied_and_told(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    (workspace / "a.py").write_bytes(b"x = 1\r\ny = 2\r\n")
    script = Script.of(
        [
            Say("Reading.", calls=(Call("read", {"path": "a.py"}),)),
            Say(calls=(Call("edit", {"path": "a.py", "edits": [{"old": "x = 1", "new": "x = 3"}]}),)),
            Say("Done."),
        ]
    )
    async with talk(workspace, script) as (session, _):
        events = await say(session, "set x to 3", once)
        (asked,) = of(events, ApprovalRequested)
        assert asked.approval.preview_kind == "diff"
        assert "-x = 1" in asked.approval.preview and "+x = 3" in asked.approval.preview
        read, edited = of(events, ToolFinished)
        assert (read.status, edited.status) == ("ok", "ok")
        assert "+x = 3" in edited.diff
        assert (workspace / "a.py").read_bytes() == b"x = 3\r\ny = 2\r\n"
        assert of(events, TurnEnded)[0].reason == "done"


async def test_a_denial_changes_nothing_and_its_reason_reaches_the_model(tmp_path: Path) -> None:
    script = Script.of([Say(calls=(Call("write", {"path": "new.txt", "content": "x"}),)), Say("Fine.")])
    async with talk(tmp_path / "w", script) as (session, emulator):
        events = await say(session, "write it", deny)
        assert of(events, ToolFinished)[0].status == "denied"
        assert not (tmp_path / "w" / "new.txt").exists()
        assert "not like this" in sent(emulator)["messages"][-1]["content"]


async def test_read_only_calls_run_together_and_answer_in_the_order_of_the_calls(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    for name in "abc":
        (workspace / f"{name}.txt").write_text(f"content of {name}\n")
    calls = tuple(Call("read", {"path": f"{name}.txt"}) for name in "abc")
    async with talk(workspace, Script.of([Say(calls=calls), Say("Read.")])) as (session, emulator):
        await say(session, "read them")
        results = [m for m in sent(emulator)["messages"] if m["role"] == "tool"]
        assert [f"content of {name}" in r["content"] for name, r in zip("abc", results, strict=True)] == [
            True
        ] * 3


async def test_a_plan_is_an_event_and_shown_whole(tmp_path: Path) -> None:
    items = [{"text": "看", "status": "completed"}, {"text": "do", "status": "in_progress"}]
    script = Script.of([Say(calls=(Call("todo", {"items": items}),)), Say("ok")])
    async with talk(tmp_path / "w", script) as (session, _):
        events = await say(session, "plan it")
        (changed,) = of(events, PlanChanged)
        assert changed.plan.render() == "[x] 看\n[~] do"
        assert session.fold.plan == changed.plan


async def test_an_unknown_tool_and_broken_arguments_are_answered_not_fatal(tmp_path: Path) -> None:
    script = Script.of(
        [
            Say(calls=(Call("fly", {}),)),
            Say(calls=(Call("read", '{"path": '),)),
            Say("I see."),
        ]
    )
    async with talk(tmp_path / "w", script) as (session, emulator):
        events = await say(session, "go")
        assert [event.status for event in of(events, ToolFinished)] == ["error", "error"]
        assert of(events, TurnEnded)[0].reason == "done"
        assert [request.status for request in emulator.requests] == [200, 200, 200]


async def test_a_cut_stream_is_retried_and_never_counts_as_an_answer(tmp_path: Path) -> None:
    emulator = Emulator(Script.of([Say("All of it, to the end.")]), faults=[Fault("eof", at=2)])
    async with talk(tmp_path / "w", Script(), emulator=emulator) as (session, _):
        events = await say(session, "tell me")
        assert of(events, Retrying)
        answers = [event for event in of(events, AssistantMessage) if event.finish == "stop"]
        assert [event.message.text for event in answers] == ["All of it, to the end."]


async def test_a_refused_key_ends_the_turn_with_advice_and_keeps_the_words(tmp_path: Path) -> None:
    emulator = Emulator(Script.of([]), key="the-right-one")
    async with talk(tmp_path / "w", Script(), emulator=emulator) as (session, _):
        events = await say(session, "hello")
        (ended,) = of(events, TurnEnded)
        assert ended.reason == "error" and ended.advice
        assert session.fold.entries[-1].message.text == "hello"


async def test_an_interrupt_leaves_a_history_that_the_provider_accepts(tmp_path: Path) -> None:
    slow = Say("word " * 200, thinking="hm " * 50, delay=0.01)
    script = Script.of([slow, Say("Fresh answer.")])
    async with talk(tmp_path / "w", script) as (session, emulator):
        session.submit("long one")
        while not any(isinstance(r.event, AssistantMessage) for r in session.records):
            await asyncio.sleep(0.05)
            if len(emulator.requests) and session.busy:
                await asyncio.sleep(0.2)
                await session.cancel()
        assert session.records[-1].event.reason == "interrupted"  # type: ignore[union-attr]
        events = await say(session, "go on")
        assert of(events, TurnEnded)[0].reason == "done"
        assert emulator.requests[-1].status == 200


async def test_an_interrupt_while_a_question_is_open_closes_the_call(tmp_path: Path) -> None:
    script = Script.of(
        [Say(calls=(Call("shell", {"command": "touch x"}), Call("shell", {"command": "touch y"}))), Say("ok")]
    )
    async with talk(tmp_path / "w", script) as (session, emulator):
        session.submit("run")
        while not session.gate.pending:
            await asyncio.sleep(0.005)
        await session.cancel()
        finished = [r.event for r in session.records if isinstance(r.event, ToolFinished)]
        assert [event.status for event in finished] == ["cancelled", "cancelled"]
        assert not session.gate.pending
        events = await say(session, "never mind")
        assert of(events, TurnEnded)[0].reason == "done"
        assert emulator.requests[-1].status == 200


async def test_queued_words_wait_and_steered_words_go_in_at_once(tmp_path: Path) -> None:
    script = Script.of(
        [
            Say("one", calls=(Call("shell", {"command": "sleep 0.3"}),)),
            Say("two"),
            Say("three"),
        ]
    )
    async with talk(tmp_path / "w", script, flags={"permissions.mode": "yolo"}) as (session, emulator):
        session.submit("start")
        while not emulator.requests:
            await asyncio.sleep(0.005)
        session.submit("queued")
        session.steer("steered")
        await session.wait_idle()
        words = [entry.message.text for entry in session.fold.entries if entry.kind in ("user", "steered")]
        assert words == ["start", "steered", "queued"]
        roles = [(m["role"], m.get("content")) for m in sent(emulator, 1)["messages"]][-1]
        assert roles == ("user", "steered")


async def test_an_answer_for_this_session_is_not_asked_again(tmp_path: Path) -> None:
    command = {"command": "touch made.txt"}
    script = Script.of(
        [Say(calls=(Call("shell", command),)), Say(calls=(Call("shell", command),)), Say("ok")]
    )
    async with talk(tmp_path / "w", script) as (session, _):
        events = await say(session, "twice", lambda _: Decision("session"))
        assert len(of(events, ApprovalRequested)) == 1
        assert of(events, ApprovalAnswered)[0].rule
        assert [event.status for event in of(events, ToolFinished)] == ["ok", "ok"]


async def test_plan_mode_refuses_changes_with_words_the_model_can_read(tmp_path: Path) -> None:
    script = Script.of([Say(calls=(Call("write", {"path": "x", "content": "y"}),)), Say("planned")])
    async with talk(tmp_path / "w", script, flags={"permissions.mode": "plan"}) as (session, emulator):
        events = await say(session, "do it")
        assert of(events, ToolFinished)[0].status == "denied"
        assert "plan" in sent(emulator)["messages"][-1]["content"].lower()
        assert not (tmp_path / "w" / "x").exists()


async def test_the_home_is_never_deleted_not_even_in_yolo(tmp_path: Path) -> None:
    script = Script.of([Say(calls=(Call("shell", {"command": 'rm -rf "$HOME"'}),)), Say("ok")])
    async with talk(tmp_path / "w", script, flags={"permissions.mode": "yolo"}) as (session, _):
        events = await say(session, "clean up")
        assert of(events, ToolFinished)[0].status == "denied"
        assert Path.home().exists()


async def test_a_long_result_is_capped_and_spilled_to_a_file_the_model_can_read(tmp_path: Path) -> None:
    script = Script.of([Say(calls=(Call("shell", {"command": "seq 1 60000"}),)), Say("ok")])
    async with talk(tmp_path / "w", script, flags={"permissions.mode": "yolo"}) as (session, emulator):
        events = await say(session, "count")
        result = of(events, ToolFinished)[0].result
        assert len(result.content) < 40_000
        assert Path(result.spill).read_text().splitlines()[-1] == "60000"
        assert result.spill in sent(emulator)["messages"][-1]["content"]


async def test_the_turn_stops_at_its_cap_and_says_how_to_go_on(tmp_path: Path) -> None:
    def script(request: dict[str, object], n: int) -> Say:
        return Say(calls=(Call("shell", {"command": f"echo {n}"}),))

    flags = {"permissions.mode": "yolo", "limits.max_turns": 4}
    async with talk(tmp_path / "w", script, flags=flags) as (session, emulator):
        events = await say(session, "forever")
        assert of(events, TurnEnded)[0].reason == "turns"
        assert len(emulator.requests) == 4


async def test_repetition_without_progress_is_noted_then_stopped(tmp_path: Path) -> None:
    def script(request: dict[str, object], n: int) -> Say:
        return Say(calls=(Call("list", {}),))

    async with talk(tmp_path / "w", script) as (session, emulator):
        events = await say(session, "loop")
        assert of(events, TurnEnded)[0].reason == "repetition"
        assert len(emulator.requests) == 6
        assert "will not help" in json.dumps(sent(emulator)["messages"])


async def test_mentioned_files_go_with_the_words(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    (workspace / "主.py").write_text("print('你好')\n")
    async with talk(workspace, Script.of([Say("看到了")])) as (session, emulator):
        await say(session, "看 @主.py")
        contents = [m["content"] for m in sent(emulator)["messages"] if m["role"] == "user"]
        assert contents[-1] == "看 @主.py"
        assert any("print('你好')" in text for text in contents[:-1])


async def test_what_the_user_wants_to_be_asked_about_is_asked_in_every_mode(
    tmp_path: Path, own_home: Path
) -> None:
    own_home.mkdir(parents=True, exist_ok=True)
    (own_home / "config.toml").write_text('[permissions]\nask = ["write *.lock", "run ls", "tool todo"]\n')
    calls = (
        Call("write", {"path": "a.lock", "content": "x"}),
        Call("write", {"path": "free.txt", "content": "x"}),
        Call("shell", {"command": "ls -l"}),
        Call("todo", {"items": []}),
    )
    script = Script.of([Say(calls=calls), Say("ok")])
    async with talk(tmp_path / "w", script, flags={"permissions.mode": "yolo"}) as (session, _):
        asked = of(await say(session, "go", once), ApprovalRequested)
        assert [event.approval.tool for event in asked] == ["write", "shell", "todo"]
        assert "your rule `write *.lock`" in asked[0].approval.rule
