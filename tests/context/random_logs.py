"""Random logs for the property tests: every kind of record, in orders that an agent would and would not produce.

A log is built from plain numbers, so that hypothesis can shrink it; what a move does is decided by the fold of
what came before (which entries exist, which calls are open).
"""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from deeptide.context.assemble import Fold
from deeptide.context.compaction import Skipped, plan
from deeptide.context.dropping import hard_limit
from deeptide.protocol.events import (
    DURABLE,
    AssistantMessage,
    Compacted,
    CompactionUndone,
    CycleHandedOff,
    EffortChanged,
    Finish,
    ModeChanged,
    ModelChanged,
    NoteAppended,
    Pinned,
    PlanChanged,
    Record,
    Renamed,
    RewindUndone,
    Rewound,
    SessionStarted,
    Steered,
    StepStarted,
    ToolFinished,
    TurnEnded,
    TurnStarted,
    UnitsDropped,
    UserMessage,
)
from deeptide.protocol.messages import ToolCall, ToolResult, assistant
from deeptide.protocol.plan import Plan, PlanItem
from deeptide.protocol.usage import Money, Usage

FINISHES: tuple[Finish, ...] = ("stop", "tool_calls", "length", "interrupted", "cut", "content_filter")
START = SessionStarted("s", "/w", "You are an agent.", (), "m", "high", "ask", "0", 131_072)


class Log:
    """Appends records and keeps the fold of them."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.fold = Fold()
        self.add(START)

    def add(self, event: DURABLE) -> None:
        record = Record(len(self.records) + 1, float(len(self.records)), event)
        self.records.append(record)
        self.fold.apply(record)

    def seqs(self, kind: type) -> list[int]:
        return [record.seq for record in self.records if isinstance(record.event, kind)]


def _pick(items: list[int], n: int) -> int:
    return items[n % len(items)] if items else 0


def _user(log: Log, a: int, b: int) -> None:
    log.add(UserMessage(f"user words {len(log.records)} 中文 " + "x" * (b * 7)))


def _turn(log: Log, a: int, b: int) -> None:
    log.add(TurnStarted(a) if b % 2 else TurnEnded(a, "done"))


def _said_between(log: Log, a: int, b: int) -> None:
    log.add(
        Steered(f"steered {len(log.records)}") if a % 2 else NoteAppended("date", f"note {len(log.records)}")
    )


def _answer(log: Log, a: int, b: int) -> None:
    """A response with or without calls, streamed or not; its results follow, some of them, in any order."""
    if b % 4:
        log.add(StepStarted(1, 1, "m", "high"))
    if b % 5 == 0:
        _said_between(log, a, b)
    number = len(log.records)
    ids = [f"c{number if b % 3 else 0}-{i if a % 7 else 0}" for i in range(a % 4)]
    calls = tuple(ToolCall(call, "read", '{"path":"a.py"}') for call in ids)
    usage = Usage(900 + 13 * number, 20, 0, 900 + 13 * number) if b % 3 else None
    text = f"answer {number} " + "y" * (b * 11) if a % 5 else ""
    message = assistant(text, thinking="hm" * (b % 3), calls=calls)
    log.add(AssistantMessage(message, FINISHES[b % 6], "m", usage, Money(0.01)))
    for position in range(len(calls)):
        if (a + position) % 6 == 5:
            continue
        if b % 7 == 0:
            _said_between(log, b, a)
        call = calls[(position + b) % len(calls)]
        log.add(
            ToolFinished(ToolResult(call.id, "read", f"result {len(log.records)} " + "z" * (a * 9)), "ok")
        )


def _stray_result(log: Log, a: int, b: int) -> None:
    log.add(ToolFinished(ToolResult(f"c{a}-{b % 2}", "read", f"stray {len(log.records)}"), "orphaned"))


def _compact(log: Log, a: int, b: int) -> None:
    """Mostly as the engine would; sometimes with any boundary and any lifted entry."""
    planned = plan(log.fold)
    through, lifted = _pick([e.seq for e in log.fold.entries], a), (_pick(log.seqs(UserMessage), b),)
    if not isinstance(planned, Skipped) and b % 3:
        through, lifted = planned.through, planned.lifted
    log.add(Compacted(through, f"[context-summary] {len(log.records)}", "manual", 1, 2, 1, lifted))


def _drop(log: Log, a: int, b: int) -> None:
    if b % 2:
        event = hard_limit(
            log.fold, max(1, log.fold.used() * (20 + a) // 100), lambda seq, text: f"/spill/{seq}"
        )
        if event:
            log.add(event)
        return
    seqs = [entry.seq for entry in log.fold.entries]
    cut = {str(_pick(seqs, b)): "cut text"} if a % 3 == 0 and seqs else {}
    log.add(UnitsDropped(tuple(seqs[a % 5 : a % 5 + b % 4]), "[context-dropped]" if a % 2 else "", 2, 1, cut))


def _cycle(log: Log, a: int, b: int) -> None:
    numbers = [r.event.cycle for r in log.records if isinstance(r.event, CycleHandedOff)]
    number = 1 + max(numbers, default=0) + (a % 5 == 0)
    log.add(CycleHandedOff(number, f"[cycle-handoff] {number}", "briefing", f"{number}.jsonl", 1, 2, 1))


def _rewind(log: Log, a: int, b: int) -> None:
    starts = list(log.fold.turn_starts)
    log.add(Rewound(_pick(starts, a) if b % 2 else a * 3 % (len(log.records) + 2), 1))


def _undo(log: Log, a: int, b: int) -> None:
    if b % 2:
        target = log.fold.undoable_compaction if b % 3 else _pick(log.seqs(Compacted), a)
        if target:
            log.add(CompactionUndone(target))
        return
    target = log.fold.undoable_rewind if b % 3 else _pick(log.seqs(Rewound), a)
    if target:
        log.add(RewindUndone(target))


def _settings(log: Log, a: int, b: int) -> None:
    events: list[DURABLE] = [
        ModeChanged("plan"),
        ModelChanged(f"m{b}", 65_536),
        EffortChanged("max"),
        PlanChanged(Plan((PlanItem(f"step {len(log.records)}"),))),
        Pinned(f"pin {b}"),
        Renamed(f"title {b}"),
    ]
    log.add(events[a % len(events)])


MOVES: tuple[Callable[[Log, int, int], None], ...] = (
    _user, _turn, _answer, _answer, _answer, _said_between, _stray_result, _compact, _drop, _cycle, _rewind,
    _undo, _settings,
)  # fmt: skip


def build(moves: list[tuple[int, int, int]]) -> list[Record]:
    log = Log()
    for move, a, b in moves:
        MOVES[move](log, a, b)
    return log.records


_number = st.integers(0, 30)
moves = st.lists(st.tuples(st.integers(0, len(MOVES) - 1), _number, _number), max_size=30)
logs = moves.map(build)
