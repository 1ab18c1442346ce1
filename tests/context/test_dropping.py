"""The hard limit: whole units, oldest first, never the user's newest words, and nothing lost."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.context.assemble import Fold
from deeptide.context.dropping import hard_limit
from deeptide.context.entries import SAID
from deeptide.protocol.events import (
    DURABLE,
    Compacted,
    CycleHandedOff,
    Record,
    Steered,
    UnitsDropped,
    UserMessage,
)
from deeptide.protocol.messages import ToolCall
from deeptide.workspace.files import atomic_write
from tests.context.random_logs import logs
from tests.context.talk import call, fold_of, result, said, session, started
from tests.context.test_fold_properties import assert_whole_pairs
from tests.deep import count


def drop(fold: Fold, limit: int) -> UnitsDropped:
    event = hard_limit(fold, limit, lambda seq, text: f"/spill/{seq}.txt")
    assert event is not None
    return event


def test_nothing_is_dropped_from_a_view_that_fits() -> None:
    fold = fold_of(session(2))
    assert hard_limit(fold, fold.used(), lambda seq, text: "") is None


def test_the_oldest_units_go_first_and_no_more_than_needed() -> None:
    events = session(8)
    fold = fold_of(events)
    limit = fold.used() - 200
    event = drop(fold, limit)
    after = fold_of([*events, event])
    gone = [e.seq for e in fold.entries if e.seq in event.dropped]
    assert gone == [entry.seq for entry in fold.entries[: len(gone)]]
    assert after.used() == event.tokens_after <= limit
    fewer = UnitsDropped(event.dropped[:-2], event.pointer, 1, 1)
    assert fold_of([*events, fewer]).used() > limit or fewer.dropped == ()


def test_one_line_points_to_everything_that_was_dropped_so_far() -> None:
    events = session(8)
    events.append(drop(fold_of(events), fold_of(events).used() - 200))
    events.append(drop(fold_of(events), fold_of(events).used() - 300))
    fold = fold_of(events)
    pointers = [entry for entry in fold.entries if entry.kind == "pointer"]
    assert len(pointers) == 1
    last = max(gone.index for gone in fold.departed)
    assert f"cycle 1: messages 0-{last}." in pointers[0].message.text


def test_with_a_live_prompt_and_six_messages_or_fewer_it_still_gets_under() -> None:
    events: list[DURABLE] = [started(8_192), UserMessage("the one prompt")]
    for n in range(2):
        events += [said("", call(f"c{n}", path="big.txt")), result(f"c{n}", "word " * 4_000)]
    fold = fold_of(events)
    limit = int(fold.window.usable * 0.98)
    assert fold.used() > limit
    after = fold_of([*events, drop(fold, limit)])
    assert after.used() <= limit
    assert after.messages()[1].text == "the one prompt"


def test_one_oversized_result_is_cut_in_the_middle_and_the_file_is_named(tmp_path: Path) -> None:
    text = "first line\n" + "word " * 40_000 + "\nlast line"
    events: list[DURABLE] = [
        started(8_192),
        UserMessage("read it"),
        said("", call("a", path="x")),
        result("a", text),
    ]
    spilled: list[Path] = []

    def spill(seq: int, text: str) -> str:
        spilled.append(tmp_path / f"{seq}.txt")
        atomic_write(spilled[-1], text.encode())
        return str(spilled[-1])

    event = hard_limit(fold_of(events), 4_000, spill)
    assert event is not None
    after = fold_of([*events, event])
    shown = next(m.result.content for m in after.messages() if m.result)
    assert shown.startswith("first line")
    assert shown.endswith("last line")
    assert str(spilled[0]) in shown
    assert spilled[0].read_text() == text
    assert 3_000 < after.used() <= 4_000
    assert event.dropped == ()


def test_a_path_with_braces_is_named_as_it_is() -> None:
    events: list[DURABLE] = [started(), said("", call("a", path="x")), result("a", "word " * 4_000)]
    event = hard_limit(fold_of(events), 900, lambda seq, text: "/tmp/{odd}/{0}")
    assert event is not None
    assert "/tmp/{odd}/{0}" in event.cut["3"]


def test_a_response_whose_arguments_alone_are_too_long_leaves_at_last() -> None:
    written = ToolCall("a", "write", '{"path": "x", "content": "' + "word " * 20_000 + '"}')
    events = [started(), UserMessage("write it"), said("", written), result("a", "done", "write")]
    after = fold_of([*events, drop(fold_of(events), 2_000)])
    assert [entry.kind for entry in after.entries] == ["user", "pointer"]


def test_summary_and_seed_go_last() -> None:
    events = [*session(4), Compacted(9, "[context-summary] the ledger", "manual", 4, 2, 1)]
    event = drop(fold_of(events), fold_of(events).used() - 150)
    assert len(events) not in event.dropped
    cycle = [*session(1), CycleHandedOff(1, "[cycle-handoff] seed", "b", "1", 4, 2, 1), *session(4)[1:]]
    event = drop(fold_of(cycle), fold_of(cycle).used() - 150)
    assert fold_of([*cycle, event]).entries[0].kind == "seed"


def test_the_users_newest_words_stay_even_when_nothing_else_fits() -> None:
    events = [*session(2), UserMessage("words " * 5_000)]
    event = drop(fold_of(events), 500)
    after = fold_of([*events, event])
    assert after.entries[-1].message.text == "words " * 5_000
    assert len(after.entries) == 2
    assert after.used() > 500


def test_words_steered_last_stay_with_the_prompt_they_amend() -> None:
    events: list[DURABLE] = [
        started(),
        UserMessage("prompt"),
        *session(3)[2:3],
        said("a " * 300),
        Steered("mind it"),
    ]
    events += [said("b " * 300), said("c " * 300)]
    after = fold_of([*events, drop(fold_of(events), 200)])
    assert [e.message.text for e in after.entries if e.kind in SAID] == ["prompt", "mind it"]


@settings(max_examples=count(100, 3_000), deadline=None)
@given(logs, st.integers(1, 100))
def test_whatever_the_view_it_fits_afterwards_or_only_what_must_stay_is_left(
    records: list[Record], share: int
) -> None:
    fold = Fold.of(records)
    limit = max(1, fold.used() * share // 100)
    event = hard_limit(fold, limit, lambda seq, text: f"/spill/{seq}")
    if event is None:
        return
    after = fold_of([*(record.event for record in records), event])
    assert after.used() == event.tokens_after < fold.used()
    assert_whole_pairs(after.messages())
    newest = [entry for entry in fold.entries if entry.kind in SAID][-1:]
    assert [e for e in after.entries if e.kind in SAID][-1:] == newest
    if after.used() > limit:
        assert all(entry.kind in (*SAID, "pointer") for entry in after.entries)
    held = {entry.seq for entry in after.entries} | {gone.seq for gone in after.departed}
    assert {entry.seq for entry in fold.entries if entry.kind in ("user", "assistant", "tool")} <= held
