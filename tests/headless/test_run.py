"""A prompt without a human, from words to exit code, with the real house and the emulator behind it."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deeptide.emulator.emulator import Emulator
from deeptide.emulator.says import Call, Fault, Say
from deeptide.emulator.script import Answerer, Script
from deeptide.emulator.transport import EmulatorTransport
from deeptide.headless.exits import Exit
from deeptide.headless.formats import writer_for
from deeptide.headless.run import run
from deeptide.protocol.errors import SessionError
from deeptide.protocol.events import decode_event
from deeptide.session.session import Session
from deeptide.wiring.house import House, Options
from tests.deep import DEEP


class Ran:
    """One finished run and what it wrote."""

    def __init__(self, code: Exit, out: str, progress: str, emulator: Emulator, house: House) -> None:
        self.code, self.out, self.progress = code, out, progress
        self.emulator, self.house = emulator, house

    @property
    def result(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out.splitlines()[-1])
        return found

    def told(self) -> str:
        """The last request's messages as text."""
        return json.dumps(self.emulator.requests[-1].json["messages"], ensure_ascii=False)


async def ran(
    workspace: Path,
    script: Answerer,
    prompt: str = "do it",
    *,
    output: str = "json",
    resume: str | None = None,
    flags: dict[str, object] | None = None,
    seen: Callable[[Session], None] | None = None,
) -> Ran:
    workspace.mkdir(exist_ok=True)
    emulator = Emulator(script)
    house = House(Options(workspace, flags=flags or {}, transport=EmulatorTransport(emulator)))
    out, progress = io.StringIO(), io.StringIO()

    async def open_session() -> Session:
        return await (house.new() if resume is None else house.resume(resume))

    writer = writer_for(output, out, progress)
    code = await run(open_session, prompt, writer, resumed=resume is not None, opened=seen)
    await house.close()
    return Ran(code, out.getvalue(), progress.getvalue(), emulator, house)


WRITE = Say(calls=(Call("write", {"path": "new.txt", "content": "x"}),))


async def test_text_gives_the_answer_alone_on_standard_output(tmp_path: Path) -> None:
    script = Script.of([Say("Let me look.", calls=(Call("list", {"path": "."}),)), Say("It is **42**.\n")])
    done = await ran(tmp_path / "w", script, output="text")
    assert (done.code, done.out) == (Exit.OK, "It is **42**.\n")
    for said in ("session ", "Let me look.", "• ", "2 requests", "tokens in"):
        assert said in done.progress


async def test_json_gives_one_object_with_everything_a_script_asks(tmp_path: Path) -> None:
    done = await ran(tmp_path / "w", Script.of([Say("答案是四十二。")]))
    assert done.out.count("\n") == 1 and done.progress == ""
    result = done.result
    assert result["type"] == "result" and result["answer"] == "答案是四十二。"
    assert (result["reason"], result["exit_code"], result["steps"]) == ("done", 0, 1)
    assert result["usage"]["prompt"] > 0 and result["cost"]["amount"] > 0
    assert result["cost"] == result["session_cost"]
    assert done.house.store.find(result["session"]).turns == 1


async def test_stream_json_gives_every_event_as_a_line_that_reads_back(tmp_path: Path) -> None:
    script = Script.of([Say(calls=(Call("list", {"path": "."}),)), Say("Done.", thinking="Hm.")])
    done = await ran(tmp_path / "w", script, output="stream-json")
    first, *events, last = done.out.splitlines()
    assert json.loads(first)["type"] == "session" and json.loads(last)["type"] == "result"
    kinds = [type(decode_event(line.encode())).__name__ for line in events]
    for kind in ("UserMessage", "TurnStarted", "ToolFinished", "ThinkingDelta", "TextDelta", "TurnEnded"):
        assert kind in kinds
    assert json.loads(first)["session"] == json.loads(last)["session"]


async def test_what_would_ask_is_denied_with_a_reason_and_a_flag(tmp_path: Path) -> None:
    done = await ran(tmp_path / "w", Script.of([WRITE, Say("I could not write it.")]))
    assert done.code is Exit.DENIED and done.result["exit_code"] == 5
    assert not (tmp_path / "w" / "new.txt").exists()
    assert "Nobody is present" in done.told() and "--mode auto-edit" in done.told()
    (denied,) = done.result["denied"]
    assert denied["tool"] == "write"


async def test_the_reader_sees_what_was_denied_and_what_would_allow_it(tmp_path: Path) -> None:
    script = Script.of([Say(calls=(Call("shell", {"command": "make all"}),)), Say("No.")])
    done = await ran(tmp_path / "w", script, output="text")
    assert "• $ make all\n  denied: " in done.progress and "--yolo" in done.progress


async def test_a_flag_that_is_given_already_is_not_named_again(tmp_path: Path) -> None:
    outside = Say(calls=(Call("write", {"path": str(tmp_path / "out.txt"), "content": "x"}),))
    flags: dict[str, object] = {"permissions.mode": "auto-edit"}
    done = await ran(tmp_path / "w", Script.of([outside, Say("No.")]), flags=flags)
    assert done.code is Exit.DENIED and not (tmp_path / "out.txt").exists()
    assert "--yolo" in done.told() and "--mode auto-edit" not in done.told()


async def test_a_run_that_finds_another_way_after_a_denial_is_a_success(tmp_path: Path) -> None:
    script = Script.of([WRITE, Say(calls=(Call("list", {"path": "."}),)), Say("Here is the text instead.")])
    done = await ran(tmp_path / "w", script)
    assert done.code is Exit.OK and len(done.result["denied"]) == 1


async def test_the_flag_that_was_named_allows_it(tmp_path: Path) -> None:
    flags: dict[str, object] = {"permissions.mode": "auto-edit"}
    done = await ran(tmp_path / "w", Script.of([WRITE, Say("Written.")]), flags=flags)
    assert done.code is Exit.OK
    assert (tmp_path / "w" / "new.txt").read_text() == "x"


async def test_a_question_is_answered_by_nobody_and_the_work_goes_on(tmp_path: Path) -> None:
    script = Script.of([Say(calls=(Call("ask_user", {"question": "Which?"}),)), Say("I took the first.")])
    done = await ran(tmp_path / "w", script)
    assert done.code is Exit.OK and done.result["answer"] == "I took the first."
    assert "Nobody is present to answer" in done.told()


async def test_the_cap_on_turns_is_exit_3(tmp_path: Path) -> None:
    def endless(request: dict[str, Any], n: int) -> Say:
        return Say(calls=(Call("glob", {"pattern": f"*{n}"}),))

    done = await ran(tmp_path / "w", endless, flags={"limits.max_turns": 3})
    assert done.code is Exit.TURNS and done.result["steps"] == 3 and done.result["error"]


async def test_the_cap_on_money_is_exit_4(tmp_path: Path) -> None:
    def endless(request: dict[str, Any], n: int) -> Say:
        return Say(calls=(Call("glob", {"pattern": f"*{n}"}),))

    done = await ran(tmp_path / "w", endless, flags={"limits.max_cost_turn": 1e-9})
    assert done.code is Exit.COST and done.result["steps"] == 1


async def test_a_provider_that_refuses_is_exit_1_with_advice(tmp_path: Path) -> None:
    script = Script.of([Say(fault=Fault("status", status=402))])
    done = await ran(tmp_path / "w", script)
    assert done.code is Exit.FAILED
    assert done.result["error"] and done.result["advice"] and done.result["answer"] == ""


@pytest.mark.skipif(not DEEP, reason="five honest retries take 16 s")
async def test_a_provider_that_stays_busy_is_exit_75(tmp_path: Path) -> None:
    def busy(request: dict[str, Any], n: int) -> Say:
        return Say(fault=Fault("status", status=503, retry_after=0.0))

    done = await ran(tmp_path / "w", busy, output="text")
    assert done.code is Exit.RETRYABLE and "trying again" in done.progress


async def test_a_session_that_cannot_be_opened_still_gives_a_result(tmp_path: Path) -> None:
    done = await ran(tmp_path / "w", Script.of([]), resume="nope")
    assert done.code is Exit.FAILED and "nope" in done.result["error"] and done.result["session"] == ""


async def test_a_run_can_go_on_where_the_last_one_ended(tmp_path: Path) -> None:
    first = await ran(tmp_path / "w", Script.of([Say("One.")]), "remember 7319")
    second = await ran(tmp_path / "w", Script.of([Say("Two.")]), "and now?", resume="latest")
    assert second.result["session"] == first.result["session"]
    assert "remember 7319" in second.told() and "One." in second.told()
    assert second.result["cost"]["amount"] < second.result["session_cost"]["amount"]


async def test_a_signal_ends_the_turn_in_order_and_the_session_can_be_resumed(tmp_path: Path) -> None:
    def slow(request: dict[str, Any], n: int) -> Say:
        os.kill(os.getpid(), signal.SIGTERM)
        return Say("never finished " * 50, delay=0.05)

    done = await ran(tmp_path / "w", slow)
    assert done.code is Exit.TERMINATED
    assert (done.result["reason"], done.result["exit_code"]) == ("interrupted", 143)
    again = await ran(tmp_path / "w", Script.of([Say("Back.")]), resume=done.result["session"])
    assert again.code is Exit.OK and again.result["answer"] == "Back."


async def test_a_signal_before_the_session_is_open_sends_nothing(tmp_path: Path) -> None:
    async def never() -> Session:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(60)
        raise SessionError("unreachable")

    out = io.StringIO()
    code = await run(never, "x", writer_for("json", out, io.StringIO()))
    assert code is Exit.INTERRUPTED and json.loads(out.getvalue())["exit_code"] == 130


async def test_a_reader_that_goes_away_ends_the_run_and_frees_the_session(tmp_path: Path) -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            if '"text_delta"' in text:
                raise BrokenPipeError
            return len(text)

    house = House(Options(tmp_path, transport=EmulatorTransport(Emulator(Script.of([Say("x")])))))
    with pytest.raises(BrokenPipeError):
        await run(house.new, "do it", writer_for("stream-json", Gone(), io.StringIO()))
    await house.close()
    done = await ran(tmp_path, Script.of([Say("free")]), resume=os.listdir(house.store.root)[0])
    assert done.code is Exit.OK


async def test_escape_sequences_in_an_answer_do_not_reach_the_terminal(tmp_path: Path) -> None:
    script = Script.of([Say("safe\x1b]0;owned\x07 text")])
    done = await ran(tmp_path / "w", script, output="text")
    assert done.out == "safe text\n" and "\x1b" not in done.progress
