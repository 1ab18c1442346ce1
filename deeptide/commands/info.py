"""What is going on, and whether all is well.

Invariant: changes nothing, sends nothing, and never shows a key.
"""

from __future__ import annotations

import asyncio
import platform
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from deeptide.commands.command import Command, CommandContext
from deeptide.commands.figures import clock, many, table
from deeptide.commands.results import Open, Result, Text
from deeptide.config.auth import find_key
from deeptide.config.load import load
from deeptide.protocol.errors import DeepTideError


def help_command(named: Callable[[str], Command]) -> Command:
    """`named` finds a command or raises UsageError."""

    async def show_help(context: CommandContext, argument: str) -> Result:
        name = argument.lstrip("/")
        return Open("help", named(name).name if name else "")

    return Command("help", "[command]", "Show all keys and commands, or all about one", show_help, ("?",))


async def login(context: CommandContext, argument: str) -> Result:
    return Open("login")


async def status(context: CommandContext, argument: str) -> Result:
    session, fold, reading = context.session, context.session.fold, context.session.reading()
    started = session.records[0].at if session.records else 0.0
    costs = " + ".join(str(each) for each in fold.costs.values()) or "nothing yet"
    rows = [
        ("session", f"`{session.id}` {session.title}".rstrip()),
        ("started", clock(started)),
        ("workspace", context.workspace),
        ("model", f"{fold.model}, effort {fold.effort}"),
        ("mode", fold.mode),
        ("context", f"{reading.percent:.0f} %, {reading.used:,} of {reading.usable:,} tokens"),
        ("cycle", str(fold.cycle)),
        ("turns", str(fold.turns)),
        ("spent", costs),
        ("now", "working" if session.busy else "idle"),
        ("waiting", many(len(session.queue), "message")),
        ("log", str(session.path)),
        ("version", f"deeptide {context.version}"),
    ]
    return Text(table(("", ""), rows, left=2), "Status")


async def doctor(context: CommandContext, argument: str) -> Result:
    findings = await asyncio.to_thread(lambda: list(examine(context)))
    rows = [(mark, subject, text) for mark, subject, text in findings]
    wrong = sum(mark == "WRONG" for mark, _, _ in findings)
    head = "All is well." if not wrong else f"{many(wrong, 'thing')} to look at."
    text = f"{head}\n\n{table(('', '', ''), rows, left=3)}\n\n`deeptide doctor` in a shell checks more."
    return Text(text, "Doctor")


def examine(context: CommandContext) -> Iterator[tuple[str, str, str]]:
    """(ok or WRONG, subject, what was found)."""
    yield "ok", "version", f"deeptide {context.version}, Python {platform.python_version()}"
    paths, workspace, started = context.paths, Path(context.workspace), context.session.fold.started
    trusted = started is not None and started.trusted
    try:
        notices = load(paths, workspace, trusted=trusted).notices
        key = find_key(paths, context.settings.model.base_url)
    except DeepTideError as error:
        yield "WRONG", "settings", f"{error} {error.advice}".strip()
        return
    yield "ok", "settings", str(paths.config_file)
    for notice in notices:
        yield "WRONG", "settings", notice
    yield _key(context, f"{key.source}, for {context.settings.model.base_url}" if key.value else "")
    yield "ok", "folder", f"{workspace}: {'trusted' if trusted else 'not trusted'}"
    yield from _disk(context)
    git = shutil.which("git")
    yield "ok", "git", git or "not found; the agent is told nothing about branches"


def _key(context: CommandContext, source: str) -> tuple[str, str, str]:
    if source:
        return "ok", "key", source
    if context.session.fold.usage.total:
        return "ok", "key", "none, and none is needed: requests are answered"
    return "WRONG", "key", "none; /login stores one"


def _disk(context: CommandContext) -> Iterator[tuple[str, str, str]]:
    root = context.store.root.parent
    mode = stat.S_IMODE(root.stat().st_mode) if root.exists() else 0o700
    private = not mode & 0o077
    yield (
        ("ok" if private else "WRONG"),
        "data",
        f"{root}, mode {mode:o}{'' if private else ': others can read it'}",
    )
    folder = context.session.path
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    records = context.session.records
    whole = [record.seq for record in records] == list(range(1, len(records) + 1))
    found = f"{folder}: {many(len(records), 'event')}, {size / 1_000_000:.1f} MB"
    yield ("ok" if whole else "WRONG"), "log", found if whole else f"{found}; numbers are missing"
    free = shutil.disk_usage(folder if folder.exists() else root).free
    yield ("ok" if free > 200_000_000 else "WRONG"), "disk", f"{free / 1e9:.1f} GB free"
    yield "ok", "sessions", many(len(context.store.list()), "session")


COMMANDS = (
    Command("status", "", "Show the state of this session", status),
    Command("doctor", "", "Check settings, key, folders and log", doctor),
    Command("login", "", "Store an API key", login),
)
