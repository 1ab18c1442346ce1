"""The entries of one chain of records, and their meter: the part of the fold that rewinding rebuilds.

Invariant: a tool result stands directly behind its assistant message, in call order, whatever was logged
between; nothing leaves `entries` without being noted in `left`, except what code wrote (summaries, pointers).
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from deeptide.context.entries import SYNTHETIC, Entry, How, cuts_of, entry_of, make, slots, units, with_cuts
from deeptide.context.window import ESTIMATE_ERROR, SCALE_ERROR, lowered, raised
from deeptide.protocol.events import (
    AssistantMessage,
    Compacted,
    CycleHandedOff,
    PlanChanged,
    Record,
    Rewound,
    StepStarted,
    ToolFinished,
    TurnEnded,
    TurnStarted,
    UnitsDropped,
    UserMessage,
)
from deeptide.protocol.messages import ToolCall, user
from deeptide.protocol.plan import Plan

BELIEVED = 6
"""How many times off an estimate may be: the worst text measured is off by 2.5."""


class Meter:
    """Tokens of the next request: the provider's last count plus estimates of what was appended since.

    After a rewrite of the view the estimate of the whole is scaled by the last count over the estimate of
    what was counted, in integers, so a shrink can never raise it.
    """

    def __init__(self, prefix: int) -> None:
        self.estimate = prefix
        self.counted: int | None = None
        self._since = 0
        self._scale = (1, 1)
        self._known = False

    def add(self, tokens: int) -> None:
        self.estimate += tokens
        self._since += tokens

    def count(self, total: int, later: int) -> None:
        """The provider counted `total` for everything but the newest entries, estimated at `later`. A count that
        is far from any that could be true is not believed."""
        estimated = max(1, self.estimate - later)
        if not estimated // BELIEVED <= total <= estimated * BELIEVED + 4_096:
            return
        self.counted = total
        self._since = later
        self._scale = (total, max(1, self.estimate - later))
        self._known = True

    def rewrite(self, change: int, since: int) -> None:
        """`since`: of the new whole, the estimate of what the provider has never counted."""
        self.estimate += change
        self._since = since
        self.counted = None

    def used(self) -> int:
        if self.counted is None:
            return self.scaled(self.estimate)
        return self.counted + self.scaled(self._since)

    def at_most(self) -> int:
        """What the provider may count for the next prompt: `used` with the error that its estimates may have."""
        if not self._known:
            return raised(self.estimate, ESTIMATE_ERROR)
        sure = self.counted
        if sure is None:
            sure = raised(self.scaled(max(0, self.estimate - self._since)), SCALE_ERROR)
        return sure + raised(max(self._since, self.scaled(self._since)), ESTIMATE_ERROR)

    @property
    def exact(self) -> bool:
        return self.counted is not None and not self._since

    def scaled(self, tokens: int) -> int:
        numerator, denominator = self._scale
        return -(-tokens * numerator // denominator)

    def unscaled(self, tokens: int) -> int:
        """The largest estimate that `scaled` brings to at most `tokens`."""
        numerator, denominator = self._scale
        return tokens * denominator // numerator

    def overhang(self, estimate: int, since: int, ceiling: int) -> int:
        """How much of a rewritten request must go (by estimate, from `since` first, its part that was never
        counted) so that `at_most` reads no more than `ceiling`."""
        if not self._known:
            return max(0, estimate - lowered(ceiling, ESTIMATE_ERROR))
        free = lowered(ceiling - raised(self.scaled(estimate - since), SCALE_ERROR), ESTIMATE_ERROR)
        if free < 0:
            return max(0, estimate - self.unscaled(lowered(ceiling, SCALE_ERROR)))
        return max(0, since - min(free, self.unscaled(free)))

    def longest(self, count: int) -> int:
        """The estimate of the longest request that will be counted as at most `count`: by the scale of the last
        count, and with the whole error of an estimate before there is one."""
        return self.unscaled(count) if self._known else lowered(count, ESTIMATE_ERROR)


class View:
    """Apply the records of a chain in order. `skipped`: undone compactions, as in `Chain`."""

    def __init__(self, prefix: int, skipped: dict[int, int] | None = None) -> None:
        self.entries: list[Entry] = []
        self.left: dict[int, tuple[Entry, How]] = {}
        self.meter = Meter(prefix)
        self.plan = Plan()
        self.turn_starts: list[int] = []
        self.compactions: list[int] = []
        self.last_rewind: int | None = None
        self._skipped = skipped or {}
        self._distrust_until = 0
        self._step_at: int | None = None
        self._settled = True
        self._turn = "idle"
        self._last = 0
        self._counted_at = 0

    def apply(self, record: Record, entry: Entry | None) -> None:
        """`entry` is `entry_of(record)`, made once by the caller."""
        match record.event:
            case AssistantMessage() as event:
                self._answered(record.seq, event, entry)
            case ToolFinished() if entry:
                self._finished(entry)
            case Compacted() as event:
                self._compacted(record.seq, event)
            case UnitsDropped() as event:
                self._dropped(record.seq, event)
            case CycleHandedOff(seed=seed):
                self._replace(self.entries, "cycle", [make(record.seq, "seed", user(seed))])
                self.compactions.clear()
            case PlanChanged(plan=plan):
                self.plan = plan
            case StepStarted():
                self._step_at = len(self.entries)
                self._settled = True
            case Rewound():
                self.last_rewind = record.seq
            case _ if entry:
                self._append(entry)
        self._follow_turn(record)
        self._last = record.seq

    def open_calls(self) -> tuple[ToolCall, ...]:
        """Calls of the newest response that still wait for a result; none once the talk has gone on."""
        if self._settled:
            return ()
        results: list[Entry] = []
        for entry in reversed(self.entries):
            if entry.kind == "assistant":
                answered = set(slots(entry.message.tool_calls, reversed(results)))
                return tuple(c for i, c in enumerate(entry.message.tool_calls) if i not in answered)
            if entry.kind == "tool":
                results.append(entry)
        return ()

    # ---- what appends ------------------------------------------------------------------------------------

    def _append(self, entry: Entry) -> None:
        self.entries.append(entry)
        self.meter.add(entry.tokens)
        if entry.kind == "user":
            self._settled = True
        self.last_rewind = None

    def _answered(self, seq: int, event: AssistantMessage, entry: Entry | None) -> None:
        """What was logged while the response was streaming was not in its request: it goes behind it."""
        at = len(self.entries) if self._step_at is None else self._step_at
        self._step_at = None
        if entry is None:
            return
        later = [msgspec.structs.replace(e, anchor=max(e.anchor, seq)) for e in self.entries[at:]]
        self.entries[at:] = [entry, *later]
        self.meter.add(entry.tokens)
        self.last_rewind = None
        self._settled = not entry.message.tool_calls
        usage = event.usage
        if usage is None or usage.total <= 0 or seq < self._distrust_until:
            return
        if entry.message is event.message:
            self.meter.count(usage.total, sum(e.tokens for e in later))
            self._counted_at = seq

    def _finished(self, entry: Entry) -> None:
        place = self._place_of(entry)
        if place is None:
            self.left[entry.seq] = (entry, "folded")
            return
        at, anchor = place
        self.entries.insert(at, msgspec.structs.replace(entry, anchor=anchor))
        if self._step_at is not None and at <= self._step_at:
            self._step_at += 1
        self.meter.add(entry.tokens)

    def _place_of(self, entry: Entry) -> tuple[int, int] | None:
        """(position, anchor) of the result: behind the newest message that waits for it, in call order."""
        results: list[Entry] = []
        for at in range(len(self.entries) - 1, -1, -1):
            here = self.entries[at]
            if here.kind == "tool":
                results.insert(0, here)
                continue
            if here.kind == "assistant" and here.message.tool_calls:
                *taken, slot = slots(here.message.tool_calls, [*results, entry])
                if slot >= 0:
                    return at + 1 + sum(1 for other in taken if other < slot), here.anchor
            results = []
        return None

    # ---- what rewrites -----------------------------------------------------------------------------------

    def _compacted(self, seq: int, event: Compacted) -> None:
        if seq in self._skipped:
            self._distrust_until = max(self._distrust_until, self._skipped[seq])
            self.meter.rewrite(0, self._uncounted())
            return
        gone: list[Entry] = []
        lifted: list[Entry] = []
        kept: list[Entry] = []
        for unit in units(self.entries):
            if unit[0].anchor > event.through:
                kept += unit
            elif unit[0].seq in event.lifted:
                lifted += (msgspec.structs.replace(e, anchor=event.through) for e in unit)
            else:
                gone += unit
        summary = make(seq, "summary", user(event.summary), event.through)
        self._replace(gone, "folded", [summary, *lifted, *kept])
        self.compactions.append(seq)

    def _dropped(self, seq: int, event: UnitsDropped) -> None:
        gone: list[Entry] = []
        rest: list[Entry] = []
        pointed = not event.pointer
        cuts = cuts_of(event.cut)
        for unit in units(self.entries):
            if unit[0].seq in event.dropped:
                gone += unit
                if not pointed:
                    rest.append(make(seq, "pointer", user(event.pointer), unit[0].anchor))
                    pointed = True
                continue
            rest += (self._cut(e, cuts.get(e.seq)) for e in unit)
        if not pointed and not gone:
            rest.insert(0, make(seq, "pointer", user(event.pointer), 0))
        self._replace(gone, "dropped", rest)

    def _cut(self, entry: Entry, cuts: dict[str, str] | None) -> Entry:
        if cuts is None:
            return entry
        if entry.kind not in SYNTHETIC:
            self.left.setdefault(entry.seq, (entry, "dropped"))
        return make(entry.seq, entry.kind, with_cuts(entry.message, cuts), entry.anchor)

    def _replace(self, gone: Iterable[Entry], how: How, entries: list[Entry]) -> None:
        before = sum(e.tokens for e in self.entries)
        for entry in gone:
            if entry.kind not in SYNTHETIC:
                self.left.setdefault(entry.seq, (entry, how))
        self.entries = entries
        self.meter.rewrite(sum(e.tokens for e in entries) - before, self._uncounted())
        self._step_at = None
        self.last_rewind = None

    def uncounted(self) -> list[Entry]:
        """The entries that were in no counted request."""
        return [entry for entry in self.entries if entry.seq > self._counted_at]

    def _uncounted(self) -> int:
        return sum(entry.tokens for entry in self.uncounted())

    # ---- turns -------------------------------------------------------------------------------------------

    def _follow_turn(self, record: Record) -> None:
        """Notes where each turn began, whichever of its user message and `TurnStarted` is logged first, and
        also when the turn before was killed without a `TurnEnded`."""
        match record.event:
            case UserMessage():
                if self._turn in ("idle", "running"):
                    self.turn_starts.append(self._last)
                self._turn = "running" if self._turn == "fresh" else "asked"
            case TurnStarted():
                if self._turn != "asked":
                    self.turn_starts.append(self._last)
                self._turn = "running" if self._turn == "asked" else "fresh"
            case StepStarted() | AssistantMessage():
                self._turn = "running"
            case TurnEnded():
                self._turn = "idle"
                self._settled = True
            case _:
                pass


def replay(records: Iterable[Record], prefix: int, skipped: dict[int, int]) -> View:
    """The view of a whole chain."""
    view = View(prefix, skipped)
    for record in records:
        view.apply(record, entry_of(record))
    return view
