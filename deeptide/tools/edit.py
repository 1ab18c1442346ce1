"""Changing parts of a file that the model has read, by exact search and replace.

Invariant: bytes outside the replaced places stay as they are, whatever the encoding and the line endings; of
several edits all are made or none.
"""

from __future__ import annotations

import asyncio

from deeptide.permissions.intents import Intent
from deeptide.protocol.errors import ToolError
from deeptide.protocol.text import scrub
from deeptide.tools import diff
from deeptide.tools.change import Change, carry_out, changed, look
from deeptide.tools.paths import shown, target
from deeptide.tools.places import Replacer
from deeptide.tools.reads import stamp
from deeptide.tools.tool import Args, Offered, Output, Preview, ToolContext, one_line
from deeptide.workspace.files import encode


class Edit(Offered):
    name = "edit"
    read_only = False

    def __init__(self, description: str) -> None:
        edit = {
            "type": "object",
            "properties": {
                "old": {"type": "string"},
                "new": {"type": "string"},
                "all": {"type": "boolean"},
            },
            "required": ("old", "new"),
        }
        properties = {"path": {"type": "string"}, "edits": {"type": "array", "items": edit}}
        super().__init__(description, properties, ("path", "edits"))

    def title(self, args: Args) -> str:
        return f"edit {one_line(args['path'])}"

    def intents(self, args: Args, ctx: ToolContext) -> tuple[Intent, ...]:
        return (Intent("write", str(target(args["path"], ctx))),)

    async def preview(self, args: Args, ctx: ToolContext) -> Preview:
        change, _ = await asyncio.to_thread(_change, args, ctx)
        ctx.promised[change.seen.path] = change.seen.hash
        return Preview(change.diff, "diff")

    async def run(self, args: Args, ctx: ToolContext) -> Output:
        return await asyncio.to_thread(_run, args, ctx)


def _change(args: Args, ctx: ToolContext) -> tuple[Change, list[str]]:
    """The change, and what was not exact about the matches."""
    edits = args["edits"]
    if not edits:
        raise ToolError("There are no edits.", "Give at least one, with old and new.")
    seen = look(target(args["path"], ctx), ctx, must_exist=True)
    replacer = Replacer(seen.decoded)
    for number, edit in enumerate(edits, 1):
        which = f"Edit {number} of {len(edits)}" if len(edits) > 1 else "The edit"
        replacer.apply(which, edit["old"], scrub(edit["new"]), everywhere=edit.get("all", False))
    text = replacer.text
    if text == seen.decoded.text:
        raise ToolError("The edits change nothing in the end.", "Check what you want to change.")
    return changed(seen, text, encode(text, seen.decoded), ctx), replacer.remarks


def _run(args: Args, ctx: ToolContext) -> Output:
    change, remarks = _change(args, ctx)
    data_hash = carry_out(change, ctx)
    counts = diff.count(change.diff)
    notes = ctx.notes.first_touch(change.seen.path) if ctx.notes else ""
    head = stamp(shown(change.seen.path, ctx), f"edited {counts}", data_hash)
    return Output("\n".join([head, *remarks]) + notes, summary=counts, diff=change.diff)
