"""Small pure parts: labels, keys, ages, filters, the editor's command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from deeptide.protocol.approvals import Approval, Decision
from deeptide.protocol.errors import UsageError
from deeptide.protocol.events import (
    ApprovalAnswered,
    ApprovalRequested,
    Retrying,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Working,
)
from deeptide.protocol.messages import ToolResult
from deeptide.tui.editor import command, edit
from deeptide.tui.keys import TABLE, Twice, next_mode
from deeptide.tui.labels import Labels
from deeptide.tui.screens.points import after
from deeptide.tui.screens.sessions import ago
from deeptide.tui.widgets.rows import Row, fitting

SCRIPT = [
    (TurnStarted(1), "Waiting for the model"),
    (StepStarted(1, 1, "m", "high"), "Waiting for the model"),
    (ThinkingDelta("hm"), "Thinking"),
    (TextDelta("so"), "Writing"),
    (ToolCallDelta(0, "edit", 120), "Preparing edit"),
    (ToolStarted("c", "shell", "$ pytest -q\n&& ls"), "Running $ pytest -q"),
    (ApprovalRequested(Approval("1", "c", "shell", "$ pytest -q")), "Waiting for you"),
    (ApprovalAnswered("1", Decision("once")), "Running $ pytest -q"),
    (ToolStarted("d", "edit", "edit a"), "Running edit a"),
    (ToolFinished(ToolResult("d", "edit", "ok"), "ok"), "Running $ pytest -q"),
    (ToolFinished(ToolResult("c", "shell", "ok"), "ok"), "Waiting for the model"),
    (Retrying(2, 5, 1.0, "offline\x1b[2J"), "Trying again (2/5): offline [2J"),
    (Working("compacting 62 messages"), "compacting 62 messages"),
    (TurnEnded(1, "done"), ""),
]


def test_the_label_follows_what_happens() -> None:
    labels = Labels()
    for event, wanted in SCRIPT:
        labels.apply(event)
        assert labels.text == wanted


def test_a_key_counts_as_twice_only_in_quick_succession_and_a_third_press_is_a_first() -> None:
    time = 0.0
    twice = Twice(lambda: time)
    assert not twice.press("a")
    assert not twice.press("b")
    assert twice.press("a")
    assert not twice.press("a")
    time = 10.0
    assert not twice.press("a")


def test_shift_tab_never_leads_into_yolo_and_leads_out_of_it() -> None:
    assert next_mode("yolo") == "ask"
    assert "yolo" not in {next_mode(mode) for mode in ("plan", "ask", "auto-edit", "yolo")}


def test_every_key_line_says_what_it_does() -> None:
    assert all(line.keys and line.shown and line.summary for line in TABLE)
    assert len({(line.where, line.shown) for line in TABLE}) == len(TABLE)


@pytest.mark.parametrize(
    ("passed", "words"),
    [(5, "just now"), (600, "10 min ago"), (7200, "2 h ago"), (90_000, "yesterday"), (400_000, "4 days ago")],
)
def test_ages_are_said_in_words(passed: float, words: str) -> None:
    assert ago(1_000_000_000, 1_000_000_000 + passed) == words


def test_a_filter_wants_every_word_somewhere() -> None:
    rows = [Row("1", "Fix upload", "today", "repo-a"), Row("2", "Fix build", "today", "repo-b")]
    assert [row.value for row in fitting(rows, "fix B")] == ["2"]
    assert [row.value for row in fitting(rows, "")] == ["1", "2"]
    assert fitting(rows, "nothing") == []


def test_nothing_was_said_in_an_empty_log() -> None:
    assert after([], 0) == []


def test_the_editor_is_visual_then_editor_then_vi() -> None:
    assert command({"VISUAL": "code --wait", "EDITOR": "nano"}) == ["code", "--wait"]
    assert command({"VISUAL": "", "EDITOR": "nano"}) == ["nano"]
    assert command({}) == ["vi"]
    with pytest.raises(UsageError):
        command({"EDITOR": "'open"})


def test_what_the_editor_wrote_comes_back_and_its_failure_changes_nothing(tmp_path: Path) -> None:
    script = tmp_path / "editor"
    script.write_text('#!/bin/sh\ncat "$1" > "$1.old"; printf "%s, 修好\\n" "$(cat "$1")" > "$1"\n')
    script.chmod(0o755)
    assert edit("fix", {"EDITOR": str(script)}) == "fix, 修好"
    with pytest.raises(UsageError):
        edit("fix", {"EDITOR": "false"})
    with pytest.raises(UsageError):
        edit("fix", {"EDITOR": str(tmp_path / "missing")})
