"""What holds for the fold of any log whatever."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, settings

from deeptide.context.assemble import Fold
from deeptide.context.entries import SAID, entry_of
from deeptide.protocol.events import (
    AssistantMessage,
    Compacted,
    CycleHandedOff,
    Record,
    TurnStarted,
    UnitsDropped,
    decode_record,
    encode_record,
)
from deeptide.protocol.messages import Message
from tests.context.random_logs import logs
from tests.deep import count

SMALL = settings(max_examples=count(120, 5_000), deadline=None)


def everything(fold: Fold) -> dict[str, Any]:
    return {
        "messages": fold.messages(),
        "entries": fold.entries,
        "departed": fold.departed,
        "used": fold.used(),
        "open": fold.open_calls(),
        "reading": fold.reading(),
        "plan": fold.plan,
        "state": (fold.mode, fold.model, fold.effort, fold.title, fold.pins, fold.window),
        "telemetry": (fold.turns, fold.usage, fold.cost),
        "undo": (fold.undoable_compaction, fold.undoable_rewind, fold.turn_starts),
        "cycle": (fold.cycle, fold.cycle_entries()),
    }


def assert_whole_pairs(messages: tuple[Message, ...]) -> None:
    """As a strict provider checks: each call's result directly behind its message, nothing owed, no stray."""
    at = 0
    while at < len(messages):
        message = messages[at]
        assert message.role != "tool", f"stray result at {at}"
        assert message.parts, f"empty message at {at}"
        results = [m.result.call_id for m in messages[at + 1 : at + 1 + len(message.tool_calls)] if m.result]
        assert results == [call.id for call in message.tool_calls]
        at += 1 + len(message.tool_calls)


@SMALL
@given(logs)
def test_applying_one_by_one_equals_folding_from_scratch_at_every_point(records: list[Record]) -> None:
    live = Fold()
    for record in records:
        live.apply(record)
        if record.seq % 5 == 0 or record is records[-1]:
            assert everything(live) == everything(Fold.of(records[: record.seq]))


@SMALL
@given(logs)
def test_a_request_never_holds_half_a_pair(records: list[Record]) -> None:
    fold = Fold()
    for record in records:
        fold.apply(record)
        assert_whole_pairs(fold.messages())


@SMALL
@given(logs)
def test_everything_said_is_in_the_view_or_departed_and_never_lost(records: list[Record]) -> None:
    fold = Fold.of(records)
    held = {entry.seq for entry in fold.entries} | {gone.seq for gone in fold.departed}
    for record in records:
        entry = entry_of(record)
        if entry:
            assert record.seq in held
    texts = {message.text for message in fold.messages()}
    gone = {departed.seq: departed.entry.message.text for departed in fold.departed}
    for entry in (entry_of(record) for record in records):
        if entry and entry.kind in SAID:
            assert entry.message.text in texts or gone[entry.seq] == entry.message.text


@SMALL
@given(logs)
def test_what_departed_has_an_address_of_its_own(records: list[Record]) -> None:
    departed = Fold.of(records).departed
    places = [(gone.cycle, gone.index) for gone in departed]
    assert len(set(places)) == len(places)
    assert all(cycle >= 1 and index >= 0 for cycle, index in places)


@SMALL
@given(logs)
def test_a_log_read_back_from_its_lines_gives_the_same_request(records: list[Record]) -> None:
    lines = [encode_record(record) for record in records]
    assert all(b"\n" not in line for line in lines)
    again = Fold.of(decode_record(line) for line in lines)
    assert msgspec.json.encode(again.messages()) == msgspec.json.encode(Fold.of(records).messages())
    assert again.used() == Fold.of(records).used()


@SMALL
@given(logs)
def test_the_meter_never_rises_when_the_view_shrinks(records: list[Record]) -> None:
    fold = Fold()
    for record in records:
        used, size = fold.used(), fold.estimate
        fold.apply(record)
        if isinstance(record.event, Compacted | UnitsDropped | CycleHandedOff) and fold.estimate <= size:
            assert fold.used() <= used


@SMALL
@given(logs)
def test_the_estimate_is_always_the_sum_of_its_parts(records: list[Record]) -> None:
    fold = Fold.of(records)
    assert fold.estimate == fold.prefix_tokens + sum(entry.tokens for entry in fold.entries)


@SMALL
@given(logs)
def test_anchors_never_fall_along_the_view(records: list[Record]) -> None:
    anchors = [entry.anchor for entry in Fold.of(records).entries]
    assert anchors == sorted(anchors)


@SMALL
@given(logs)
def test_telemetry_counts_what_was_rewound_too(records: list[Record]) -> None:
    fold = Fold.of(records)
    answers = [record.event for record in records if isinstance(record.event, AssistantMessage)]
    assert fold.turns == sum(isinstance(record.event, TurnStarted) for record in records)
    assert fold.usage.prompt == sum(a.usage.prompt for a in answers if a.usage)
    assert abs(fold.cost.amount - sum(a.cost.amount for a in answers if a.cost)) < 1e-9


@SMALL
@given(logs)
def test_the_prefix_of_every_request_is_the_recorded_one(records: list[Record]) -> None:
    fold = Fold.of(records)
    assert fold.messages()[0].role == "system"
    assert fold.messages()[0].text == fold.system
