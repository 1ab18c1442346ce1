"""How the agent works now: mode, model, effort, what waits.

Invariant: yolo is only ever set after a question.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import get_args

from deeptide.commands.command import YES, Command, CommandContext, confirmed, needed
from deeptide.commands.figures import many, short
from deeptide.commands.prices import cold_price
from deeptide.commands.results import Confirm, Nothing, Open, Result, Text
from deeptide.protocol.approvals import MODES, Mode
from deeptide.protocol.errors import UsageError
from deeptide.protocol.events import ApprovalAnswered

MEANING: dict[Mode, str] = {
    "plan": "the agent looks and thinks; whatever changes something is refused",
    "ask": "edits and commands are put to you first",
    "auto-edit": "edits in the workspace run at once; other commands are put to you",
    "yolo": "everything runs without a question, except what destroys",
}
EFFORTS = {
    "off": "it answers without thinking first",
    "low": "it thinks briefly before it answers",
    "high": "it thinks before it answers",
    "max": "it thinks as long as it can before it answers, which takes the most time and money",
}


async def mode(context: CommandContext, argument: str) -> Result:
    argument, yes = confirmed(argument.lower())
    now = context.session.fold.mode
    if not argument:
        lines = (f"- {'**' + one + '** (now)' if one == now else one}: {MEANING[one]}" for one in MODES)
        return Text("\n".join(lines), "Modes")
    wanted: Mode | None = next((one for one in get_args(Mode) if one == argument), None)
    if wanted is None:
        raise UsageError(f"There is no mode {argument!r}.", f"Take one of {', '.join(MODES)}.")
    if wanted == "yolo" and now != "yolo" and not yes:
        question = "Yolo: the agent edits files and runs commands without asking you. Are you sure?"
        return Confirm(question, f"/mode yolo {YES}")
    context.session.set_mode(wanted)
    # The log's own remark names the mode; this says what it means.
    return Text(_meaning(wanted, MEANING[wanted], wanted == now))


async def model(context: CommandContext, argument: str) -> Result:
    name, yes = confirmed(argument)
    if not name:
        return Open("model")
    known = {one.lower(): one for one in context.catalog.names}
    if name.lower() not in known and not yes:
        context.catalog.resolve(name)
        near = get_close_matches(name.lower(), known, 1, 0.7)
        nearest = f"the nearest is {known[near[0]]}" if near else "/model lists what is"
        question = f"{name} is not in the catalogue; {nearest}. Take {name} all the same?"
        return Confirm(question, f"/model {name} {YES}")
    before = context.session.fold.model
    said = context.session.set_model(name)
    return Text(said if context.session.fold.model == before else f"{said} {cold_price(context)}")


async def effort(context: CommandContext, argument: str) -> Result:
    wanted = argument.lower()
    if not wanted:
        return Open("effort")
    if wanted in EFFORTS and wanted not in context.spec.efforts:
        allowed = ", ".join(context.spec.efforts)
        raise UsageError(f"{context.spec.id} has no effort {wanted}.", f"It has {allowed}.")
    same = wanted == context.session.fold.effort
    context.session.set_effort(wanted)
    # The log's own remark names the effort; this says what it means.
    return Text(_meaning(wanted, EFFORTS[wanted], same))


def _meaning(name: str, meaning: str, same: bool) -> str:
    return f"It is {name} already: {meaning}." if same else f"{meaning[0].upper()}{meaning[1:]}."


async def plan(context: CommandContext, argument: str) -> Result:
    shown = context.session.fold.plan
    if not shown.items:
        return Text("The agent keeps no plan now. For the mode in which it only plans: /mode plan.")
    done = sum(item.status == "completed" for item in shown.items)
    return Text(f"{done} of {len(shown.items)} done\n\n```\n{shown.render()}\n```", "Plan")


async def queue(context: CommandContext, argument: str) -> Result:
    session = context.session
    match argument.lower():
        case "":
            if not session.queue:
                return Text(
                    "Nothing waits. What you send while the agent works is queued; /steer speaks now."
                )
            rows = "\n".join(f"{place}. {short(text, 100)}" for place, text in enumerate(session.queue, 1))
            return Text(rows, "Queue")
        case "drop":
            text = session.unqueue()
            return Text(f"Taken back: {short(text)}" if text else "Nothing waits.")
        case "clear":
            number = 0
            while session.unqueue() is not None:
                number += 1
            return Text(f"{many(number, 'message')} taken back." if number else "Nothing waits.")
    raise UsageError(f"/queue does not know {argument!r}.")


async def steer(context: CommandContext, argument: str) -> Result:
    context.session.steer(needed(argument, "what to tell the agent"))
    return Nothing()


async def permissions(context: CommandContext, argument: str) -> Result:
    rules = context.settings.permissions
    now = context.session.fold.mode
    given = dict.fromkeys(
        record.event.rule
        for record in context.session.records
        if isinstance(record.event, ApprovalAnswered) and record.event.rule
    )
    parts = [f"Mode **{now}**: {MEANING[now]}. Deny beats ask, ask beats allow."]
    for name, listed in (("Deny", rules.deny), ("Ask", rules.ask), ("Allow", rules.allow)):
        parts.append(_rules(f"{name}, from the settings", listed))
    parts.append(_rules("Allowed by your answers in this session", tuple(given)))
    return Text("\n\n".join(parts), "Permissions")


def _rules(name: str, listed: tuple[str, ...]) -> str:
    rows = "\n".join(f"- `{rule}`" for rule in listed)
    return f"**{name}**\n\n{rows or '- none'}"


COMMANDS = (
    Command(
        "mode", "[plan|ask|auto-edit|yolo]", "Show or set what the agent may do unasked", mode,
        detail="\n".join(f"- `{name}`: {text}" for name, text in MEANING.items()),
    ),
    Command(
        "model", "[name]", "Choose the model", model,
        detail="Without a name a list opens. A switch loses the cached prefix.",
    ),
    Command(
        "effort", "[off|low|high|max]", "Choose how much it thinks", effort,
        detail="Without a word a list opens (←→ in it).\n\n"
        + "\n".join(f"- `{name}`: {text}" for name, text in EFFORTS.items()),
    ),
    Command("plan", "", "Show the agent's plan", plan),
    Command(
        "queue", "[drop|clear]", "Show what waits to be said", queue,
        detail="`drop` takes the last message back, `clear` all of them.",
    ),
    Command("steer", "<text>", "Say something into the running turn", steer),
    Command("permissions", "", "Show the rules in force", permissions),
)  # fmt: skip
