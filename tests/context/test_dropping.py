"""The hard limit: whole units, oldest first, never the user's newest words, and nothing lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.context.assemble import Fold
from deeptide.context.dropping import hard_limit
from deeptide.context.entries import SAID
from deeptide.model.tokens import estimate
from deeptide.protocol.events import (
    DURABLE,
    AssistantMessage,
    Compacted,
    CycleHandedOff,
    NoteAppended,
    Record,
    Steered,
    ToolFinished,
    UnitsDropped,
    UserMessage,
)
from deeptide.protocol.messages import ToolCall, ToolResult, assistant
from deeptide.protocol.usage import Usage
from deeptide.workspace.files import atomic_write
from tests.context.random_logs import logs
from tests.context.talk import call, fold_of, result, said, session, started
from tests.context.test_fold_properties import assert_whole_pairs
from tests.deep import count


def drop(fold: Fold, limit: int) -> UnitsDropped:
    event = hard_limit(fold, limit, lambda name, text: f"/spill/{name}.txt", limit)
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

    def spill(name: str, text: str) -> str:
        spilled.append(tmp_path / f"{name}.txt")
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


def test_arguments_that_alone_are_too_long_become_a_small_object_that_names_the_file() -> None:
    written = call("a", "write", path="x.py", content="word " * 20_000)
    events = [started(), UserMessage("write it"), said("", written), result("a", "done", "write")]
    after = fold_of([*events, drop(fold_of(events), 2_000)])
    assert [entry.kind for entry in after.entries] == ["user", "assistant", "tool"]
    (shown,) = after.entries[1].message.tool_calls
    arguments = json.loads(shown.arguments)
    assert (shown.id, shown.name, arguments["path"]) == ("a", "write", "x.py")
    assert "/spill/3-0.txt" in arguments["_cut"] and "content" not in arguments
    assert after.used() <= 2_000
    assert next(gone for gone in after.departed if gone.seq == 3).entry.message.tool_calls == (written,)


@pytest.mark.parametrize("raw", ['{"path": "x", "content": "' + "word " * 9_000, "[" + "1," * 9_000 + "1]"])
def test_arguments_that_were_no_object_are_cut_to_one(raw: str) -> None:
    events = [
        started(),
        UserMessage("go"),
        said("", ToolCall("a", "write", raw)),
        result("a", "bad", "write"),
    ]
    after = fold_of([*events, drop(fold_of(events), 1_000)])
    (shown,) = after.entries[1].message.tool_calls
    assert list(json.loads(shown.arguments)) == ["_cut"]


def test_reasoning_words_and_results_of_one_response_are_cut_to_one_level() -> None:
    long = "word " * 6_000
    events = [started(), UserMessage("go"), said(long, call("a", path="x"), thinking=long), result("a", long)]
    after = fold_of([*events, drop(fold_of(events), 4_000)])
    response, answer = after.entries[1].message, after.entries[2].message
    assert answer.result is not None
    shown = [response.thinking, response.text, answer.result.content]
    sizes = [estimate(text) for text in shown]
    assert max(sizes) - min(sizes) < 100 and 3_500 < after.used() <= 4_000
    for name, text in zip(("3-thinking", "3-text", "4"), shown, strict=True):
        assert f"/spill/{name}.txt" in text and text.startswith("word ") and text.endswith("word ")


def test_what_is_cut_twice_is_cut_from_the_whole_and_its_file_holds_the_whole() -> None:
    words = "".join(f"word{n} " for n in range(9_000))
    events: list[DURABLE] = [started(), UserMessage(words)]
    kept: list[str] = []

    def spill(name: str, text: str) -> str:
        kept.append(text)
        return f"/spill/{name}"

    for limit in (5_000, 1_000):
        event = hard_limit(fold_of(events), limit, spill, limit)
        assert event is not None
        events.append(event)
    assert kept == [words, words]
    shown = fold_of(events).entries[0].message.text
    assert shown.count("were cut here") == 1 and fold_of(events).used() <= 1_000
    assert [gone.entry.message.text for gone in fold_of(events).departed] == [words]


def test_a_result_that_is_already_in_a_file_names_that_file() -> None:
    whole = ToolResult("a", "shell", "word " * 5_000, spill="/spill/call_a.txt")
    events = [started(), UserMessage("go"), said("", call("a")), ToolFinished(whole, "ok")]
    event = hard_limit(fold_of(events), 800, lambda name, text: pytest.fail("written again"), 800)
    assert event is not None and "/spill/call_a.txt" in event.cut["4"]


def test_facts_told_after_a_response_do_not_push_it_out() -> None:
    events = [started(), UserMessage("read"), said("", call("a", path="x")), NoteAppended("warning", "full")]
    events.append(result("a", "word " * 9_000))
    after = fold_of([*events, drop(fold_of(events), 1_000)])
    assert [e.kind for e in after.entries if e.kind != "pointer"] == ["user", "assistant", "tool", "note"]


def test_facts_that_came_with_the_newest_words_are_cut_before_they_leave() -> None:
    events = [*session(3), NoteAppended("mention", "file " * 5_000), UserMessage("what is in it?")]
    after = fold_of([*events, drop(fold_of(events), 1_000)])
    note, words = after.entries[-2:]
    assert note.kind == "note" and "were cut here" in note.message.text
    assert words.message.text == "what is in it?"


def test_before_the_provider_has_counted_there_is_room_for_the_error_of_an_estimate() -> None:
    events: list[DURABLE] = [started(16_384), UserMessage("word " * 30_000)]
    fold = fold_of(events)
    assert fold.at_most() >= fold.used() * 1.17
    event = hard_limit(fold, fold.window.usable, lambda name, text: f"/spill/{name}")
    assert event is not None
    after = fold_of([*events, event])
    assert after.used() * 1.17 <= after.at_most() <= fold.window.ceiling


def test_what_the_provider_has_counted_is_not_doubted() -> None:
    fold = fold_of([*session(3), UserMessage("more"), said("ok", usage=Usage(900, 10, 0, 900))])
    assert fold.at_most() == fold.used() == 910


def test_summary_and_seed_go_last() -> None:
    events = [*session(4), Compacted(9, "[context-summary] the ledger", "manual", 4, 2, 1)]
    event = drop(fold_of(events), fold_of(events).used() - 150)
    assert len(events) not in event.dropped
    cycle = [*session(1), CycleHandedOff(1, "[cycle-handoff] seed", "b", "1", 4, 2, 1), *session(4)[1:]]
    event = drop(fold_of(cycle), fold_of(cycle).used() - 150)
    assert fold_of([*cycle, event]).entries[0].kind == "seed"


def test_the_users_newest_words_are_cut_only_when_they_alone_do_not_fit() -> None:
    events = [*session(2), UserMessage("words " * 5_000)]
    fold = fold_of(events)
    whole = fold_of([*events, drop(fold, fold.entries[-1].tokens + 100)])
    assert whole.entries[-1].message.text == "words " * 5_000
    after = fold_of([*events, drop(fold, 500)])
    assert after.used() <= 500
    assert "/spill/" in after.entries[-1].message.text
    assert any(gone.entry.message.text == "words " * 5_000 for gone in after.departed)


def test_beside_words_that_alone_do_not_fit_the_newest_part_of_the_talk_stays() -> None:
    events = [*session(6), UserMessage("words " * 9_000)]
    after = fold_of([*events, drop(fold_of(events), 1_500)])
    assert after.used() <= 1_500
    assert any(entry.message.text == "answer 6" for entry in after.entries)


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
    event = hard_limit(fold, limit, lambda name, text: f"/spill/{name}", limit)
    if event is None:
        return
    after = fold_of([*(record.event for record in records), event])
    assert after.used() == event.tokens_after < fold.used()
    assert_whole_pairs(after.messages())
    newest = [entry.seq for entry in fold.entries if entry.kind in SAID][-1:]
    assert [e.seq for e in after.entries if e.kind in SAID][-1:] == newest
    if after.used() > limit:
        assert all(entry.kind in (*SAID, "pointer") for entry in after.entries)
    held = {entry.seq for entry in after.entries} | {gone.seq for gone in after.departed}
    assert {entry.seq for entry in fold.entries if entry.kind in ("user", "assistant", "tool")} <= held


LARGE = st.tuples(
    st.sampled_from(["word ", "潮水涨落。", "f(x[i], y->z); ", "9f86d081"]), st.integers(0, 12_000)
)


@settings(max_examples=count(60, 2_000), deadline=None)
@given(
    st.sampled_from([4_096, 8_192, 16_384, 65_536]), st.lists(st.tuples(st.integers(0, 3), LARGE), max_size=8)
)
def test_whatever_is_too_large_in_whatever_window_the_request_fits(
    size: int, said_sizes: list[tuple[int, tuple[str, int]]]
) -> None:
    """Words, facts, and responses whose reasoning, text, arguments or results are of any size."""
    events: list[DURABLE] = [started(size), UserMessage("begin")]
    for n, (kind, (unit, times)) in enumerate(said_sizes):
        text = unit * times
        if kind < 2:
            events.append((UserMessage if kind else lambda text: NoteAppended("mention", text))(text))
            continue
        message = assistant(text[: 9 * n], thinking=text * (kind == 2), calls=(call("a", content=text[::2]),))
        events += [AssistantMessage(message, "tool_calls", "m"), result("a", text * (kind == 3))]
    fold = fold_of(events)
    event = hard_limit(fold, int(fold.window.usable * 0.98), lambda name, text: f"/spill/{name}")
    if event is None:
        assert fold.at_most() <= fold.window.ceiling
        return
    after = fold_of([*events, event])
    assert after.used() == event.tokens_after
    assert after.at_most() <= fold.window.ceiling
    assert_whole_pairs(after.messages())
    assert all(isinstance(json.loads(c.arguments), dict) for m in after.messages() for c in m.tool_calls)
    assert fold.last_user is not None and after.last_user is not None
    assert after.last_user.seq == fold.last_user.seq
    whole = {gone.seq: gone.entry.message for gone in after.departed}
    assert all(whole.get(e.seq, e.message) == e.message for e in fold.entries)
    held = {e.seq for e in after.entries} | set(whole)
    assert {e.seq for e in fold.entries} <= held
