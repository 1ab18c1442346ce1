"""Searching file contents with a regular expression.

ripgrep finds the places if it is there, our own worker process if not, or if the pattern needs what only
Python's expressions have; either way the lines shown are read and formatted here.

Invariant: the answer does not depend on which of the two searched, it is in order of paths, and no pattern can
hold the program longer than the time limit; nothing is opened that is no regular file, and a path that is none
is refused by name.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path

from deeptide.permissions.intents import Intent
from deeptide.protocol.errors import ToolError, WorkspaceError
from deeptide.tools import lines
from deeptide.tools.globs import Matcher
from deeptide.tools.listing import is_plain, odd_kind, unending
from deeptide.tools.paths import missing, shown, target
from deeptide.tools.spots import Search, Spot, find_spots
from deeptide.tools.tool import Args, Offered, Output, ToolContext, one_line
from deeptide.workspace.files import decode, is_binary, read_bytes

_LIMIT = 100
_MOST = 1_000
_CONTEXT_MOST = 20
_WIDTH = 300
_SIZE = 10_000_000
_SIZE_ONE = 64_000_000
_PROBE = 65_536


class Grep(Offered):
    name = "grep"

    def __init__(self, description: str) -> None:
        properties = {
            "pattern": {"type": "string"},
            "path": {"type": "string", "description": "Folder or file to search"},
            "glob": {"type": "string", "description": "Only files like *.py or src/**"},
            "ignore_case": {"type": "boolean"},
            "context": {"type": "integer", "minimum": 0, "description": "Lines around each match"},
            "limit": {"type": "integer", "minimum": 1, "description": "Matching lines, default 100"},
        }
        super().__init__(description, properties, ("pattern",))

    def title(self, args: Args) -> str:
        where = f" in {one_line(args['path'])}" if "path" in args else ""
        only = f" ({one_line(args['glob'], 30)})" if "glob" in args else ""
        return f"grep {one_line(args['pattern'])}{where}{only}"

    def intents(self, args: Args, ctx: ToolContext) -> tuple[Intent, ...]:
        return (Intent("read", str(target(args.get("path", "."), ctx))),)

    async def run(self, args: Args, ctx: ToolContext) -> Output:
        root = target(args.get("path", "."), ctx)
        single = await asyncio.to_thread(_checked, root, ctx)
        matcher = Matcher(args["glob"]) if args.get("glob", "").strip() and not single else None
        search = Search(
            root=root,
            pattern=args["pattern"],
            ignore_case=args.get("ignore_case", False),
            hidden=bool(matcher and matcher.hidden),
            glob=args["glob"] if matcher else "",
            size=_SIZE_ONE if single else _SIZE,
            limit=min(args.get("limit", _LIMIT), _MOST),
            own_engine=unending(root),
        )
        spots, ending = await find_spots(search, _Counting(root, matcher, ctx.guarded), ctx.env)
        context = min(args.get("context", 0), _CONTEXT_MOST)
        return await asyncio.to_thread(_answer, spots, context, ending, search.size, ctx)


class _Counting:
    """Which files count: no binary, and in a folder only what matches, is no link and may be read unasked.
    That a secret file would match is not told either: it would tell the secret, question by question."""

    def __init__(self, root: Path, matcher: Matcher | None, guarded: Callable[[str], bool]) -> None:
        self._root = root
        self._matcher = matcher
        self._guarded = guarded

    def __call__(self, path: Path) -> bool:
        if path != self._root:
            if self._matcher and not self._matcher(path.relative_to(self._root).as_posix()):
                return False
            if self._guarded(str(path)) or not is_plain(path):
                return False
        return not is_binary(_start(path))


def _start(path: Path) -> bytes:
    """The first bytes of a regular file; of anything else a NUL, so that it counts as binary. Never waits."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
            return (file.read(_PROBE) or b"") if regular else b"\0"
    except OSError:
        return b"\0"


def _checked(root: Path, ctx: ToolContext) -> bool:
    """Whether `root` is one file to search. Raises ToolError for what cannot or must not be searched."""
    name = shown(root, ctx)
    try:
        info = os.stat(root)
    except OSError as error:
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            raise missing(root, ctx) from None
        raise ToolError(f"{name} cannot be searched: {error.strerror}.", "Try another path.") from error
    if kind := odd_kind(info.st_mode):
        raise ToolError(
            f"{name} is {kind}, not a regular file; it was not opened.",
            "Only files and folders are searched.",
        )
    if stat.S_ISDIR(info.st_mode):
        if unending(root):
            raise ToolError(
                f"{name} is made up by the kernel and holds files without an end; it was not searched.",
                "Name one file in it.",
            )
        return False
    if info.st_size > _SIZE_ONE:
        raise ToolError(
            f"{name} has {info.st_size:,} bytes, more than the {_SIZE_ONE:,} that are searched at once.",
            "Use grep through the shell.",
        )
    if unending(root):
        read_bytes(root, _SIZE_ONE)
    return True


def _answer(spots: list[Spot], context: int, ending: str, size: int, ctx: ToolContext) -> Output:
    blocks = [
        block
        for path, group in groupby(spots, key=lambda spot: spot.path)
        for block in _blocks(path, list(group), context, size, ctx)
    ]
    text = ("\n--\n" if context else "\n").join(blocks) or "No match."
    summary = "1 match" if len(spots) == 1 else f"{len(spots):,} matches"
    return Output(f"{text}\n[{ending}]" if ending else text, summary=summary)


def _blocks(path: Path, spots: list[Spot], context: int, size: int, ctx: ToolContext) -> Iterator[str]:
    """The lines of one file, those that touch joined: `path:12:text` for a match, `path-11-text` around it."""
    try:
        there = lines.split(decode(read_bytes(path, size)).text)
    except WorkspaceError:
        return
    columns = {spot.line: spot.column for spot in spots if spot.line <= len(there)}
    wanted = sorted(
        {n for line in columns for n in range(max(1, line - context), min(len(there), line + context) + 1)}
    )
    name = shown(path, ctx)
    for _, numbers in groupby(enumerate(wanted), key=lambda pair: pair[1] - pair[0]):
        rows = []
        for _, n in numbers:
            mark = ":" if n in columns else "-"
            rows.append(f"{name}{mark}{n}{mark}{_excerpt(there[n - 1], columns.get(n, 1))}")
        yield "\n".join(rows)


def _excerpt(line: str, column: int) -> str:
    """The line, or the part of a long one around the match. `column` counts bytes of UTF-8 from 1."""
    if len(line) <= _WIDTH:
        return lines.show(line)
    at = len(line.encode("utf-8", "replace")[: column - 1].decode("utf-8", "ignore"))
    start = max(0, min(at - _WIDTH // 3, len(line) - _WIDTH))
    cut = line[start : start + _WIDTH]
    left, right = "…" if start else "", "…" if start + _WIDTH < len(line) else ""
    return f"{left}{lines.show(cut)}{right} [line cut: {len(line):,} characters]"
