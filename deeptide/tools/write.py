"""Creating a file, or replacing the whole of one that the model has read.

Invariant: an existing file keeps its encoding, its byte order mark and its line endings.
"""

from __future__ import annotations

import asyncio

from deeptide.permissions.intents import Intent
from deeptide.protocol.text import scrub
from deeptide.tools import diff
from deeptide.tools.change import Change, carry_out, changed, look
from deeptide.tools.paths import shown, target
from deeptide.tools.reads import stamp
from deeptide.tools.tool import Args, Offered, Output, Preview, ToolContext, one_line
from deeptide.workspace.files import encode


class Write(Offered):
    name = "write"
    read_only = False

    def __init__(self, description: str) -> None:
        properties = {"path": {"type": "string"}, "content": {"type": "string"}}
        super().__init__(description, properties, ("path", "content"))

    def title(self, args: Args) -> str:
        return f"write {one_line(args['path'])}"

    def intents(self, args: Args, ctx: ToolContext) -> tuple[Intent, ...]:
        return (Intent("write", str(target(args["path"], ctx))),)

    async def preview(self, args: Args, ctx: ToolContext) -> Preview:
        change = await asyncio.to_thread(_change, args, ctx)
        ctx.promised[change.seen.path] = change.seen.hash
        return Preview(change.diff or "(an empty file)", "diff")

    async def run(self, args: Args, ctx: ToolContext) -> Output:
        return await asyncio.to_thread(_run, args, ctx)


def _change(args: Args, ctx: ToolContext) -> Change:
    seen = look(target(args["path"], ctx), ctx, must_exist=False)
    text = scrub(args["content"])
    uniform = seen.data is not None and not seen.decoded.mixed
    if uniform and seen.decoded.newline != "\n" and "\r" not in text:
        text = text.replace("\n", seen.decoded.newline)
    return changed(seen, text, encode(text, seen.decoded), ctx)


def _run(args: Args, ctx: ToolContext) -> Output:
    change = _change(args, ctx)
    data_hash = carry_out(change, ctx)
    seen = change.seen
    size = diff.count(change.diff) if change.diff else "no lines"
    what = (
        "no change"
        if change.after == seen.data
        else f"{'created' if seen.data is None else 'replaced'} {size}"
    )
    notes = ctx.notes.first_touch(seen.path) if ctx.notes else ""
    return Output(stamp(shown(seen.path, ctx), what, data_hash) + notes, summary=what, diff=change.diff)
