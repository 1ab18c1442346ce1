"""What the model sees: shortening it, keeping lines in it, looking for what left it.

Invariant: every act that breaks the cached prefix says what it did in tokens and what the next request costs.
"""

from __future__ import annotations

import asyncio

from deeptide.commands.command import Command, CommandContext, needed
from deeptide.commands.figures import clock, many, short, table
from deeptide.commands.prices import rewritten
from deeptide.commands.results import Result, Text
from deeptide.config.save import save
from deeptide.context.asking import Skipped
from deeptide.context.assemble import Departed, Entry
from deeptide.context.auto_compact import HELP
from deeptide.context.compaction import Plan, plan
from deeptide.context.ladder import Policy
from deeptide.protocol.errors import ToolError, UsageError
from deeptide.recall.archive import list_cycles
from deeptide.recall.documents import whole_text
from deeptide.recall.search import Document, search

MOST_LISTED = 12


async def compact(context: CommandContext, argument: str) -> Result:
    match argument.lower():
        case "undo":
            return await rewritten(context, context.session.compact_undo())
        case "preview":
            return _preview(context)
    return await rewritten(context, context.session.compact(argument))


def _preview(context: CommandContext) -> Result:
    fold = context.session.fold
    planned = plan(fold)
    if isinstance(planned, Skipped):
        return Text(f"A compaction would do nothing: {planned.reason}")
    gone = fold.scaled(sum(entry.tokens for entry in planned.leaving))
    parts = [
        f"{many(len(planned.leaving), 'message')} of about {gone:,} tokens would be folded into a summary, "
        f"{many(len(planned.kept), 'message')} kept as they are"
        + (f", {many(len(planned.lifted), 'message')} carried over word for word" if planned.lifted else "")
        + f". Now in use: {fold.used():,} tokens.",
        "**Folded**\n\n" + _lines(planned.leaving),
    ]
    if planned.lifted:
        parts.append("**Carried over**\n\n" + _lines(_carried(context, planned)))
    parts.append("**Kept**\n\n" + _lines(planned.kept))
    pins = "\n".join(f"- {text}" for text in fold.pins)
    parts.append("**Pinned**\n\n" + (pins or "nothing; `/pin <text>` keeps a line through every compaction"))
    parts.append("`/compact [focus]` does it, `/compact undo` takes it back.")
    return Text("\n\n".join(parts), "What a compaction would do")


def _carried(context: CommandContext, planned: Plan) -> tuple[Entry, ...]:
    return tuple(entry for entry in context.session.fold.entries if entry.seq in planned.lifted)


def _lines(entries: tuple[Entry, ...]) -> str:
    shown = [
        f"- {entry.kind}, {entry.tokens:,}: {short(whole_text(entry.message))}"
        for entry in entries[:MOST_LISTED]
    ]
    if len(entries) > MOST_LISTED:
        shown.append(f"- and {len(entries) - MOST_LISTED} more")
    return "\n".join(shown)


async def auto_compact(context: CommandContext, argument: str) -> Result:
    reply = context.session.auto.command(argument, policy_of(context))
    if not reply.save:
        return Text(str(reply))
    auto, paths = context.session.auto, context.paths
    for key, value in (("context.auto_compact", auto.on), ("context.auto_compact_at", auto.threshold)):
        await asyncio.to_thread(save, paths, key, value)
    return Text(f"{reply} Saved to {paths.config_file}.")


def policy_of(context: CommandContext) -> Policy:
    """The automatic policy of the settings."""
    chosen = context.settings.context
    return Policy(automatic=chosen.automatic, soft_limit=chosen.soft_limit, evict_at=chosen.evict_at)


async def pin(context: CommandContext, argument: str) -> Result:
    if not argument:
        pins = context.session.fold.pins
        listed = "\n".join(f"- {text}" for text in pins)
        return Text(listed, "Pinned") if pins else Text("Nothing is pinned. /pin <text> keeps a line.")
    context.session.pin(argument)
    number = len(context.session.fold.pins)
    return Text(
        f"Pinned. {'It stays' if number == 1 else f'All {number} pinned lines stay'} in the model's view through "
        "every compaction; /pin lists what is pinned."
    )


# ---- cycles ----------------------------------------------------------------------------------------------


async def cycle(context: CommandContext, argument: str) -> Result:
    if argument.lower() == "now":
        return await rewritten(context, context.session.cycle_now())
    number = needed(argument, "`now` or the number of a cycle").removeprefix("#")
    if not (number.isascii() and number.isdigit()):
        raise UsageError(f"{argument!r} is neither `now` nor a number.")
    listing = await asyncio.to_thread(list_cycles, context.session.path / "cycles")
    for archive in listing:
        if archive.cycle == int(number):
            return Text(archive.briefing, f"Briefing of cycle {archive.cycle}")
    known = ", ".join(str(archive.cycle) for archive in listing)
    advice = f"There are: {known}." if known else "None was handed off yet; /cycle now does it."
    raise UsageError(f"There is no archive of cycle {number}.", advice)


async def cycles(context: CommandContext, argument: str) -> Result:
    listing = await asyncio.to_thread(list_cycles, context.session.path / "cycles")
    notices = "".join(f"\n\n> {notice}" for notice in listing.notices)
    if not len(listing):
        return Text(f"No cycle was handed off yet; this is cycle {context.session.fold.cycle}.{notices}")
    rows = [
        (str(archive.cycle), clock(archive.header.started), clock(archive.header.ended),
         str(archive.header.messages), short(archive.briefing))
        for archive in listing
    ]  # fmt: skip
    heads = ("cycle", "from", "to", "messages", "briefing")
    return Text(f"{table(heads, rows, left=5)}{notices}", "Cycles")


# ---- recall ----------------------------------------------------------------------------------------------


async def recall(context: CommandContext, argument: str) -> Result:
    query = needed(argument, "words to look for")
    gone = context.session.fold.departed
    try:
        found = await asyncio.to_thread(search, [_document(one) for one in gone], query, None, 10)
    except ToolError as error:
        raise UsageError(str(error), error.advice) from error
    if not found.hits:
        return Text(found.note)
    hits = [
        f"- **cycle {hit.cycle}, message {hit.index}** ({hit.role}): {short(hit.excerpt, 240)}"
        for hit in found.hits
    ]
    note = f"\n\n{found.note}" if found.note else ""
    return Text("\n".join(hits) + note, f"Recalled: {short(query, 40)}")


def _document(gone: Departed) -> Document:
    return Document(gone.cycle, gone.index, gone.entry.message.role, whole_text(gone.entry.message), gone.seq)


COMMANDS = (
    Command(
        "compact", "[focus|undo|preview]", "Fold the older talk into a summary", compact, ("compress",),
        "What you write after it is kept above all: `/compact keep the API decisions`. `preview` shows what "
        "would go, `undo` brings the last view back exactly.",
    ),
    Command(
        "auto-compact", "[on|off|N|threshold N|status|reset|help] [--save]", "Compact by itself at a threshold",
        auto_compact, detail=f"```\n{HELP}\n```",
    ),
    Command("pin", "[text]", "Keep a line through every compaction, or list the pinned ones", pin),
    Command(
        "cycle", "<now|N>", "Hand off to a fresh context now, or show a briefing", cycle,
        detail="`now` archives everything said and starts afresh from a briefing.",
    ),
    Command("cycles", "", "List the archived cycles", cycles),
    Command("recall", "<query>", "Search everything that left the view", recall),
)  # fmt: skip
