"""The ledger loses nothing: proved after each of many compactions over random talks."""

from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.context.compaction import compact, plan
from deeptide.context.dropping import hard_limit
from deeptide.context.ledger import Place, Span, covers, dump, join, load, missing, spans
from deeptide.prompts.library import Library
from deeptide.protocol.events import DURABLE, Compacted, UserMessage
from tests.context.talk import Writer, call, fold_of, result, said, started
from tests.deep import count

TEXTS = Library()
_steps = st.lists(
    st.tuples(
        st.sampled_from(["user", "read", "write", "shell", "fail", "compact", "drop"]), st.integers(0, 60)
    ),
    min_size=4,
    max_size=40,
)


def _grow(events: list[DURABLE], what: str, n: int) -> None:
    id = f"c{len(events)}"
    match what:
        case "user":
            events.append(UserMessage(f"words {len(events)} " + "详细说明 " * n))
        case "read":
            events += [said("", call(id, path=f"f{n % 7}.py")), result(id, "line " * 10 * n)]
        case "write":
            written = call(id, "write", path=f"f{n % 7}.py", content="x")
            events += [said("done", written), result(id, f"[f{n % 7}.py · new · sha 0123456789ab]", "write")]
        case "shell":
            run = call(id, "shell", command=f"make {n % 5}")
            events += [said("", run), result(id, "out " * n, "shell", summary="exit 0")]
        case "fail":
            events += [said("", call(id, path="gone.py")), result(id, f"no such file {n % 9}", error=True)]


@settings(max_examples=count(60, 2_000), deadline=None)
@given(_steps, st.sampled_from([8_192, 16_384, 131_072]))
def test_no_compaction_loses_an_entry_or_a_message(steps: list[tuple[str, int]], window: int) -> None:
    events: list[DURABLE] = [started(window)]
    for what, n in steps:
        fold = fold_of(events)
        if what == "compact":
            old, planned = load(fold.last_compaction), plan(fold)
            event = asyncio.run(compact(fold, complete=Writer(), texts=TEXTS, trigger="hard"))
            if isinstance(event, Compacted):
                events.append(event)
                new, after = load(event), fold_of(events)
                assert missing(fold, old, getattr(planned, "leaving", ()), new) == ()
                assert after.used() == event.tokens_after < event.tokens_before == fold.used()
                out = [gone for gone in after.departed if gone.how != "rewound"]
                assert all(covers(new.folded, gone.cycle, gone.index) for gone in out)
                newest = [e for e in fold.entries if e.kind == "user"][-1:]
                assert all(entry.message in after.messages() for entry in newest)
        elif what == "drop":
            dropped = hard_limit(fold, max(1, fold.used() * n // 60), lambda seq, text: f"/spill/{seq}")
            if dropped:
                events.append(dropped)
        else:
            _grow(events, what, n)


@settings(max_examples=count(60, 2_000), deadline=None)
@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 40)), max_size=60))
def test_spans_cover_exactly_the_places_they_were_made_of(places: list[tuple[int, int]]) -> None:
    parts = spans(Place(0, cycle, index) for cycle, index in places)
    held = {(part.cycle, index) for part in parts for index in range(part.first, part.last + 1)}
    assert held == set(places)
    assert join((*parts, *parts)) == parts
    assert len(parts) <= len(set(places))


def test_what_a_broken_ledger_lost_is_named() -> None:
    events: list[DURABLE] = [started(), UserMessage("one"), said("two")]
    fold = fold_of(events)
    old = load(Compacted(1, "", "manual", 1, 2, 1))
    assert missing(fold, old, fold.entries, old) == ("message 2", "message 3")


def test_a_ledger_survives_its_json() -> None:
    events: list[DURABLE] = [started()]
    for what in ("user", "read", "write", "shell", "fail", "user", "read"):
        _grow(events, what, 3)
    event = asyncio.run(compact(fold_of(events), complete=Writer(), texts=TEXTS, trigger="hard"))
    if isinstance(event, Compacted):
        assert bytes(dump(load(event))) == bytes(event.ledger)


def test_an_unreadable_ledger_counts_as_none() -> None:
    assert load(None) == load(Compacted(1, "", "manual", 1, 2, 1))
    assert join(()) == ()
    assert covers((Span(1, 2, 4),), 1, 3)
    assert not covers((Span(1, 2, 4),), 2, 3)
