"""Everything the agent says, one class each: the outward door.

Durable events are logged first and published second; live ones are only published. A durable event is
identified by (session, seq), and `seq` is the identity of anything said in it.

Invariant: every event survives `decode(encode(event)) == event`, and no event carries a class, a future or a
callback, so the log, the TUI, headless output and any other reader are equals.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import msgspec

from deeptide.protocol.approvals import Approval, Decision, Mode
from deeptide.protocol.messages import Message, ToolResult, ToolSchema
from deeptide.protocol.plan import Plan
from deeptide.protocol.text import scrub
from deeptide.protocol.usage import Money, Usage

Finish = Literal["stop", "tool_calls", "length", "content_filter", "interrupted", "cut"]
ToolStatus = Literal["ok", "error", "denied", "cancelled", "orphaned"]
EndReason = Literal["done", "interrupted", "error", "turns", "money", "repetition", "denied"]
Trigger = Literal["manual", "auto", "soft", "overflow", "hard", "cycle"]


class Event(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type"):
    durable: ClassVar[bool] = True


# ---- the session -------------------------------------------------------------------------------------


class SessionStarted(Event, frozen=True, tag="session_started"):
    """The recorded prefix: what every request of this session starts with, whatever is installed later."""

    session: str
    workspace: str
    system: str
    tools: tuple[ToolSchema, ...]
    model: str
    effort: str
    mode: Mode
    version: str
    window: int
    trusted: bool = True
    endpoint: str = ""


class Renamed(Event, frozen=True, tag="renamed"):
    title: str


class HistoryRepaired(Event, frozen=True, tag="history_repaired"):
    """The log was found torn or with open calls and was mended. `detail` is shown to the user."""

    detail: str


# ---- said by people and by the house -------------------------------------------------------------------


class UserMessage(Event, frozen=True, tag="user_message"):
    """The user's own words, verbatim."""

    text: str


class Steered(Event, frozen=True, tag="steered"):
    """The user's own words, given while a turn was running; in the view like a user message."""

    text: str


class NoteAppended(Event, frozen=True, tag="note_appended"):
    """Facts appended for the model as a user-role message: `kind` is date, git, mention, agents, warning,
    shell (a `!command` of the user with its output), mode, ..."""

    kind: str
    text: str


# ---- a turn ---------------------------------------------------------------------------------------------


class TurnStarted(Event, frozen=True, tag="turn_started"):
    turn: int


class StepStarted(Event, frozen=True, tag="step_started"):
    """One request is about to be sent. `tokens` is the meter's estimate of its prompt."""

    turn: int
    step: int
    model: str
    effort: str
    tokens: int = 0


class AssistantMessage(Event, frozen=True, tag="assistant_message"):
    """One response, whole or not (`finish`). `peak` says which tier priced it.

    `cut` (the stream broke) is shown but never in the view; `interrupted` (the user pressed Esc) is in the
    view if it holds text, without its unfinished calls.
    """

    message: Message
    finish: Finish
    model: str
    usage: Usage | None = None
    cost: Money | None = None
    peak: bool = False
    request_id: str = ""
    elapsed_ms: int = 0


class ToolStarted(Event, frozen=True, tag="tool_started"):
    """`title` is what a reader sees on the card: `read src/a.py:1-80`, `$ pytest -q`."""

    call_id: str
    name: str
    title: str
    arguments: str = "{}"


class ToolFinished(Event, frozen=True, tag="tool_finished"):
    """`result` is exactly what the model reads. `diff` is a unified diff for the card, empty if none.
    `summary` is a few words for the folded card: `42 lines`, `exit 1`, `3 matches`."""

    result: ToolResult
    status: ToolStatus
    elapsed_ms: int = 0
    summary: str = ""
    diff: str = ""


class ApprovalRequested(Event, frozen=True, tag="approval_requested"):
    approval: Approval


class ApprovalAnswered(Event, frozen=True, tag="approval_answered"):
    """`rule` is the rule stored by `session` or `always`, empty otherwise."""

    id: str
    decision: Decision
    rule: str = ""


class TurnEnded(Event, frozen=True, tag="turn_ended"):
    """`error` and `advice` are for the reader. `snapshot` is the workspace snapshot id, empty if none."""

    turn: int
    reason: EndReason
    error: str = ""
    advice: str = ""
    retryable: bool = False
    snapshot: str = ""


# ---- what is in force -------------------------------------------------------------------------------------


class ModeChanged(Event, frozen=True, tag="mode_changed"):
    mode: Mode


class ModelChanged(Event, frozen=True, tag="model_changed"):
    model: str
    window: int


class EffortChanged(Event, frozen=True, tag="effort_changed"):
    effort: str


class PlanChanged(Event, frozen=True, tag="plan_changed"):
    plan: Plan


class Pinned(Event, frozen=True, tag="pinned"):
    text: str


# ---- the context -------------------------------------------------------------------------------------------


class ContextWarning(Event, frozen=True, tag="context_warning"):
    tier: int
    percent: float
    used: int
    usable: int
    model: str


class Compacted(Event, frozen=True, tag="compacted"):
    """Every view entry with seq <= `through` is replaced by one user-role message `summary`, followed by the
    entries named in `lifted` (verbatim). `ledger` is the code-built part, as JSON, merged by the next one."""

    through: int
    summary: str
    trigger: Trigger
    folded: int
    tokens_before: int
    tokens_after: int
    lifted: tuple[int, ...] = ()
    ledger: msgspec.Raw = msgspec.Raw(b"{}")
    focus: str = ""
    narrative: bool = False
    notice: str = ""
    usage: Usage | None = None
    cost: Money | None = None


class CompactionUndone(Event, frozen=True, tag="compaction_undone"):
    """The view is folded as if the `Compacted` event at `target` had not been."""

    target: int


class UnitsDropped(Event, frozen=True, tag="units_dropped"):
    """The hard limit: entries in `dropped` left the view, one user-role line `pointer` stands for them;
    entries in `cut` show `cut[seq]` as their text instead of what was logged. In a response `seq:thinking`,
    `seq:text` and `seq:N` (arguments of its call N, from 0) stand for its parts."""

    dropped: tuple[int, ...]
    pointer: str
    tokens_before: int
    tokens_after: int
    cut: dict[str, str] = {}


class CycleHandedOff(Event, frozen=True, tag="cycle_handed_off"):
    """Every entry before this event left the view; one user-role message `seed` starts the next cycle."""

    cycle: int
    seed: str
    briefing: str
    archive: str
    messages: int
    tokens_before: int
    tokens_after: int
    usage: Usage | None = None
    cost: Money | None = None


class Spent(Event, frozen=True, tag="spent"):
    """A request outside the talk that led to nothing (a summary or a briefing that could not be used)."""

    reason: str
    usage: Usage
    cost: Money | None = None


class Rewound(Event, frozen=True, tag="rewound"):
    """The view continues from the state after event `to`; all between left it (the log keeps it)."""

    to: int
    messages: int
    label: str = ""


class RewindUndone(Event, frozen=True, tag="rewind_undone"):
    """The `Rewound` event at `target` is taken back; the view continues from just before it."""

    target: int


# ---- live only -------------------------------------------------------------------------------------------


class Live(Event, frozen=True, tag_field="type"):
    durable: ClassVar[bool] = False


class TextDelta(Live, frozen=True, tag="text_delta"):
    text: str


class ThinkingDelta(Live, frozen=True, tag="thinking_delta"):
    text: str


class ToolCallDelta(Live, frozen=True, tag="tool_call_delta"):
    """The model is writing a call: name known, `size` characters of arguments so far."""

    index: int
    name: str
    size: int


class ToolOutput(Live, frozen=True, tag="tool_output"):
    call_id: str
    text: str


class Retrying(Live, frozen=True, tag="retrying"):
    attempt: int
    of: int
    delay_s: float
    reason: str


class Working(Live, frozen=True, tag="working"):
    """A label for what is going on now (`compacting 62 messages`), empty when it is over."""

    label: str


class QueueChanged(Live, frozen=True, tag="queue_changed"):
    """`items` wait for the next turn; `steers` go into the running one before its next request."""

    items: tuple[str, ...]
    steers: tuple[str, ...] = ()


class CheckpointTaken(Live, frozen=True, tag="checkpoint_taken"):
    id: str
    label: str
    automatic: bool = False


class Notice(Live, frozen=True, tag="notice"):
    """Something a reader should know that is not part of the talk."""

    text: str
    level: Literal["info", "warning", "error"] = "info"
    advice: str = ""


DURABLE = (
    SessionStarted | Renamed | HistoryRepaired | UserMessage | Steered | NoteAppended | TurnStarted
    | StepStarted | AssistantMessage | ToolStarted | ToolFinished | ApprovalRequested | ApprovalAnswered
    | TurnEnded | ModeChanged | ModelChanged | EffortChanged | PlanChanged | Pinned | ContextWarning
    | Compacted | CompactionUndone | UnitsDropped | CycleHandedOff | Spent | Rewound | RewindUndone
)  # fmt: skip
LIVE = (
    TextDelta | ThinkingDelta | ToolCallDelta | ToolOutput | Retrying | Working | QueueChanged
    | CheckpointTaken | Notice
)  # fmt: skip


class Record(msgspec.Struct, frozen=True):
    """A durable event at its place in the log. `seq` counts from 1 without gaps; `at` is Unix seconds (UTC)."""

    seq: int
    at: float
    event: DURABLE


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Record)
_event_decoder = msgspec.json.Decoder(DURABLE | LIVE)


def scrubbed(value: Any) -> Any:
    """`value` (an event, or what one holds) with every lone surrogate replaced by U+FFFD."""
    match value:
        case str():
            return scrub(value)
        case tuple():
            return tuple(scrubbed(item) for item in value)
        case dict():
            return {scrubbed(key): scrubbed(item) for key, item in value.items()}
        case msgspec.Struct():
            names = value.__struct_fields__
            return msgspec.structs.replace(value, **{name: scrubbed(getattr(value, name)) for name in names})
    return value


def encode_record(record: Record) -> bytes:
    """One JSON object without a line break. UnicodeEncodeError if it holds a lone surrogate (see `scrubbed`)."""
    return _encoder.encode(record)


def decode_record(line: bytes) -> Record:
    """Raises msgspec.DecodeError or msgspec.ValidationError on a torn or foreign line."""
    return _decoder.decode(line)


def encode_event(event: Event) -> bytes:
    """One JSON object; lone surrogates come out as U+FFFD."""
    try:
        return _encoder.encode(event)
    except UnicodeEncodeError:
        return _encoder.encode(scrubbed(event))


def decode_event(data: bytes) -> Event:
    event: Event = _event_decoder.decode(data)
    return event
