"""Records and live events in, changes of the view out.

Invariant: `apply` never fails on any sequence of events, and after the same records the blocks are the same
whatever live events came between them (blocks with an id that begins with `live:` aside).
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from deeptide.protocol.approvals import Approval
from deeptide.protocol.events import (
    ApprovalAnswered,
    ApprovalRequested,
    AssistantMessage,
    CompactionUndone,
    Event,
    NoteAppended,
    Notice,
    PlanChanged,
    Record,
    Retrying,
    RewindUndone,
    Rewound,
    Steered,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from deeptide.protocol.plan import Plan, PlanItem
from deeptide.protocol.text import clean
from deeptide.protocol.usage import Money, Usage
from deeptide.transcript.blocks import (
    OPEN_CALLS,
    Block,
    Change,
    DividerBlock,
    NoteBlock,
    PlanBlock,
    SummaryBlock,
    ToolBlock,
    TurnBlock,
    UserBlock,
)
from deeptide.transcript.notes import counted, end_of, note_of, trace_of
from deeptide.transcript.prose import Tail
from deeptide.transcript.shelf import Shelf
from deeptide.transcript.speech import Speech

RETRY = "live:retry"


class Transcript:
    """What a reader sees. Feed it every record and every live event of one session, in order."""

    def __init__(self) -> None:
        self._shelf = Shelf()
        self._speech = Speech(self._shelf)
        self._seq = 0
        self._at = 0.0
        self._live = 0
        self._cards: dict[str, str] = {}
        self._tails: dict[str, Tail] = {}
        self._asked: dict[str, Approval] = {}
        self._before: dict[int, tuple[tuple[Block, int], ...]] = {}
        self._turn_at = 0.0
        self._model = ""
        self._usage = Usage()
        self._cost: Money | None = None
        self._calls = 0

    def __len__(self) -> int:
        """How many blocks there are."""
        return len(self._shelf)

    @property
    def blocks(self) -> tuple[Block, ...]:
        return self._shelf.blocks

    def apply_all(self, items: Iterable[Record | Event]) -> tuple[Change, ...]:
        """Many at once, as after a resume; the changes of all of them."""
        for item in items:
            self._take(item)
        return self._shelf.take_changes()

    def apply(self, item: Record | Event) -> tuple[Change, ...]:
        self._take(item)
        return self._shelf.take_changes()

    def _take(self, item: Record | Event) -> None:
        if isinstance(item, Record):
            self._seq, self._at = item.seq, item.at
            self._record(item.event)
        else:
            self._hear(item)

    # ---- live ----------------------------------------------------------------------------------------------

    def _hear(self, event: Event) -> None:
        match event:
            case TextDelta() | ThinkingDelta() | ToolCallDelta():
                self._shelf.remove(RETRY)
                self._speech.hear(event, self._seq)
            case ToolOutput():
                self._output(event)
            case Retrying():
                self._speech.drop()
                text = f"Trying again ({event.attempt} of {event.of}) in {event.delay_s:.0f} s"
                self._shelf.put(NoteBlock(RETRY, "warning", text, clean(event.reason)), self._seq)
            case Notice():
                self._live += 1
                note = NoteBlock(f"live:{self._live}", event.level, clean(event.text), clean(event.advice))
                self._put(note)
            case _:
                pass

    def _output(self, event: ToolOutput) -> None:
        card = self._card(event.call_id)
        if card is None or card.status not in OPEN_CALLS:
            return
        tail = self._tails.setdefault(card.id, Tail())
        tail.append(event.text)
        self._shelf.update(msgspec.structs.replace(card, output=tail.view(), status="running"))

    # ---- logged --------------------------------------------------------------------------------------------

    def _record(self, event: Event) -> None:
        match event:
            case UserMessage():
                self._put(UserBlock(f"u{self._seq}", clean(event.text)))
            case Steered():
                self._put(UserBlock(f"u{self._seq}", clean(event.text), steered=True))
            case TurnStarted():
                self._turn_at, self._usage, self._cost, self._calls = self._at, Usage(), None, 0
                self._model = ""
            case StepStarted():
                self._speech.begin(self._seq)
            case AssistantMessage():
                self._said(event)
            case ToolStarted() | ToolFinished():
                self._called(event)
            case ApprovalRequested():
                self._asked[event.approval.id] = event.approval
            case ApprovalAnswered():
                self._decided(event)
            case TurnEnded():
                self._ended(event)
            case PlanChanged():
                items = tuple(PlanItem(clean(item.text), item.status) for item in event.plan.items)
                self._put(PlanBlock(f"p{self._seq}", Plan(items)))
            case Rewound() | RewindUndone() | CompactionUndone():
                self._moved(event)
            case _:
                self._noted(event)

    def _put(self, block: Block) -> None:
        if self._shelf.get(block.id) is not None:
            self._shelf.update(block)
        else:
            self._shelf.put(block, self._seq)
            self._speech.aside(block.id)

    def _noted(self, event: Event) -> None:
        note = note_of(event, self._seq)
        if note is None:
            return
        last = self._shelf.last_logged
        if (
            isinstance(event, NoteAppended)
            and isinstance(note, NoteBlock)
            and isinstance(last, NoteBlock)
            and note.level == last.level == "model"
            and not self._speech.open
        ):
            text = f"{last.text}\n{note.text}"
            self._shelf.update(NoteBlock(last.id, "model", text, label=f"{last.label}, {note.label}"))
        else:
            self._put(note)

    def _said(self, event: AssistantMessage) -> None:
        self._shelf.remove(RETRY)
        self._model = clean(event.model)
        if event.usage is not None:
            self._usage = self._usage + event.usage
        if event.cost is not None and (self._cost is None or self._cost.currency == event.cost.currency):
            self._cost = event.cost if self._cost is None else self._cost + event.cost
        for name, call in self._speech.settle(event, self._seq):
            self._cards[call.id] = name
            self._calls += 1

    # ---- calls ---------------------------------------------------------------------------------------------

    def _card(self, call_id: str) -> ToolBlock | None:
        block = self._shelf.get(self._cards.get(call_id, ""))
        return block if isinstance(block, ToolBlock) else None

    def _called(self, event: ToolStarted | ToolFinished) -> None:
        if isinstance(event, ToolStarted):
            call_id, name = event.call_id, event.name
        else:
            call_id, name = event.result.call_id, event.result.name
        card = self._card(call_id)
        if card is None:
            card = ToolBlock(f"call:r{self._seq}", call_id, clean(name), clean(name))
            self._cards[call_id] = card.id
        if isinstance(event, ToolStarted):
            title = clean(event.title) or card.title
            card = msgspec.structs.replace(
                card, name=clean(name), title=title, status="running", arguments=clean(event.arguments)
            )
        else:
            self._tails.pop(card.id, None)
            card = msgspec.structs.replace(
                card,
                output=clean(event.result.content),
                spill=clean(event.result.spill),
                diff=clean(event.diff),
                status=event.status,
                summary=clean(event.summary),
                elapsed_ms=event.elapsed_ms,
            )
        self._put(card)

    def _decided(self, event: ApprovalAnswered) -> None:
        approval = self._asked.pop(event.id, None)
        trace = trace_of(approval, event)
        card = self._card(approval.call_id) if approval is not None else None
        if card is not None:
            title = card.title if card.title != card.name or approval is None else clean(approval.title)
            self._shelf.update(msgspec.structs.replace(card, trace=trace, title=title))
        else:
            about = f"{clean(approval.title)}: " if approval is not None else ""
            self._put(NoteBlock(f"n{self._seq}", "info", about + trace))

    # ---- the turn and the view -----------------------------------------------------------------------------

    def _ended(self, event: TurnEnded) -> None:
        self._shelf.remove(RETRY)
        self._speech.drop()
        self._speech.open = False
        for name in self._cards.values():
            block = self._shelf.get(name)
            if isinstance(block, ToolBlock) and block.status in OPEN_CALLS:
                self._shelf.update(msgspec.structs.replace(block, status="cancelled"))
        self._cards.clear()
        self._tails.clear()
        self._asked.clear()
        if note := end_of(event, self._seq):
            self._put(note)
        if self._model:
            elapsed = round((self._at - self._turn_at) * 1000)
            self._put(
                TurnBlock(
                    f"t{self._seq}", event.turn, event.reason, max(0, elapsed), self._model, self._usage,
                    self._cost, self._calls,
                )
            )  # fmt: skip

    def _moved(self, event: Rewound | RewindUndone | CompactionUndone) -> None:
        match event:
            case Rewound():
                self._before[self._seq] = self._shelf.snapshot()
                self._shelf.remove_where(lambda _, origin: origin > event.to)
                label = f"Rewound to {clean(event.label)}" if event.label else "Rewound"
                detail = f"{counted(event.messages, 'message')} left the view · /redo brings them back"
                self._put(DividerBlock(f"d{self._seq}", label, detail))
            case RewindUndone():
                if event.target in self._before:
                    self._shelf.restore(self._before[event.target])
            case CompactionUndone():
                block = self._shelf.get(f"s{event.target}")
                if isinstance(block, SummaryBlock):
                    self._shelf.update(msgspec.structs.replace(block, undone=True))
