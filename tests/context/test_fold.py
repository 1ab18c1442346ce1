"""The fold, case by case."""

from __future__ import annotations

import pytest

from deeptide.context.assemble import Fold
from deeptide.protocol.events import (
    DURABLE,
    Compacted,
    CompactionUndone,
    CycleHandedOff,
    ModeChanged,
    ModelChanged,
    NoteAppended,
    Pinned,
    PlanChanged,
    Record,
    Renamed,
    RewindUndone,
    Rewound,
    Steered,
    StepStarted,
    TurnEnded,
    TurnStarted,
    UnitsDropped,
    UserMessage,
)
from deeptide.protocol.plan import Plan, PlanItem
from deeptide.protocol.usage import Usage
from tests.context.talk import call, fold_of, result, said, session, started

STEP = StepStarted(1, 1, "deepseek-flash", "high")


def shape(fold: Fold) -> list[str]:
    """The request as short words: role, and text or call ids."""
    lines = []
    for message in fold.messages()[1:]:
        calls = ",".join(c.id for c in message.tool_calls)
        answer = message.result.call_id if message.result else ""
        lines.append(f"{message.role}:{message.text or answer}{'>' + calls if calls else ''}")
    return lines


def test_results_stand_in_call_order_whatever_order_they_came_in() -> None:
    fold = fold_of(
        [started(), UserMessage("go"), said("", call("a"), call("b")), result("b", "2"), result("a", "1")]
    )
    assert shape(fold) == ["user:go", "assistant:>a,b", "tool:a", "tool:b"]


def test_what_was_logged_between_a_call_and_its_result_stands_behind_the_results() -> None:
    fold = fold_of(
        [started(), UserMessage("go"), said("", call("a"), call("b")), result("a", "1"), Steered("wait"),
         NoteAppended("date", "Monday"), result("b", "2")]
    )  # fmt: skip
    assert shape(fold) == ["user:go", "assistant:>a,b", "tool:a", "tool:b", "user:wait", "user:Monday"]


def test_words_steered_while_a_response_streamed_stand_behind_it() -> None:
    fold = fold_of([started(), UserMessage("go"), STEP, Steered("wait"), said("done")])
    assert shape(fold) == ["user:go", "assistant:done", "user:wait"]


def test_after_a_cut_stream_the_next_request_holds_what_was_steered_meanwhile() -> None:
    events = [
        started(),
        UserMessage("go"),
        STEP,
        Steered("wait"),
        said("par", finish="cut"),
        STEP,
        said("done"),
    ]
    assert shape(fold_of(events)) == ["user:go", "user:wait", "assistant:done"]


def test_a_cut_response_is_never_in_the_view() -> None:
    assert shape(fold_of([started(), UserMessage("go"), said("half", finish="cut")])) == ["user:go"]


def test_an_interrupted_response_is_in_the_view_only_with_text_and_without_its_calls() -> None:
    fold = fold_of([started(), UserMessage("go"), said("half", call("a"), finish="interrupted")])
    assert shape(fold) == ["user:go", "assistant:half"]
    assert fold.open_calls() == ()
    silent = fold_of([started(), UserMessage("go"), said("", call("a"), finish="interrupted", thinking="hm")])
    assert shape(silent) == ["user:go"]


def test_calls_of_a_response_cut_by_length_are_dropped_unless_they_got_results() -> None:
    events: list[DURABLE] = [
        started(),
        UserMessage("go"),
        said("text", call("a"), call("b"), finish="length"),
    ]
    fold = fold_of(events)
    assert [c.id for c in fold.open_calls()] == ["a", "b"]
    assert shape(fold) == ["user:go", "assistant:text"]
    assert shape(fold_of([*events, result("b", "2")])) == ["user:go", "assistant:text>b", "tool:b"]
    assert fold_of([*events, UserMessage("on")]).open_calls() == ()


def test_equal_call_ids_in_two_responses_are_told_apart() -> None:
    fold = fold_of(
        [started(), said("", call("c0")), result("c0", "one"), said("", call("c0")), result("c0", "two")]
    )
    contents = [m.result.content for m in fold.messages() if m.result]
    assert contents == ["one", "two"]


def test_a_result_without_a_call_is_not_sent_but_can_be_recalled() -> None:
    fold = fold_of([started(), UserMessage("go"), result("zz", "stray")])
    assert shape(fold) == ["user:go"]
    assert [gone.seq for gone in fold.departed] == [3]


def test_a_compaction_replaces_everything_up_to_its_boundary_and_lifts_what_it_names() -> None:
    events = session(3)
    fold = fold_of(events)
    boundary = fold.entries[-4].anchor
    lifted = fold.entries[0].seq
    event = Compacted(boundary, "[context-summary] s", "manual", 4, 2, 1, (lifted,))
    after = fold_of([*events, event])
    assert shape(after)[:2] == ["user:[context-summary] s", "user:please do thing number 1"]
    assert after.entries[2:] == fold.entries[-3:]
    assert {gone.how for gone in after.departed} == {"folded"}


def test_undoing_a_compaction_brings_back_the_very_same_view() -> None:
    events = session(3)
    before = fold_of(events)
    compacted = [*events, Compacted(before.entries[5].anchor, "[context-summary]", "manual", 4, 2, 1)]
    target = fold_of(compacted).undoable_compaction
    assert target is not None
    undone = fold_of([*compacted, CompactionUndone(target)])
    assert undone.messages() == before.messages()
    assert undone.departed == ()
    assert undone.undoable_compaction is None


def test_what_was_said_after_a_compaction_stays_when_it_is_undone() -> None:
    events = [*session(3), Compacted(9, "[context-summary]", "manual", 4, 2, 1), UserMessage("and now?")]
    undone = fold_of([*events, CompactionUndone(fold_of(events).undoable_compaction or 0)])
    assert shape(undone) == [*shape(fold_of(session(3))), "user:and now?"]


def test_the_meter_does_not_believe_counts_of_a_view_that_was_undone() -> None:
    events = session(4, size=8_000)
    full = fold_of(events).used()
    events += [Compacted(fold_of(events).entries[8].anchor, "[context-summary]", "manual", 8, 2, 1)]
    small = said("ok", usage=Usage(500, 5, 0, 500))
    events += [UserMessage("x"), STEP, small]
    assert fold_of(events).used() == 505
    undone = fold_of([*events, CompactionUndone(fold_of(events).undoable_compaction or 0)])
    assert undone.used() > full


def test_dropped_units_leave_whole_and_one_line_stands_for_them() -> None:
    fold = fold_of(session(2))
    unit = next(entry for entry in fold.entries if entry.message.tool_calls)
    after = fold_of([*session(2), UnitsDropped((unit.seq,), "[context-dropped] p", 2, 1)])
    assert shape(after)[:3] == [
        "user:please do thing number 1",
        "user:[context-dropped] p",
        "assistant:answer 1",
    ]
    assert [(gone.how, gone.entry.kind) for gone in after.departed] == [
        ("dropped", "assistant"),
        ("dropped", "tool"),
    ]


def test_a_cut_entry_shows_its_new_text_and_can_be_recalled_whole() -> None:
    events = [started(), UserMessage("go"), said("", call("a")), result("a", "very long")]
    after = fold_of([*events, UnitsDropped((), "", 2, 1, {"4": "ve…"})])
    assert [m.result.content for m in after.messages() if m.result] == ["ve…"]
    [gone] = after.departed
    assert gone.entry.message.result is not None
    assert gone.entry.message.result.content == "very long"


def test_a_hand_off_leaves_only_the_seed_and_counts_on_from_the_archive() -> None:
    fold = fold_of(
        [*session(2), CycleHandedOff(4, "[cycle-handoff] seed", "b", "4.jsonl", 8, 2, 1), UserMessage("on")]
    )
    assert shape(fold) == ["user:[cycle-handoff] seed", "user:on"]
    assert {gone.cycle for gone in fold.departed} == {4}
    assert [gone.index for gone in fold.departed] == list(range(8))
    assert fold.cycle == 5
    assert [entry.message.text for entry in fold.cycle_entries()] == ["on"]


def test_a_rewind_takes_the_view_and_the_plan_back_but_keeps_settings_and_spending() -> None:
    plan = PlanChanged(Plan((PlanItem("one"),)))
    events = [*session(1), UserMessage("again"), TurnStarted(2), plan, ModeChanged("yolo"), Renamed("t"),
              Pinned("keep"), ModelChanged("deepseek-v4-pro", 65_536), TurnEnded(2, "done")]  # fmt: skip
    before = fold_of(session(1))
    live = fold_of(events)
    fold = fold_of([*events, Rewound(live.turn_starts[-1], 1)])
    assert fold.messages() == before.messages()
    assert fold.plan == Plan()
    assert (fold.mode, fold.title, fold.pins, fold.model) == ("yolo", "t", ("keep",), "deepseek-v4-pro")
    assert fold.turns == 2
    assert [(gone.entry.message.text, gone.how) for gone in fold.departed] == [("again", "rewound")]


def test_a_rewind_undone_brings_everything_back_as_long_as_nothing_was_said_since() -> None:
    events = session(2)
    live = fold_of(events)
    rewound = [*events, Rewound(live.turn_starts[-1], 4)]
    target = fold_of(rewound).undoable_rewind
    assert target == len(events) + 1
    redone = fold_of([*rewound, RewindUndone(target)])
    assert redone.messages() == live.messages()
    assert redone.used() == live.used()
    assert redone.undoable_rewind is None
    assert fold_of([*rewound, ModeChanged("plan")]).undoable_rewind == target
    assert fold_of([*rewound, UserMessage("new way")]).undoable_rewind is None


def test_rewinds_can_be_nested_and_taken_back_one_by_one() -> None:
    events = session(3)
    live = fold_of(events)
    twice = [*events, Rewound(live.turn_starts[2], 4), Rewound(live.turn_starts[1], 4)]
    assert shape(fold_of(twice)) == shape(fold_of(session(1)))
    once = [*twice, RewindUndone(len(twice))]
    assert shape(fold_of(once)) == shape(fold_of(session(2)))
    assert fold_of(once).undoable_rewind == len(twice) - 1


def test_a_rewind_before_a_compaction_or_a_hand_off_takes_it_back() -> None:
    events = session(2)
    start = fold_of(events).turn_starts[1]
    for event in (
        Compacted(9, "[context-summary]", "manual", 1, 2, 1),
        CycleHandedOff(1, "s", "b", "1", 8, 2, 1),
    ):
        assert shape(fold_of([*events, event, Rewound(start, 1)])) == shape(fold_of(session(1)))


@pytest.mark.parametrize("first", ["message", "turn"])
def test_a_turn_begins_at_its_user_message_or_start_whichever_is_first(first: str) -> None:
    pair: list[DURABLE] = [UserMessage("go"), TurnStarted(1)]
    if first == "turn":
        pair.reverse()
    fold = fold_of(
        [started(), *pair, said("ok"), TurnEnded(1, "done"), *pair, said("ok"), TurnEnded(2, "done")]
    )
    assert fold.turn_starts == (1, 5)


def test_a_turn_killed_without_an_end_is_a_turn_of_its_own() -> None:
    fold = fold_of([started(), UserMessage("go"), TurnStarted(1), STEP, UserMessage("again"), TurnStarted(2)])
    assert fold.turn_starts == (1, 4)


def test_the_meter_reads_the_last_count_plus_what_came_after() -> None:
    events: list[DURABLE] = [started(), UserMessage("go"), STEP, said("ok", usage=Usage(1_000, 50, 0, 1_000))]
    fold = fold_of(events)
    assert fold.used() == 1_050
    assert not fold.reading().estimated
    more = fold_of([*events, UserMessage("more " * 100)])
    assert more.used() > 1_050
    assert more.reading().estimated


def test_what_was_steered_while_streaming_is_not_in_the_count_and_is_added() -> None:
    count = said("ok", usage=Usage(1_000, 50, 0, 1_000))
    assert fold_of([started(), UserMessage("go"), STEP, Steered("x" * 400), count]).used() > 1_060


def test_before_any_response_the_whole_request_is_estimated() -> None:
    fold = fold_of([started(), UserMessage("go")])
    assert fold.used() == fold.estimate == fold.prefix_tokens + fold.entries[0].tokens


def test_a_model_switch_measures_against_the_new_window_at_once() -> None:
    events = session(2)
    before = fold_of(events).reading()
    after = fold_of([*events, ModelChanged("small", 8_192)]).reading()
    assert after.used == before.used
    assert after.percent > before.percent


def test_a_gap_in_the_log_is_refused() -> None:
    fold = fold_of([started()])
    with pytest.raises(ValueError, match="record 3"):
        fold.apply(Record(3, 0.0, UserMessage("x")))
