"""The hard switch to a fresh context: a briefing is written, everything is archived, a seed starts anew.

Invariant: no swap without a valid briefing and a complete archive on disk; until the returned event is logged,
nothing about the running cycle has changed.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Literal

from deeptide.context.asking import (
    Ask,
    Bill,
    Complete,
    Skipped,
    Texts,
    cut_at_sentence,
    is_placeholder,
    room_for,
    unusable,
)
from deeptide.context.assemble import Fold
from deeptide.context.compaction import narrative_of
from deeptide.context.cycle_state import cycle_state, work, working_set
from deeptide.context.entries import SYNTHETIC
from deeptide.context.ledger import Ledger, build, one_line
from deeptide.context.ledger_text import cap, render
from deeptide.context.window import ESTIMATE_ERROR, Window, raised
from deeptide.model.tokens import estimate, estimate_message, estimate_schema
from deeptide.protocol.errors import WorkspaceError
from deeptide.protocol.events import CycleHandedOff
from deeptide.protocol.messages import system, user
from deeptide.protocol.plan import Plan
from deeptide.recall.archive import write

__all__ = ["BRIEFING_CAP", "briefing_in", "detached", "hand_off"]

MAX_TOKENS = 4_096
TEMPERATURE = 0.2
BRIEFING_CAP = 3_000
NO_SUMMARY = "There is no prior summary: nothing of this cycle was compacted before."
Mode = Literal["detached", "inline"]

_OPEN, _CLOSE = "<carry_forward>", "</carry_forward>"
_BLOCK = re.compile(rf"^[ \t]*{_OPEN}[ \t]*$(.*?)^[ \t]*{_CLOSE}[ \t]*$", re.DOTALL | re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})", re.MULTILINE)
_REQUEST = """\
Write the briefing for the next cycle from what is below. Cover, in concrete prose:
1. Decisions made: the choice and the constraint that made it right.
2. Constraints discovered.
3. Hypotheses being tested, and what would change the mind.
4. Approaches that failed, with the specific reason.
5. Open questions for the user.
Leave out output of tools, contents of files, a step-by-step account, and pleasantries."""


async def hand_off(
    fold: Fold,
    *,
    complete: Complete,
    texts: Texts,
    archive_dir: Path,
    workspace: Path | None = None,
    model: str = "",
    pending: str = "",
    mode: Mode = "detached",
) -> CycleHandedOff | Skipped:
    """The event to log, or why this cycle goes on. `model` writes a detached briefing (empty: the session's
    own); `pending` are words of the user that the next cycle must answer.

    One stricter retry, then the other mode, then `Skipped`.
    """
    leaving = tuple(entry for entry in fold.entries if entry.kind not in SYNTHETIC)
    if not leaving:
        return Skipped("nothing was said in this cycle yet.")
    if fold.open_calls():
        return Skipped("a tool is still running; a cycle ends only between turns.")
    place = workspace or Path(fold.started.workspace if fold.started else ".")
    ledger = build(fold, leaving)
    bill, reason = Bill(), ""
    modes: tuple[Mode, ...] = ("detached", "inline") if mode == "detached" else ("inline", "detached")
    for way in modes:
        ask = detached(fold, texts, ledger, place, model) if way == "detached" else _inline(fold, texts)
        briefing, reason = await _brief(ask, fold.window, complete, texts, bill, inline=way == "inline")
        if briefing:
            break
    else:
        return Skipped(f"no usable briefing was written: {reason}.", bill.usage, bill.cost)
    said = fold.cycle_entries()
    try:
        archive = await asyncio.to_thread(
            write,
            archive_dir,
            session=fold.started.session if fold.started else "",
            model=fold.model,
            started=fold.cycle_started,
            ended=fold.records[-1].at,
            messages=tuple(entry.message for entry in said),
            briefing=briefing,
        )
    except WorkspaceError as error:
        return Skipped(
            f"the archive could not be written: {error} {error.advice}".strip(), bill.usage, bill.cost
        )
    seed = seed_text(fold, ledger, place, briefing, archive.cycle, pending)
    return CycleHandedOff(
        cycle=archive.cycle,
        seed=seed,
        briefing=briefing,
        archive=archive.path.name,
        messages=len(said),
        tokens_before=fold.used(),
        tokens_after=fold.scaled(fold.prefix_tokens + estimate_message(user(seed))),
        usage=bill.usage,
        cost=bill.cost,
    )


# ---- the question --------------------------------------------------------------------------------------


def detached(fold: Fold, texts: Texts, ledger: Ledger, workspace: Path, model: str = "") -> Ask:
    """Exactly two messages, no tools, thinking off: a writer that sees the facts kept by code."""
    narrative = narrative_of(fold.last_compaction)
    capped = cap(ledger, fold.window, Plan(), ())
    sections = (
        ("Briefing Request", _REQUEST),
        ("Cycle State (Auto-Preserved)", cycle_state(fold, workspace)),
        ("Work", f"{work(fold)}{_latest(fold)}"),
        ("Repo Working Set", working_set(ledger, workspace)),
        ("Ledger", render(capped, Plan(), (), recall=False) or "(empty)"),
        ("Prior Summary", narrative or NO_SUMMARY),
    )
    text = "\n\n".join(f"## {title}\n{body}" for title, body in sections)
    messages = (system(texts.text("cycle_handoff_briefing")), user(text))
    return Ask(messages, (), MAX_TOKENS, TEMPERATURE, "off", model)


def _latest(fold: Fold) -> str:
    """The last things the agent said, newest last: what the ledger, which holds no answers, cannot tell."""
    budget, lines = min(2_000, fold.window.usable // 10), list[str]()
    for entry in reversed(fold.entries):
        text = entry.message.text.strip() if entry.kind == "assistant" else ""
        if not text:
            continue
        line = f"- {one_line(text, 1_200)}"
        budget -= estimate(line)
        if budget < 0 and lines:
            break
        lines.append(line)
        if len(lines) == 6:
            break
    return "\n\nLatest words of the agent:\n" + "\n".join(reversed(lines)) if lines else ""


def _inline(fold: Fold, texts: Texts) -> Ask:
    """The live conversation with the instruction last: read from the cache by a writer that saw everything."""
    instruction = user(texts.text("cycle_handoff_briefing"))
    return Ask((*fold.messages(), instruction), fold.tools, MAX_TOKENS, None, fold.effort)


async def _brief(
    ask: Ask, window: Window, complete: Complete, texts: Texts, bill: Bill, *, inline: bool
) -> tuple[str, str]:
    """(briefing, reason): the text inside the block, or why there is none."""
    reason = ""
    for retry in (False, True):
        messages = ask.messages
        if retry:
            last = messages[-1].text + "\n\n" + texts.text("cycle_handoff_retry")
            messages = (*messages[:-1], user(last))
        prompt = sum(map(estimate_message, messages)) + sum(map(estimate_schema, ask.tools))
        allowed = room_for(
            window, raised(prompt, ESTIMATE_ERROR), 4 * MAX_TOKENS if inline else ask.max_tokens
        )
        if not allowed:
            return "", "there is no room left in the window for a briefing"
        answer = await complete(Ask(messages, ask.tools, allowed, ask.temperature, ask.effort, ask.model))
        bill.add(answer)
        reason = unusable(answer)
        if not reason:
            briefing, reason = briefing_in(answer.text)
            if briefing:
                marker = "[the rest of this briefing was cut]"
                return cut_at_sentence(briefing, BRIEFING_CAP, estimate, marker), ""
        if answer.error:
            break
    return "", reason


def briefing_in(text: str) -> tuple[str, str]:
    """(what stands inside the one block, "") or ("", why it cannot be used). Fences inside are fine."""
    opened, closed = text.count(_OPEN), text.count(_CLOSE)
    if not opened:
        return "", f"there was no {_OPEN} block"
    if not closed:
        return "", f"the {_OPEN} block was not closed"
    if opened > 1 or closed > 1:
        return "", f"there was more than one {_OPEN} tag"
    found = _BLOCK.search(text)
    if found is None:
        return "", "the tags did not stand on lines of their own"
    if len(_FENCE.findall(text[: found.start()])) % 2:
        return "", "the block was inside a code fence"
    inside = found[1].strip()
    if is_placeholder(inside):
        return "", "the block was empty or a placeholder"
    return inside, ""


# ---- the next cycle ------------------------------------------------------------------------------------


def seed_text(
    fold: Fold, ledger: Ledger, workspace: Path, briefing: str, cycle: int, pending: str = ""
) -> str:
    """The one user message the next cycle starts from: state and briefing, and what still waits for an answer."""
    parts = [
        f"[cycle-handoff] Cycle {cycle} has ended; this is cycle {cycle + 1}. Everything said before is archived:"
        f" `recall_archive` searches it, `read_archive` shows one message whole. Recall sparingly.",
        f"## Cycle State (Auto-Preserved)\n{cycle_state(fold, workspace)}",
        f"## Work\n{work(fold)}",
        f"## Repo Working Set\n{working_set(ledger, workspace)}",
        f"## Briefing\n{_OPEN}\n{briefing}\n{_CLOSE}",
    ]
    if pending:
        parts.append(f"## Message of the user, still to be answered\n{pending}")
    return "\n\n".join(parts)
