"""Folding the older part of the view into one summary: a code-built ledger, and a narrative when one can be had.

Invariant: it never fails for want of a model, never parts a pair, and the user's newest words stay as they were
said.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from deeptide.context.asking import (
    Answer,
    Ask,
    Bill,
    Complete,
    Skipped,
    Texts,
    cut_at_sentence,
    room_for,
    unusable,
)
from deeptide.context.assemble import Fold
from deeptide.context.dropping import hard_limit
from deeptide.context.entries import SYNTHETIC, Entry
from deeptide.context.ledger import Ledger, build, dump, load, missing
from deeptide.context.ledger_text import cap, render
from deeptide.model.tokens import estimate, estimate_message
from deeptide.protocol.events import Compacted, Trigger
from deeptide.protocol.messages import user

__all__ = ["Answer", "Ask", "Complete", "Plan", "Skipped", "compact", "hard_limit", "plan"]

KEEP = 6
SOFT = 0.85
MAX_TOKENS = 16_384
NARRATIVE_CAP = 6_000
MARK = "[context-summary]"
NARRATIVE_HEADING = "## Narrative, written by the model"
LEDGER_HEADING = "## Ledger, kept by code"


class Plan(msgspec.Struct, frozen=True):
    """What a compaction would do. `through` as in `Compacted`; `leaving` are the entries that go, `lifted` the
    seqs carried over verbatim, `kept` the entries that stay."""

    through: int
    leaving: tuple[Entry, ...]
    lifted: tuple[int, ...]
    kept: tuple[Entry, ...]


def plan(fold: Fold) -> Plan | Skipped:
    """Keep the newest 6 messages; the boundary is the next assistant message, or else the last one before."""
    entries = fold.entries
    edge = _boundary(entries)
    head = entries[:edge]
    lifted = _lifted(entries, edge)
    leaving = tuple(entry for entry in head if entry.seq not in lifted and entry.kind not in SYNTHETIC)
    if not leaving:
        return Skipped("there is nothing old enough to fold; the newest messages are kept as they are.")
    return Plan(head[-1].anchor, leaving, lifted, entries[edge:])


def _boundary(entries: tuple[Entry, ...]) -> int:
    newest = max(0, len(entries) - KEEP)
    after = (at for at in range(newest, len(entries)) if entries[at].kind == "assistant")
    before = (at for at in range(newest - 1, 0, -1) if entries[at].kind == "assistant")
    return next(after, next(before, 0))


def _lifted(entries: tuple[Entry, ...], edge: int) -> tuple[int, ...]:
    """What of the part before the boundary is carried over: the seed of the cycle, the user's newest message,
    and what they steered last since then."""
    found = [entry.seq for entry in entries[:edge] if entry.kind == "seed"]
    asked = max((at for at, entry in enumerate(entries) if entry.kind == "user"), default=-1)
    steered = max((at for at, entry in enumerate(entries) if entry.kind == "steered"), default=-1)
    found += [entries[at].seq for at in sorted({asked, max(asked, steered)}) if 0 <= at < edge]
    return tuple(found)


async def compact(
    fold: Fold,
    *,
    complete: Complete,
    texts: Texts,
    trigger: Trigger,
    focus: str = "",
    summary: Literal["narrative", "ledger"] = "narrative",
    limit: int | None = None,
) -> Compacted | Skipped:
    """The event to log, or why not. `limit`: skip when the view would not get below this many tokens
    (default for `soft`: 85 % of usable), so that no step compacts again and again.

    With trigger `overflow` or `hard`, or `summary="ledger"`, no model is asked.
    """
    planned = plan(fold)
    if isinstance(planned, Skipped):
        return planned
    old = load(fold.last_compaction)
    ledger = cap(build(fold, planned.leaving), fold.window, fold.plan, fold.pins)
    lost = missing(fold, old, planned.leaving, ledger)
    if lost:
        return Skipped(f"the ledger would have lost {len(lost)} entries ({lost[0]}); nothing was changed.")
    before = fold.used()
    carried = narrative_of(fold.last_compaction)
    bare = _text(fold, planned, ledger, carried)
    if limit is None and trigger == "soft":
        limit = int(fold.window.usable * SOFT)
    after = _tokens_after(fold, planned, bare)
    if after >= before:
        return Skipped(f"it would not make the view smaller ({before:,} → {after:,} tokens).")
    if limit is not None and after >= limit:
        return Skipped(f"it cannot get below the limit ({after:,} of {limit:,} tokens would remain).")
    bill, notice, narrative = Bill(), "", ""
    if summary == "narrative" and trigger not in ("overflow", "hard"):
        room = estimate_gain(fold, planned, _text(fold, planned, ledger, ""))
        narrative, notice = await _narrate(fold, complete, texts, focus, room, bill)
    text = _text(fold, planned, ledger, narrative or carried)
    return Compacted(
        through=planned.through,
        summary=text,
        trigger=trigger,
        folded=len(planned.leaving),
        tokens_before=fold.used(),
        tokens_after=_tokens_after(fold, planned, text),
        lifted=planned.lifted,
        ledger=dump(ledger),
        focus=focus,
        narrative=bool(narrative),
        notice=notice,
        usage=bill.usage,
        cost=bill.cost,
    )


def estimate_gain(fold: Fold, planned: Plan, bare: str) -> int:
    """Tokens that the ledger alone would free: a narrative must be smaller than this."""
    gone = sum(entry.tokens for entry in _removed(fold, planned))
    return gone - estimate_message(user(bare))


def _removed(fold: Fold, planned: Plan) -> list[Entry]:
    stay = {entry.seq for entry in planned.kept} | set(planned.lifted)
    return [e for e in fold.entries if e.anchor <= planned.through and e.seq not in stay]


def _tokens_after(fold: Fold, planned: Plan, text: str) -> int:
    return fold.scaled(fold.estimate - estimate_gain(fold, planned, text))


def _text(fold: Fold, planned: Plan, ledger: Ledger, narrative: str) -> str:
    parts = [
        f"{MARK} {len(planned.leaving)} earlier messages were folded into this summary.",
        f"{LEDGER_HEADING}\n\n{render(ledger, fold.plan, fold.pins)}",
    ]
    if narrative:
        parts.append(f"{NARRATIVE_HEADING}\n\n{narrative}")
    return "\n\n".join(parts)


def narrative_of(event: Compacted | None) -> str:
    """What a model wrote in an earlier summary, or empty."""
    if event is None:
        return ""
    _, heading, text = event.summary.rpartition(f"\n\n{NARRATIVE_HEADING}")
    return text.strip() if heading else ""


async def _narrate(
    fold: Fold, complete: Complete, texts: Texts, focus: str, room: int, bill: Bill
) -> tuple[str, str]:
    """(narrative, notice). Asks on the live prefix, so that the request is read from the cache; once more if
    the answer is unusable; then does without."""
    live = fold.messages()
    instruction = texts.text("compaction", focus=focus)
    cap_at = min(NARRATIVE_CAP, fold.window.usable // 10, room - 1)
    reason = "there was no room left in the window for a narrative"
    for retry in (False, True):
        if retry:
            instruction = f"{instruction}\n\n{texts.text('compaction_retry')}"
        used = fold.at_most() + fold.scaled(estimate(instruction))
        allowed = room_for(fold.window, used, MAX_TOKENS)
        if not allowed or cap_at < 1:
            break
        answer = await complete(
            Ask((*live, user(instruction)), fold.tools, max_tokens=allowed, effort=fold.effort)
        )
        bill.add(answer)
        reason = unusable(answer)
        if not reason and estimate(answer.text) >= room:
            reason = "it was not smaller than what it replaces"
        if not reason:
            marker = "[the rest of this narrative was cut]"
            return cut_at_sentence(answer.text.strip(), cap_at, estimate, marker), ""
        if answer.error:
            break
    return "", f"The summary is the ledger alone: {reason}."
