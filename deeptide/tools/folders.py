"""Looking at names: one folder whole, or files anywhere by pattern.

Invariant: the order of an answer depends on names only, and an answer that leaves something out says so.
"""

from __future__ import annotations

import asyncio
import os
from itertools import islice
from pathlib import Path

from deeptide.permissions.intents import Intent
from deeptide.protocol.errors import ToolError
from deeptide.protocol.text import clean
from deeptide.tools.globs import Matcher
from deeptide.tools.listing import files_below, is_plain, odd_kind
from deeptide.tools.paths import missing, shown, target
from deeptide.tools.tool import Args, Offered, Output, ToolContext, one_line
from deeptide.workspace.ignore import Rules

_ENTRIES = 500
_FILES = 300


def folder(args: Args, ctx: ToolContext) -> Path:
    """The folder named by `path`, the workspace without one. Raises ToolError if it is none."""
    path = target(args.get("path", "."), ctx)
    if path.is_dir():
        return path
    if path.exists():
        kind = odd_kind(os.stat(path).st_mode)
        advice = "Name a folder." if kind else "Use read to see it."
        raise ToolError(f"{shown(path, ctx)} is {kind or 'a file'}, not a folder.", advice)
    raise missing(path, ctx)


class ListFolder(Offered):
    name = "list"

    def __init__(self, description: str) -> None:
        super().__init__(description, {"path": {"type": "string"}}, ())

    def title(self, args: Args) -> str:
        return f"list {one_line(args.get('path', '.'))}"

    def intents(self, args: Args, ctx: ToolContext) -> tuple[Intent, ...]:
        return (Intent("read", str(target(args.get("path", "."), ctx))),)

    async def run(self, args: Args, ctx: ToolContext) -> Output:
        return await asyncio.to_thread(_list, folder(args, ctx), ctx)


def _list(path: Path, ctx: ToolContext) -> Output:
    try:
        with os.scandir(path) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        raise ToolError(f"{shown(path, ctx)} cannot be listed: {error.strerror}.", "Try another.") from error
    rules = Rules.above(path).entering(path)
    rows = [_row(entry, rules) for entry in entries[:_ENTRIES]]
    if len(entries) > _ENTRIES:
        rows.append(f"[{len(entries) - _ENTRIES:,} more entries: use glob to narrow it down]")
    notes = ctx.notes.first_touch(path) if ctx.notes else ""
    return Output(("\n".join(rows) or "(empty folder)") + notes, summary=f"{len(entries):,} entries")


def _row(entry: os.DirEntry[str], rules: Rules) -> str:
    name = clean(entry.name).replace("\n", "␊")
    is_dir = entry.is_dir(follow_symlinks=False)
    mark = "  (ignored by git)" if rules.ignored(entry.path, is_dir) else ""
    if is_dir:
        return f"{name}/{mark}"
    try:
        if entry.is_symlink():
            return f"{name} -> {clean(os.readlink(entry.path))}{mark}"
        info = entry.stat(follow_symlinks=False)
        kind = odd_kind(info.st_mode)
        return f"{name}  ({kind}){mark}" if kind else f"{name}  {info.st_size:,} bytes{mark}"
    except OSError:
        return f"{name}{mark}"


class Glob(Offered):
    name = "glob"

    def __init__(self, description: str) -> None:
        properties = {
            "pattern": {"type": "string"},
            "path": {"type": "string", "description": "Folder to search in"},
        }
        super().__init__(description, properties, ("pattern",))

    def title(self, args: Args) -> str:
        where = f" in {one_line(args['path'])}" if "path" in args else ""
        return f"glob {one_line(args['pattern'])}{where}"

    def intents(self, args: Args, ctx: ToolContext) -> tuple[Intent, ...]:
        return (Intent("read", str(target(args.get("path", "."), ctx))),)

    async def run(self, args: Args, ctx: ToolContext) -> Output:
        matcher = Matcher(args["pattern"])
        root = folder(args, ctx)
        return await asyncio.to_thread(_glob, root, matcher, ctx)


def _glob(root: Path, matcher: Matcher, ctx: ToolContext) -> Output:
    listing = files_below(root, hidden=matcher.hidden, environ=ctx.env)
    matching = (path for path in listing if matcher(path.relative_to(root).as_posix()) and is_plain(path))
    found = list(islice(matching, _FILES + 1))
    rows = [shown(path, ctx) for path in found[:_FILES]]
    if len(found) > _FILES:
        rows.append(f"[more than {_FILES} files: narrow the pattern or give a path]")
    count = "1 file" if len(rows) == 1 else f"{len(rows)} files"
    summary = count if len(found) <= _FILES else f"over {_FILES} files"
    return Output("\n".join(rows) or "No file matches.", summary=summary)
