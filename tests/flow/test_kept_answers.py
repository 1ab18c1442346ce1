"""Answers that last: kept for the next session, and never in the way of the call they approve."""

from __future__ import annotations

import os
from pathlib import Path

from deeptide.emulator.says import Call, Say
from deeptide.emulator.script import Script
from deeptide.protocol.approvals import Decision
from deeptide.protocol.events import ApprovalRequested, Notice, ToolFinished
from tests.fakes.houses import of, once, say, talk


async def test_a_file_named_like_a_pattern_opens_no_other_file_in_the_next_session(tmp_path: Path) -> None:
    star = Say(calls=(Call("write", {"path": "*", "content": "x"}),))
    other = Say(calls=(Call("write", {"path": "b.py", "content": "x"}),))
    async with talk(tmp_path / "w", Script.of([star, Say("ok")])) as (session, _):
        await say(session, "write it", lambda _: Decision("always"))
        assert (tmp_path / "w" / "*").exists()
    again = Say(calls=(Call("edit", {"path": "*", "edits": [{"old": "x", "new": "y"}]}),))
    read = Say(calls=(Call("read", {"path": "*"}),))
    async with talk(tmp_path / "w", Script.of([read, again, other, Say("ok")])) as (session, _):
        events = await say(session, "again", once)
        assert [asked.approval.scope for asked in of(events, ApprovalRequested)] == ["write b.py"]


async def test_an_approved_call_runs_though_its_rule_cannot_be_kept(tmp_path: Path) -> None:
    make = Say(calls=(Call("shell", {"command": "touch made.txt"}),))
    async with talk(tmp_path / "w", Script.of([make, make, Say("ok")])) as (session, _):
        (Path(os.environ["DEEPTIDE_HOME"]) / "rules.json").write_bytes(b"{ torn")
        events = await say(session, "make it", lambda _: Decision("always"))
        assert [event.status for event in of(events, ToolFinished)] == ["ok", "ok"]
        assert len(of(events, ApprovalRequested)) == 1
        assert any("could not be kept" in notice.text for notice in of(events, Notice))


async def test_a_path_that_reads_like_two_rules_is_approved_once_only(tmp_path: Path) -> None:
    odd = Say(calls=(Call("write", {"path": "a; run npm", "content": "x"}),))
    async with talk(tmp_path / "w", Script.of([odd, Say("ok")])) as (session, _):
        events = await say(session, "write it", lambda _: Decision("always"))
        assert of(events, ApprovalRequested)[0].approval.scope == ""
        assert of(events, ToolFinished)[0].status == "ok"
