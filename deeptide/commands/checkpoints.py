"""Places to come back to, and coming back.

Invariant: the grammar of labels and verbs is the session's (`parse_verb`); nothing is dropped by a label.
"""

from __future__ import annotations

from deeptide.commands.command import YES, Command, CommandContext
from deeptide.commands.figures import clock, many, table
from deeptide.commands.prices import rewritten
from deeptide.commands.results import Confirm, Open, Result, Text
from deeptide.session.checkpoints import Checkpoint, parse_verb

DETAIL = """\
- `/checkpoint` saves one without a label, `/checkpoint LABEL` one with it (one line, at most 64 characters)
- `/checkpoint save LABEL` does the same for a label that would be read as a verb
- `/checkpoint list`, `/checkpoint drop SELECTOR`, `/checkpoint clear`

`list`, `drop`, `clear` and `help` are verbs only when they are the whole argument or are followed by what they
need; anything else is a label. The newest 20 are kept, and 10 automatic ones.

It keeps a place in the conversation, not the files."""

FILES_STAY = """\
Only the conversation goes back: files stay as they are, and what commands did stays done."""

SELECTORS = """\
A selector is, in this order: nothing or `latest`; a `"quoted label"`; a number as listed (1 is the oldest); a
label; an id or at least two characters of its start."""


async def checkpoint(context: CommandContext, argument: str) -> Result:
    held = context.session.checkpoints
    if argument == f"clear {YES}":
        return Text(f"{many(held.clear(), 'checkpoint')} dropped.")
    verb = parse_verb(argument)
    match verb.name:
        case "save":
            return Text(_saved(context.session.checkpoint(verb.argument), len(held.list())))
        case "list":
            return await listed(context, "")
        case "drop":
            gone = held.drop(verb.argument)
            return Text(f"Checkpoint {_name(gone)} dropped; {len(held.list())} left.")
        case "clear":
            number = len(held.list())
            if not number:
                return _none()
            which = "the one checkpoint" if number == 1 else f"all {number} checkpoints"
            return Confirm(f"Drop {which}?", f"/checkpoint clear {YES}")
    return Text(DETAIL, "/checkpoint")


async def listed(context: CommandContext, argument: str) -> Result:
    points = context.session.checkpoints.list()
    if not points:
        return _none()
    rows = [
        (str(place), f"`{point.id}`", point.label + (" (automatic)" if point.automatic else ""),
         clock(point.at), str(point.messages))
        for place, point in enumerate(points, 1)
    ]  # fmt: skip
    return Text(table(("#", "id", "label", "time", "messages"), rows, left=3), "Checkpoints")


async def rewind(context: CommandContext, argument: str) -> Result:
    if not argument and not context.session.busy:
        return Open("rewind") if context.session.checkpoints.list() else _none()
    return await rewritten(context, context.session.rewind(argument))


async def undo(context: CommandContext, argument: str) -> Result:
    return await rewritten(context, context.session.undo())


async def redo(context: CommandContext, argument: str) -> Result:
    return await rewritten(context, context.session.redo())


def _saved(point: Checkpoint, number: int) -> str:
    return f"Checkpoint {_name(point)} saved ({number} in all). /rewind {point.id} comes back to it."


def _name(point: Checkpoint) -> str:
    return f"{point.id} “{point.label}”" if point.label else point.id


def _none() -> Text:
    return Text("There are no checkpoints. /checkpoint [label] takes one; /undo takes the last turn back.")


COMMANDS = (
    Command(
        "checkpoint", "[label|list|drop <sel>|clear|help]", "Save a place to come back to", checkpoint,
        ("snap", "snapshot"), DETAIL,
    ),
    Command("checkpoints", "", "List the checkpoints", listed),
    Command(
        "rewind", "[selector]", "Take the conversation back to a checkpoint (files stay)", rewind,
        detail=f"{FILES_STAY} Esc Esc on an empty line opens the list.\n\n{SELECTORS}",
    ),
    Command(
        "undo", "", "Take the last turn of the conversation back (files stay)", undo,
        detail=f"{FILES_STAY} /redo brings the turn back.",
    ),
    Command("redo", "", "Take the last rewind or undo back", redo),
)  # fmt: skip
