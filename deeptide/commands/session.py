"""Starting, finding, naming and keeping sessions.

Invariant: nothing here deletes or overwrites anything without being asked again.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec

from deeptide.commands.command import Command, CommandContext, confirmed, needed
from deeptide.commands.results import Confirm, Copy, Open, Quit, Result, Switch, Text
from deeptide.protocol.errors import UsageError
from deeptide.protocol.events import AssistantMessage, encode_record
from deeptide.protocol.text import clean
from deeptide.transcript.build import Transcript
from deeptide.transcript.export import markdown
from deeptide.workspace.files import atomic_write

ENDINGS = {"markdown": ".md", "json": ".json"}


async def new(context: CommandContext, argument: str) -> Result:
    return Switch("new")


async def sessions(context: CommandContext, argument: str) -> Result:
    return Open("sessions")


async def resume(context: CommandContext, argument: str) -> Result:
    if not argument:
        return Open("sessions")
    info = await asyncio.to_thread(context.store.find, argument, context.workspace)
    if info.id == context.session.id:
        return Text("That is this session.")
    return Switch("resume", info.id)


async def rename(context: CommandContext, argument: str) -> Result:
    context.session.rename(needed(argument, "a title"))
    return Text(f"This session is now called {context.session.title}.")


async def export(context: CommandContext, argument: str) -> Result:
    argument, overwrite = confirmed(argument)
    form, target = _form_and_path(context, argument)
    if target.is_dir():
        raise UsageError(f"{target} is a folder.", "Name a file in it.")
    if target.exists() and not overwrite:
        return Confirm(f"{target} exists. Write over it?", f"/export {form} {target} --yes")
    await asyncio.to_thread(atomic_write, target, _exported(context, form))
    return Text(f"Written to {target}.")


def _form_and_path(context: CommandContext, argument: str) -> tuple[str, Path]:
    """`markdown x`, `json`, `notes.json`, nothing: the form and the file meant."""
    head, _, rest = argument.partition(" ")
    form, name = (head.lower(), rest.strip()) if head.lower() in (*ENDINGS, "md") else ("", argument)
    if not form:
        form = "json" if name.lower().endswith(".json") else "markdown"
    form = "markdown" if form == "md" else form
    folder = Path(context.workspace)
    return form, folder / (
        Path(name).expanduser() if name else f"deeptide-{context.session.id}{ENDINGS[form]}"
    )


def _exported(context: CommandContext, form: str) -> bytes:
    records = context.session.records
    if form == "json":
        rows = [msgspec.Raw(encode_record(record)) for record in records]
        whole = {"session": context.session.id, "title": context.session.title, "records": rows}
        return msgspec.json.format(msgspec.json.encode(whole), indent=1) + b"\n"
    transcript = Transcript()
    for record in records:
        transcript.apply(record)
    title = context.session.title or f"Session {context.session.id}"
    return f"# {title}\n\n{markdown(transcript.blocks)}".encode()


async def copy(context: CommandContext, argument: str) -> Result:
    for record in reversed(context.session.records):
        if isinstance(record.event, AssistantMessage) and record.event.message.text.strip():
            return Copy(clean(record.event.message.text), "the last answer")
    raise UsageError("There is no answer to copy yet.", "Say something first.")


async def leave(context: CommandContext, argument: str) -> Result:
    return Quit()


COMMANDS = (
    Command("new", "", "Start a fresh session; this one stays in /sessions", new, ("clear",)),
    Command("sessions", "", "Find and open a stored session", sessions),
    Command(
        "resume", "[id]", "Open a stored session", resume,
        detail="`id` may be the start of an id, a title, or `latest`. Without it the list opens.",
    ),
    Command("rename", "<title>", "Give this session a title", rename),
    Command(
        "export", "[markdown|json] [path]", "Write this session to a file", export,
        detail="Without a path, `deeptide-ID.md` (or `.json`) in the workspace. JSON holds the whole log.",
    ),
    Command("copy", "", "Copy the last answer to the clipboard", copy),
    Command("quit", "", "Leave; the session is saved", leave, ("exit",)),
)  # fmt: skip
