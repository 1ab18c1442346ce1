"""One-line views of the records that are not talk: what changed, what was shrunk, what was decided.

Invariant: pure; every text that came from outside is cleaned here.
"""

from __future__ import annotations

from deeptide.protocol.approvals import Approval
from deeptide.protocol.events import (
    ApprovalAnswered,
    Compacted,
    ContextWarning,
    CycleHandedOff,
    EffortChanged,
    Event,
    HistoryRepaired,
    ModeChanged,
    ModelChanged,
    NoteAppended,
    Pinned,
    TurnEnded,
    UnitsDropped,
)
from deeptide.protocol.text import clean
from deeptide.transcript.blocks import Block, DividerBlock, NoteBlock, SummaryBlock

_ENDS = {
    "interrupted": ("info", "Interrupted.", "What was done so far is kept; type to go on."),
    "turns": ("warning", "Stopped at the turn limit.", "Type to go on, or raise the limit."),
    "money": ("warning", "Stopped at the money limit.", "Raise the limit to go on; nothing is lost."),
    "repetition": ("warning", "Stopped: the same calls were being repeated.", "Say what to do differently."),
    "denied": ("info", "Stopped because a call was denied.", "Say how to go on."),
    "error": ("error", "The turn failed.", "Type to try again; what was done so far is kept."),
}

_TRIGGERS = {
    "manual": "by you",
    "auto": "by /auto-compact",
    "soft": "automatic",
    "overflow": "the provider said the window is full",
    "hard": "hard limit",
    "cycle": "hand-off",
}


def short(count: int) -> str:
    """A token count for people: 812, 8.4k, 84k, 1.2M."""
    if count < 1_000:
        return str(count)
    if count < 1_000_000:
        return f"{count / 1_000:.1f}k" if count < 10_000 else f"{count // 1_000}k"
    return f"{count / 1_000_000:.1f}M"


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def note_of(event: Event, seq: int) -> Block | None:
    """The block that stands for a record outside the talk, or None if the reader need not see it."""
    match event:
        case NoteAppended():
            level = "shell" if event.kind == "shell" else "model"
            return NoteBlock(f"n{seq}", level, clean(event.text), label=clean(event.kind))  # type: ignore[arg-type]
        case HistoryRepaired():
            return NoteBlock(f"n{seq}", "warning", clean(event.detail))
        case ContextWarning():
            return _warning(event, seq)
        case ModeChanged():
            return NoteBlock(f"n{seq}", "info", f"Mode: {event.mode}")
        case ModelChanged():
            return NoteBlock(f"n{seq}", "info", f"Model: {clean(event.model)}")
        case EffortChanged():
            return NoteBlock(f"n{seq}", "info", f"Effort: {clean(event.effort)}")
        case Pinned():
            return NoteBlock(f"n{seq}", "info", f"Pinned: {clean(event.text)}")
        case Compacted() | CycleHandedOff() | UnitsDropped():
            return _shrunk(event, seq)
        case _:
            return None


def _warning(event: ContextWarning, seq: int) -> NoteBlock:
    text = f"Context {event.percent:.0f} % full: {short(event.used)} of {short(event.usable)} tokens."
    advice = "/compact shortens it; /cycle now starts afresh with a briefing." if event.tier >= 80 else ""
    return NoteBlock(f"n{seq}", "error" if event.tier >= 95 else "warning", text, advice)


def _shrunk(event: Compacted | CycleHandedOff | UnitsDropped, seq: int) -> Block:
    sizes = f"{short(event.tokens_before)} → {short(event.tokens_after)} tokens"
    match event:
        case Compacted():
            parts = [
                counted(event.folded, "entry").replace("entrys", "entries"),
                sizes,
                _TRIGGERS[event.trigger],
            ]
            if event.cost is not None:
                parts.append(str(event.cost))
            body = clean(event.summary)
            if event.notice:
                body = f"{clean(event.notice)}\n\n{body}"
            return SummaryBlock(f"s{seq}", "Compacted", " · ".join(parts), body)
        case CycleHandedOff():
            parts = [f"{counted(event.messages, 'message')} archived", sizes]
            if event.cost is not None:
                parts.append(str(event.cost))
            return SummaryBlock(
                f"s{seq}", f"Cycle {event.cycle} handed off", " · ".join(parts), clean(event.briefing)
            )
        case UnitsDropped():
            left = f"{len(event.dropped)} old entries left the view"
            cut = f", {len(event.cut)} cut" if event.cut else ""
            return DividerBlock(f"d{seq}", "Hard limit", f"{left}{cut} · {sizes}")


def end_of(event: TurnEnded, seq: int) -> NoteBlock | None:
    """What the reader must know about a turn that did not end by itself."""
    if event.reason == "done" and not event.error:
        return None
    level, text, advice = _ENDS.get(event.reason, _ENDS["error"])
    return NoteBlock(f"e{seq}", level, clean(event.error) or text, clean(event.advice) or advice)  # type: ignore[arg-type]


def trace_of(approval: Approval | None, answer: ApprovalAnswered) -> str:
    """One line on a decision: `approved once · needs approval: writes outside`, `denied: not now`."""
    decision = answer.decision
    text = clean(decision.text).strip().replace("\n", " ")
    if approval is not None and approval.kind == "question" and decision.choice != "deny":
        return f"answered: {text}"
    if decision.choice == "deny":
        said = f"denied: {text}" if text else "denied"
    else:
        said = {"once": "approved once", "session": "approved for this session", "always": "always approved"}[
            decision.choice
        ]
    why = clean(approval.reason) if approval is not None else ""
    rule = clean(answer.rule) or (clean(approval.rule) if approval is not None else "")
    return " · ".join(part for part in (said, f"rule {rule}" if rule else "", why) if part)
