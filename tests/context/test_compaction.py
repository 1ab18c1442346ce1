"""Compaction: the boundary, the two layers of the summary, and never failing for want of a model."""

from __future__ import annotations

import msgspec
import pytest

from deeptide.context.asking import Answer
from deeptide.context.assemble import Fold
from deeptide.context.compaction import MARK, NARRATIVE_HEADING, Skipped, compact, plan
from deeptide.context.ledger import Ledger
from deeptide.prompts.library import Library
from deeptide.protocol.events import (
    DURABLE,
    Compacted,
    CycleHandedOff,
    NoteAppended,
    Pinned,
    PlanChanged,
    Steered,
    Trigger,
    UnitsDropped,
    UserMessage,
)
from deeptide.protocol.plan import Plan, PlanItem
from deeptide.protocol.usage import Money, Usage
from tests.context.talk import Writer, call, fold_of, result, said, session, started

TEXTS = Library()
NARRATIVE = "## Goal\nMake the parser accept tabs, because the user's files hold them."


async def done(fold: Fold, *answers: Answer | str, trigger: Trigger = "manual", focus: str = "") -> Compacted:
    event = await compact(fold, complete=Writer(*answers), texts=TEXTS, trigger=trigger, focus=focus)
    assert isinstance(event, Compacted), event
    return event


async def skipped(fold: Fold, *answers: Answer | str, trigger: Trigger = "manual") -> str:
    event = await compact(fold, complete=Writer(*answers), texts=TEXTS, trigger=trigger)
    assert isinstance(event, Skipped)
    return event.reason


# ---- the boundary --------------------------------------------------------------------------------------


def kept(fold: Fold) -> list[str]:
    planned = plan(fold)
    assert not isinstance(planned, Skipped)
    return [entry.kind for entry in planned.kept]


def test_the_newest_six_stay_and_the_boundary_goes_forward_to_an_assistant_message() -> None:
    assert kept(fold_of(session(4))) == ["assistant", "user", "assistant", "tool", "assistant"]


def test_when_no_assistant_message_follows_the_boundary_goes_back_to_the_last_one() -> None:
    calls = [call(f"c{n}", path=f"{n}.py") for n in range(8)]
    events = [*session(1), UserMessage("all"), said("", *calls), *(result(c.id, "text") for c in calls)]
    assert kept(fold_of(events)) == ["assistant"] + ["tool"] * 8


def test_the_users_newest_message_is_lifted_when_it_falls_before_the_boundary() -> None:
    events: list[DURABLE] = [started(), UserMessage("the one prompt")]
    for n in range(10):
        events += [said("", call(f"c{n}", path=f"{n}.py")), result(f"c{n}", "text " * 50)]
    planned = plan(fold_of(events))
    assert not isinstance(planned, Skipped)
    assert planned.lifted == (2,)
    steered = plan(fold_of([*events[:6], Steered("mind the tabs"), *events[6:]]))
    assert not isinstance(steered, Skipped)
    assert steered.lifted == (2, 7)


@pytest.mark.parametrize("turns", [0, 1])
async def test_a_short_talk_is_left_alone_with_a_reason(turns: int) -> None:
    assert "nothing old enough" in await skipped(fold_of(session(turns)))


async def test_the_compacted_view_is_the_summary_what_is_lifted_and_what_was_kept() -> None:
    events = session(6)
    event = await done(fold_of(events), NARRATIVE)
    fold = fold_of([*events, event])
    assert fold.messages()[1].text.startswith(MARK)
    assert [e.kind for e in fold.entries[1:]] == ["assistant", "user", "assistant", "tool", "assistant"]
    assert event.tokens_after == fold.used() < event.tokens_before
    assert event.folded == 19


# ---- the narrative -------------------------------------------------------------------------------------


async def test_the_narrative_is_asked_on_the_live_prefix_with_the_instruction_last() -> None:
    fold, writer = fold_of(session(6)), Writer(NARRATIVE)
    event = await compact(
        fold, complete=writer, texts=TEXTS, trigger="manual", focus="keep the API decisions"
    )
    assert isinstance(event, Compacted)
    [ask] = writer.asked
    assert ask.messages[:-1] == fold.messages()
    assert (ask.tools, ask.effort, ask.max_tokens) == (fold.tools, fold.effort, 16_384)
    assert "keep the API decisions" in ask.messages[-1].text
    assert event.narrative
    assert event.summary.endswith(NARRATIVE)
    assert event.focus == "keep the API decisions"


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "   \n",
        "...",
        "[summary]",
        "TODO",
        "<summary goes here>",
        Answer(text=NARRATIVE, finish="length"),
        Answer(text=NARRATIVE, finish="tool_calls", called_tool=True),
        Answer(text=NARRATIVE, finish="content_filter"),
        "word " * 60_000,
    ],
)
async def test_an_unusable_narrative_is_asked_for_once_more_and_then_done_without(bad: Answer | str) -> None:
    fold, writer = fold_of(session(6)), Writer(bad, NARRATIVE)
    event = await compact(fold, complete=writer, texts=TEXTS, trigger="manual")
    assert isinstance(event, Compacted)
    assert event.narrative
    assert TEXTS.text("compaction_retry") in writer.asked[1].messages[-1].text
    alone = await done(fold, bad, bad)
    assert not alone.narrative
    assert "ledger alone" in alone.notice
    assert NARRATIVE_HEADING not in alone.summary


async def test_offline_the_ledger_alone_is_used_at_once() -> None:
    event = await done(fold_of(session(6)), Answer(error="the provider could not be reached"))
    assert "the provider could not be reached" in event.notice
    assert event.tokens_after < event.tokens_before


@pytest.mark.parametrize("trigger", ["overflow", "hard"])
async def test_on_overflow_no_model_is_asked(trigger: Trigger) -> None:
    event = await done(fold_of(session(6)), trigger=trigger)
    assert not event.narrative
    assert event.notice == ""


async def test_with_the_ledger_setting_no_model_is_asked() -> None:
    writer = Writer()
    event = await compact(
        fold_of(session(6)), complete=writer, texts=TEXTS, trigger="manual", summary="ledger"
    )
    assert isinstance(event, Compacted)
    assert writer.asked == []


async def test_a_window_without_room_for_an_answer_gets_the_ledger() -> None:
    turns = 8
    while fold_of(session(turns, window=8_192, size=1_500)).used() < 7_000:
        turns += 1
    event = await done(fold_of(session(turns, window=8_192, size=1_500)))
    assert "no room" in event.notice


async def test_both_attempts_are_paid_for_in_the_event() -> None:
    spent = Answer(text="", usage=Usage(100, 10, 90, 10), cost=Money(0.5))
    good = Answer(text=NARRATIVE, usage=Usage(200, 20, 190, 10), cost=Money(0.25))
    event = await done(fold_of(session(6)), spent, good)
    assert event.usage == Usage(300, 30, 280, 20)
    assert event.cost == Money(0.75)


async def test_a_long_narrative_is_cut_at_a_sentence() -> None:
    long = "We chose SQLite because the worker restarts every night. " * 1_200
    event = await done(fold_of(session(40, size=4_000, window=65_536)), long)
    body = event.summary.rpartition(NARRATIVE_HEADING)[2]
    assert len(body) < len(long) / 2
    assert body.rstrip().endswith("night.\n[the rest of this narrative was cut]")


async def test_a_narrative_outlives_a_later_compaction_that_gets_none() -> None:
    events = session(6)
    events.append(await done(fold_of(events), NARRATIVE))
    events += session(6)[1:]
    event = await done(fold_of(events), Answer(error="offline"))
    assert NARRATIVE in event.summary


# ---- skipped -------------------------------------------------------------------------------------------


async def test_a_soft_compaction_that_cannot_get_below_its_limit_asks_no_model_and_says_so() -> None:
    huge = "word " * 30_000
    events = [*session(3, window=32_768), UserMessage(huge)]
    assert "cannot get below" in await skipped(fold_of(events), trigger="soft")


async def test_a_compaction_that_would_not_shrink_is_skipped() -> None:
    events: list[DURABLE] = [started()]
    for n in range(4):
        events += [UserMessage(f"q{n}"), said("a")]
    assert "not make the view smaller" in await skipped(fold_of(events))


# ---- the ledger in it ----------------------------------------------------------------------------------


def work() -> list[DURABLE]:
    """A little of everything, then enough turns that it is all old."""
    return [
        started(),
        Pinned("never touch vendor/"),
        UserMessage("把解析器改成接受制表符"),
        said("", call("r", path="src/parse.py"), call("w", "write", path="src/new.py", content="x")),
        result("r", "[src/parse.py · lines 1-9 of 9 · sha 0123456789ab]\ncode"),
        result("w", "[src/new.py · 1 line · sha ba9876543210]", "write"),
        said("", call("s", "shell", command="pytest -q"), call("e", "edit", path="src/parse.py", edits="")),
        result("s", "E   assert 1 == 2\n1 failed", "shell", error=True, summary="exit 1"),
        result("e", "edit: no match", "edit", error=True),
        NoteAppended("shell", "$ git status\nclean"),
        PlanChanged(Plan((PlanItem("write the test", "in_progress"),))),
        *session(5, size=3_000)[1:],
    ]


async def test_the_ledger_tells_words_files_commands_errors_plan_and_pins() -> None:
    event = await done(fold_of(work()), Answer(error="offline"))
    for part in (
        "把解析器改成接受制表符",
        "- src/parse.py (read, sha 0123456789ab)",
        "- src/new.py (written, sha ba9876543210)",
        "`pytest -q` → exit 1",
        "`$ git status clean` → run by the user",
        "edit: no match",
        "[~] write the test",
        "- never touch vendor/",
        "cycle 1: messages 0-",
    ):
        assert part in event.summary, part
    assert "src/parse.py (edited" not in event.summary


async def test_a_second_compaction_merges_the_first_ledger() -> None:
    events = work()
    events.append(await done(fold_of(events), Answer(error="offline")))
    events += session(6, size=3_000)[1:]
    event = await done(fold_of(events), Answer(error="offline"))
    for part in ("把解析器改成接受制表符", "src/new.py (written", "`pytest -q` → exit 1", "edit: no match"):
        assert part in event.summary, part
    ledger = msgspec.json.decode(event.ledger, type=Ledger)
    assert ledger.folded[0].first == 0
    assert len(ledger.folded) == 1


async def test_what_the_hard_limit_dropped_is_in_the_next_ledger() -> None:
    events = work()
    fold = fold_of(events)
    gone = tuple(entry.seq for entry in fold.entries[:3])
    events.append(UnitsDropped(gone, "[context-dropped] p", 2, 1))
    event = await done(fold_of(events), Answer(error="offline"))
    assert "把解析器改成接受制表符" in event.summary
    assert "src/new.py (written" in event.summary


async def test_old_words_that_no_longer_fit_become_pointers_that_recall_can_follow() -> None:
    events: list[DURABLE] = [started(16_384)]
    for n in range(1, 21):
        events += [
            UserMessage(f"request number {n}: " + "please mind the details " * 60),
            said(f"ok {n} " * 150),
        ]
    event = await done(fold_of(events), Answer(error="offline"))
    words = event.summary.partition("Earlier words of the user")
    assert "- message 0 of cycle 1: request number 1: please mind" in words[2]
    assert "request number 16: " + "please mind the details " * 60 in words[0]
    fold = fold_of([*events, event])
    first = next(gone for gone in fold.departed if (gone.cycle, gone.index) == (1, 0))
    assert first.entry.message.text.startswith("request number 1")


async def test_the_ledger_keeps_to_its_share_and_counts_what_moved_out() -> None:
    events: list[DURABLE] = [started(16_384), UserMessage("read everything")]
    for n in range(400):
        path = f"packages/module_{n}/source/file_with_a_long_name_{n}.py"
        events += [said("", call(f"c{n}", path=path)), result(f"c{n}", "text " * 30)]
    fold = fold_of(events)
    event = await done(fold, trigger="hard")
    ledger = msgspec.json.decode(event.ledger, type=Ledger)
    assert ledger.moved["files"] + len(ledger.files) == 397
    assert ledger.files[-1].path.endswith("file_with_a_long_name_396.py")
    assert f"{ledger.moved['files']} files" in event.summary
    shrunk = fold_of([*events, event])
    assert shrunk.entries[0].tokens < 0.45 * fold.window.usable


async def test_the_seed_of_a_cycle_is_carried_over_verbatim() -> None:
    seed = CycleHandedOff(1, "[cycle-handoff] the briefing", "b", "1.jsonl", 3, 2, 1)
    events = [*session(2), seed, *session(6)[1:]]
    fold = fold_of([*events, await done(fold_of(events), NARRATIVE)])
    assert [entry.kind for entry in fold.entries[:2]] == ["summary", "seed"]
    assert fold.entries[1].message.text == "[cycle-handoff] the briefing"
