"""`/context`: what fills the window, and what happened to it.

Invariant: the percent and the sum are the session's one meter; the parts are estimates brought to its scale.
"""

from __future__ import annotations

from deeptide.commands.command import Command, CommandContext
from deeptide.commands.context import policy_of
from deeptide.commands.figures import BAR, clock, many, percent, shares, short
from deeptide.commands.results import Result, Text
from deeptide.context.assemble import Fold
from deeptide.model.tokens import estimate, estimate_message, estimate_schema
from deeptide.protocol.events import (
    Compacted,
    CompactionUndone,
    CycleHandedOff,
    Record,
    RewindUndone,
    Rewound,
    UnitsDropped,
)
from deeptide.protocol.messages import ToolCall, system
from deeptide.recall.documents import whole_text

LABELS = {
    "S": "system prompt",
    "T": "tools",
    "Z": "summaries",
    "U": "your words",
    "N": "notes",
    "A": "answers",
    "K": "thinking",
    "C": "tool calls",
    "R": "tool results",
}
LARGEST = 5


async def picture(context: CommandContext, argument: str) -> Result:
    fold, reading = context.session.fold, context.session.reading()
    window = fold.window
    sizes = parts_of(fold)
    head = (
        f"**{reading.percent:.0f} %** of {reading.usable:,} usable tokens: {reading.used:,} in use"
        f"{', estimated' if reading.estimated else ''} · {fold.model}\n\n"
        f"Window {window.size:,} = {window.usable:,} usable + {window.reserve:,} for the reply + "
        f"{window.safety:,} margin."
    )
    parts = [head, f"```\n{_bar(sizes, reading.used, window.usable)}\n```"]
    if largest := _largest(fold):
        parts.append(f"**Largest**\n\n{largest}")
    if events := _timeline(context.session.records):
        parts.append(f"**What happened to it**\n\n{events}")
    gone = len(fold.departed)
    if gone:
        parts.append(f"{many(gone, 'message')} left the view; `/recall <query>` finds them.")
    parts.append(context.session.auto.status(policy_of(context)))
    return Text("\n\n".join(parts), "Context")


def parts_of(fold: Fold) -> dict[str, int]:
    """Tokens by letter of LABELS, on the meter's scale."""
    sizes = dict.fromkeys(LABELS, 0)
    if fold.started is not None:
        sizes["S"] = estimate_message(system(fold.system))
        sizes["T"] = sum(estimate_schema(schema) for schema in fold.tools)
    letters = {"user": "U", "steered": "U", "note": "N", "tool": "R"}
    for entry in fold.entries:
        if entry.kind != "assistant":
            sizes[letters.get(entry.kind, "Z")] += entry.tokens
            continue
        thinking = estimate(entry.message.thinking)
        words = estimate(entry.message.text)
        sizes["K"] += thinking
        if any(isinstance(part, ToolCall) for part in entry.message.parts):
            sizes["C"] += max(0, entry.tokens - thinking - words)
            sizes["A"] += words
        else:
            sizes["A"] += max(0, entry.tokens - thinking)
    return {letter: fold.scaled(size) if size else 0 for letter, size in sizes.items()}


def _bar(sizes: dict[str, int], used: int, usable: int) -> str:
    whole = max(usable, sum(sizes.values()))
    cells = shares(list(sizes.values()), whole)
    filled = "".join(letter * number for letter, number in zip(sizes, cells, strict=True))
    rows = [f"[{filled.ljust(BAR, '.')}]", ""]
    rows += [
        f"{letter}  {LABELS[letter]:<14}{size:>10,}  {percent(size, usable):>5}"
        for letter, size in sizes.items()
        if size
    ]
    rows.append(f".  {'free':<14}{max(0, usable - used):>10,}  {percent(max(0, usable - used), usable):>5}")
    return "\n".join(rows)


def _largest(fold: Fold) -> str:
    entries = sorted(fold.entries, key=lambda entry: entry.tokens, reverse=True)[:LARGEST]
    return "\n".join(
        f"- {fold.scaled(entry.tokens):,} tokens, {entry.kind}: {short(whole_text(entry.message))}"
        for entry in entries
    )


def _timeline(records: list[Record]) -> str:
    undone = {r.event.target for r in records if isinstance(r.event, CompactionUndone | RewindUndone)}
    lines = []
    for record in records:
        match record.event:
            case Compacted(trigger=trigger, folded=folded, tokens_before=before, tokens_after=after):
                text = (
                    f"compaction ({trigger}): {many(folded, 'message')} folded, {before:,} → {after:,} tokens"
                )
            case CycleHandedOff(cycle=cycle, messages=number, tokens_before=before, tokens_after=after):
                text = f"hand-off of cycle {cycle}: {many(number, 'message')} archived, {before:,} → {after:,} tokens"
            case UnitsDropped(dropped=dropped, tokens_before=before, tokens_after=after):
                text = f"hard limit: {many(len(dropped), 'message')} dropped, {before:,} → {after:,} tokens"
            case Rewound(messages=number, label=label):
                text = f"rewind to {label}: {many(number, 'message')} left the view"
            case _:
                continue
        lines.append(f"- {clock(record.at)} {text}{' (taken back)' if record.seq in undone else ''}")
    return "\n".join(lines[-10:])


COMMANDS = (Command("context", "", "Show what fills the window", picture),)
