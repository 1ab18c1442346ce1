"""Reading a text file, a page at a time, whatever its encoding.

Invariant: a page never needs the result cap: it ends at a whole line and says where to go on.
"""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

from deeptide.permissions.intents import Intent
from deeptide.protocol.errors import ToolError
from deeptide.tools import lines
from deeptide.tools.kinds import describe
from deeptide.tools.paths import missing, shown, target
from deeptide.tools.reads import stamp
from deeptide.tools.tool import Args, Offered, Output, ToolContext, one_line
from deeptide.workspace.files import MAX_FILE, Decoded, decode, is_binary, read_bytes

PAGE_LINES = 2_000
PAGE_CHARS = 20_000
_SIZE = 64_000_000
"""Bytes of the largest file that can be paged through: a spilled output may be that long."""


class Read(Offered):
    name = "read"

    def __init__(self, description: str) -> None:
        properties = {
            "path": {"type": "string"},
            "offset": {"type": "integer", "minimum": 1, "description": "First line, from 1"},
            "limit": {"type": "integer", "minimum": 1, "description": "Number of lines"},
        }
        super().__init__(description, properties, ("path",))

    def title(self, args: Args) -> str:
        first, limit = args.get("offset", 1), args.get("limit")
        pages = f":{first}-{first + limit - 1}" if limit else (f":{first}-" if first > 1 else "")
        return f"read {one_line(args['path'])}{pages}"

    def intents(self, args: Args, ctx: ToolContext) -> tuple[Intent, ...]:
        return (Intent("read", str(target(args["path"], ctx))),)

    async def run(self, args: Args, ctx: ToolContext) -> Output:
        path = target(args["path"], ctx)
        return await asyncio.to_thread(_read, path, args.get("offset", 1), args.get("limit", PAGE_LINES), ctx)


def _read(path: Path, first: int, limit: int, ctx: ToolContext) -> Output:
    data = load(path, ctx, _SIZE)
    if is_binary(data):
        raise ToolError(
            f"{shown(path, ctx)} is {describe(data)}, {len(data):,} bytes; it cannot be read as text.",
            "If you need to know what it holds, use a program for this kind of file through shell.",
        )
    decoded = decode(data)
    all_lines = lines.split(decoded.text)
    total = len(all_lines)
    if first > max(total, 1):
        raise ToolError(
            f"{shown(path, ctx)} has {total:,} lines; there is no line {first:,}.", "Use a smaller offset."
        )
    page = _page(all_lines[first - 1 : first - 1 + limit], first)
    last = first + len(page) - 1
    data_hash = ctx.reads.record(path, data)
    head = stamp(shown(path, ctx), _what(first, last, total, decoded), data_hash)
    more = f"\n[{total - last:,} more lines: go on with offset {last + 1}]" if last < total else ""
    notes = ctx.notes.first_touch(path) if ctx.notes else ""
    summary = f"{len(page):,} lines" if len(page) != 1 else "1 line"
    return Output("\n".join([head, *page]) + more + notes, summary=summary)


def load(path: Path, ctx: ToolContext, limit: int = MAX_FILE) -> bytes:
    """The bytes of the regular file at `path`. Raises ToolError for a folder and for a missing file, and
    WorkspaceError for anything else that cannot be read."""
    try:
        info = os.stat(path)
    except FileNotFoundError:
        raise missing(path, ctx) from None
    except OSError as error:
        raise ToolError(
            f"{shown(path, ctx)} cannot be read: {error.strerror}.", "Try another path."
        ) from error
    if stat.S_ISDIR(info.st_mode):
        raise ToolError(f"{shown(path, ctx)} is a folder.", "Use list to see what is in it.")
    return read_bytes(path, limit)


def _page(wanted: list[str], first: int) -> list[str]:
    """As many of the numbered lines as fit the page, at least one."""
    page: list[str] = []
    size = 0
    for text in lines.numbered(wanted[:PAGE_LINES], first):
        size += len(text) + 1
        if page and size > PAGE_CHARS:
            break
        page.append(text)
    return page


def _what(first: int, last: int, total: int, decoded: Decoded) -> str:
    span = f"lines {first:,}-{last:,} of {total:,}" if total else "empty"
    odd = [] if decoded.encoding == "utf-8" else [decoded.encoding]
    odd += ["BOM"] if decoded.bom else []
    odd += ["mixed line endings"] if decoded.mixed else []
    odd += [{"\r\n": "CRLF", "\r": "CR"}[decoded.newline]] if decoded.newline != "\n" else []
    odd += ["no newline at end"] if decoded.text and decoded.text[-1] not in "\r\n" else []
    return " · ".join([span, *odd])
