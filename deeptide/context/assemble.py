"""The fold: from the records of a log to the exact next request and to everything now in force.

Invariant: `Fold.of(records)` and any sequence of `apply` over the same records are equal, so the request
built after a resume is byte for byte the one before it.
"""

from __future__ import annotations

from collections.abc import Iterable

from deeptide.context.chain import UNDO_KINDS, Cycles, chain
from deeptide.context.entries import SAID, Departed, Entry, entry_of, send, units
from deeptide.context.view import View, replay
from deeptide.context.window import Reading, Window
from deeptide.model.tokens import estimate_message, estimate_schema
from deeptide.protocol.approvals import Mode
from deeptide.protocol.events import (
    AssistantMessage,
    Compacted,
    CycleHandedOff,
    EffortChanged,
    ModeChanged,
    ModelChanged,
    Pinned,
    Record,
    Renamed,
    SessionStarted,
    Spent,
    TurnStarted,
)
from deeptide.protocol.messages import Message, ToolCall, ToolSchema, system
from deeptide.protocol.plan import Plan
from deeptide.protocol.usage import Money, Usage

__all__ = ["Departed", "Entry", "Fold"]

DEFAULT_WINDOW = 131_072


class Fold:
    """Read-only to everyone; grows by `apply`. Plain records cost O(1), the undo kinds fold anew.

    What follows a rewind: entries, plan. What stays as last set: mode, model, effort, title, pins. What
    counts everything ever logged: turns, usage, cost.
    """

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.started: SessionStarted | None = None
        self.model = ""
        self.effort = ""
        self.mode: Mode = "ask"
        self.window = Window.of(DEFAULT_WINDOW)
        self.pins: tuple[str, ...] = ()
        self.title = ""
        self.turns = 0
        self.usage = Usage()
        self.costs: dict[str, Money] = {}
        self._currency = "USD"
        self._cycles = Cycles()
        self._inactive: set[int] = set()
        self._view = View(0)
        self._departed: tuple[Departed, ...] | None = ()

    @staticmethod
    def of(records: Iterable[Record]) -> Fold:
        """Raises ValueError when the seqs do not count from 1 without gaps."""
        fold = Fold()
        records = list(records)
        last_undo = next((r.seq for r in reversed(records) if isinstance(r.event, UNDO_KINDS)), 0)
        for record in records[:last_undo]:
            fold._take(record)
        if last_undo:
            fold._refold()
        for record in records[last_undo:]:
            fold.apply(record)
        return fold

    def apply(self, record: Record) -> None:
        """Raises ValueError when `record` is not the next one."""
        entry = self._take(record)
        if isinstance(record.event, (SessionStarted, *UNDO_KINDS)):
            self._refold()
        else:
            self._view.apply(record, entry)
        self._departed = None

    # ---- the request -------------------------------------------------------------------------------------

    def messages(self) -> tuple[Message, ...]:
        """What the model is sent: the recorded system text, then the view; no call without its result."""
        head = (system(self.started.system),) if self.started else ()
        return head + tuple(message for unit in units(self._view.entries) for message in send(unit))

    @property
    def system(self) -> str:
        return self.started.system if self.started else ""

    @property
    def tools(self) -> tuple[ToolSchema, ...]:
        return self.started.tools if self.started else ()

    def open_calls(self) -> tuple[ToolCall, ...]:
        """Calls that wait for a result. Whoever goes on must close them first; unclosed ones are not sent."""
        return self._view.open_calls()

    # ---- the meter ---------------------------------------------------------------------------------------

    def used(self) -> int:
        """Tokens of the next request's prompt: the one number that gauge, tiers and triggers read."""
        return self._view.meter.used()

    def reading(self) -> Reading:
        return Reading.of(self.used(), self.window, estimated=not self._view.meter.exact)

    def at_most(self) -> int:
        """What the provider may count for that prompt when our estimates are as wrong as they can be."""
        return self._view.meter.at_most()

    @property
    def estimate(self) -> int:
        """Our own estimate of the whole request, before scaling."""
        return self._view.meter.estimate

    @property
    def prefix_tokens(self) -> int:
        """Estimate of what every request starts with: system text and tool schemas."""
        if self.started is None:
            return 0
        return estimate_message(system(self.system)) + sum(estimate_schema(t) for t in self.tools)

    def scaled(self, tokens: int) -> int:
        """An estimate brought to the scale of the provider's last count."""
        return self._view.meter.scaled(tokens)

    def unscaled(self, tokens: int) -> int:
        """The largest estimate that `scaled` brings to at most `tokens`."""
        return self._view.meter.unscaled(tokens)

    def overhang(self, estimate: int, uncounted: int) -> int:
        """How much of a request rewritten to `estimate`, of which `uncounted` is new to the provider, must go so
        that `at_most` stays below the ceiling."""
        return self._view.meter.overhang(estimate, uncounted, self.window.ceiling)

    def uncounted(self) -> list[Entry]:
        """The entries of the view that were in no counted request."""
        return self._view.uncounted()

    def longest(self, count: int) -> int:
        """Our estimate of the longest request that the provider will count as at most `count`."""
        return self._view.meter.longest(count)

    # ---- the view and what left it ------------------------------------------------------------------------

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(self._view.entries)

    @property
    def plan(self) -> Plan:
        return self._view.plan

    @property
    def departed(self) -> tuple[Departed, ...]:
        """Everything said that is not (or not whole) in the view, in log order: what recall searches."""
        if self._departed is None:
            left = dict(self._view.left)
            for seq in self._inactive:
                entry = entry_of(self.records[seq - 1])
                if entry:
                    left[seq] = (entry, "rewound")
            self._departed = tuple(
                Departed(entry, how, *self._cycles.place(seq)) for seq, (entry, how) in sorted(left.items())
            )
        return self._departed

    def place(self, seq: int) -> tuple[int, int]:
        """(cycle, message index) of what record `seq` said: its address for recall. Index -1: it said nothing."""
        return self._cycles.place(seq)

    @property
    def cycle(self) -> int:
        """The number of the running cycle, from 1."""
        return self._cycles.place(len(self.records))[0]

    def cycle_entries(self) -> tuple[Entry, ...]:
        """All that was said in the running cycle, as logged, in the order of its message index; also what was
        folded, dropped or rewound since."""
        era = self._cycles.era(len(self.records))
        found = (entry_of(record) for record in self.records if self._cycles.era(record.seq) == era)
        return tuple(entry for entry in found if entry)

    @property
    def cycle_started(self) -> float:
        """Unix seconds at which the running cycle began."""
        era = self._cycles.era(len(self.records))
        return next((r.at for r in self.records if self._cycles.era(r.seq) == era), 0.0)

    @property
    def last_user(self) -> Entry | None:
        """The newest words of the user in the view."""
        return next((e for e in reversed(self._view.entries) if e.kind in SAID), None)

    @property
    def last_compaction(self) -> Compacted | None:
        """The compaction whose summary the view now starts with, if any."""
        if not self._view.compactions:
            return None
        event = self.records[self._view.compactions[-1] - 1].event
        return event if isinstance(event, Compacted) else None

    # ---- undo --------------------------------------------------------------------------------------------

    @property
    def undoable_compaction(self) -> int | None:
        """The seq of the newest compaction in force, for `CompactionUndone`."""
        return self._view.compactions[-1] if self._view.compactions else None

    @property
    def undoable_rewind(self) -> int | None:
        """The seq of the newest rewind when nothing was said since, for `RewindUndone`."""
        return self._view.last_rewind

    @property
    def turn_starts(self) -> tuple[int, ...]:
        """For each turn in the view's chain the seq to rewind to so that all of it goes, oldest first."""
        return tuple(self._view.turn_starts)

    @property
    def cost(self) -> Money:
        """Everything spent, in the currency last spent in (`costs` has all of them)."""
        return self.costs.get(self._currency, Money(0.0, self._currency))

    # ---- inside ------------------------------------------------------------------------------------------

    def _take(self, record: Record) -> Entry | None:
        """Everything that no rewind takes back."""
        if record.seq != len(self.records) + 1:
            raise ValueError(f"record {record.seq} cannot follow record {len(self.records)}")
        self.records.append(record)
        entry = entry_of(record)
        self._cycles.add(record, entry is not None)
        match record.event:
            case SessionStarted() as event:
                self.started = event
                self.model, self.effort, self.mode = event.model, event.effort, event.mode
                self.window = Window.of(event.window)
            case ModeChanged(mode=mode):
                self.mode = mode
            case ModelChanged(model=model, window=window):
                self.model, self.window = model, Window.of(window)
            case EffortChanged(effort=effort):
                self.effort = effort
            case Pinned(text=text):
                self.pins = (*self.pins, text)
            case Renamed(title=title):
                self.title = title
            case TurnStarted():
                self.turns += 1
            case AssistantMessage() | Compacted() | CycleHandedOff() | Spent() as event:
                self._spent(event.usage, event.cost)
            case _:
                pass
        return entry

    def _spent(self, usage: Usage | None, cost: Money | None) -> None:
        if usage:
            self.usage = self.usage + usage
        if cost and cost.amount:
            self._currency = cost.currency
            self.costs[cost.currency] = self.costs.get(cost.currency, Money(0.0, cost.currency)) + cost

    def _refold(self) -> None:
        path = chain(self.records)
        self._view = replay((self.records[seq - 1] for seq in path.seqs), self.prefix_tokens, path.skipped)
        active = set(path.seqs)
        self._inactive = {record.seq for record in self.records if record.seq not in active}
        self._departed = None
