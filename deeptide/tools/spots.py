"""Where a pattern matches: ripgrep or our worker process, run until there are enough places or no time left.

Invariant: both engines are read by the same code, and neither outlives the call.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import warnings
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from deeptide.protocol.errors import ToolError
from deeptide.tools.grep_worker import Job
from deeptide.tools.listing import ignore_file_waits, rg_options, ripgrep, unending_below
from deeptide.workspace.environment import child_env

TIME_S = 20.0
_PACKAGES = os.fspath(Path(__file__).resolve().parent.parent.parent)
_ROW = re.compile(rb"([^\0]+)\0(\d+):(\d+):[^\n]*\n")
_CHUNK = 65_536


class Search(msgspec.Struct, frozen=True):
    """`root` (real): a folder or one file. `glob`: empty for all files. `size`: bytes of the largest file
    searched. `limit`: matching lines wanted. `own_engine`: not with ripgrep, which waits for a file that has no
    end."""

    root: Path
    pattern: str
    ignore_case: bool
    hidden: bool
    glob: str
    size: int
    limit: int
    own_engine: bool = False


class Spot(msgspec.Struct, frozen=True):
    """One matching line; `line` and `column` (bytes) count from 1."""

    path: Path
    line: int
    column: int


class _Refused(Exception):
    """The engine does not understand the pattern."""


async def find_spots(
    search: Search, counts: Callable[[Path], bool], environ: Mapping[str, str], time_s: float = TIME_S
) -> tuple[list[Spot], str]:
    """The places in files of which `counts` is true, in order of paths, and what kept the answer from being
    whole (empty if nothing did).

    Raises ToolError for a pattern that neither engine understands."""
    if "\n" in search.pattern:
        raise ToolError(
            "The pattern holds a line break, but the search goes line by line.", "Search one line."
        )
    wrong = _python_fault(search.pattern)
    own = search.own_engine or ignore_file_waits(search.root)
    rg = None if own else await asyncio.to_thread(ripgrep, environ)
    if rg:
        command = await asyncio.to_thread(_rg_command, rg, search)
        with suppress(_Refused):
            return await _collect(command, b"", search, counts, child_env(environ), time_s)
    if wrong:
        raise ToolError(
            f"The pattern is not a valid regular expression: {wrong}.", "Correct it or escape it."
        )
    job = Job(
        os.fspath(search.root), search.pattern, search.ignore_case, search.hidden, search.glob, search.size
    )
    command = [sys.executable, "-P", "-m", "deeptide.tools.grep_worker"]
    env = child_env(environ) | {"PYTHONPATH": _PACKAGES}
    return await _collect(command, msgspec.json.encode(job), search, counts, env, time_s)


def _python_fault(pattern: str) -> str:
    """Why Python's `re` would not take the pattern, or would take it for something else; empty if it does."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            re.compile(pattern)
        except (re.error, Warning, OverflowError, RecursionError) as error:
            return str(error)
    return ""


def _rg_command(rg: str, search: Search) -> list[str]:
    """Rows of `path NUL line:column:`; every line longer than a byte is left out of them."""
    options = ["--null", "--with-filename", "--no-heading", "--line-number", "--column", "--max-columns=1"]
    options += ["--text", "--crlf", f"--max-filesize={search.size}", f"--max-count={search.limit + 1}"]
    options += ["--ignore-case"] if search.ignore_case else ["--case-sensitive"]
    if search.root.is_dir():
        options += rg_options(search.root, search.hidden)
        options += [f"--glob=!{place}" for place in unending_below(search.root)]
        if search.glob and "/" not in search.glob:
            options += [f"--type-add=wanted:{search.glob}", "--type=wanted"]
    else:
        options += ["--no-config", "--color=never", "--no-messages"]
    return [rg, *options, "--regexp", search.pattern, "--", os.fspath(search.root)]


async def _collect(
    command: list[str],
    given: bytes,
    search: Search,
    counts: Callable[[Path], bool],
    env: Mapping[str, str],
    time_s: float,
) -> tuple[list[Spot], str]:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=env,
        cwd="/",
    )
    spots: list[Spot] = []
    accept = _OnceAFile(counts)
    try:
        async with asyncio.timeout(time_s):
            await _feed(process, given)
            async for spot in _spots(process):
                if accept(spot.path):
                    spots.append(spot)
                if len(spots) > search.limit:
                    return spots[: search.limit], f"stopped at {search.limit} matches: narrow the search"
            await _ended(process, bool(spots))
    except TimeoutError:
        return spots, f"stopped after {time_s:.0f} s: the search is not complete; narrow it"
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    return spots, ""


async def _feed(process: asyncio.subprocess.Process, given: bytes) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(given)
        await process.stdin.drain()
    process.stdin.close()


async def _spots(process: asyncio.subprocess.Process) -> AsyncIterator[Spot]:
    assert process.stdout is not None
    held = b""
    while data := await process.stdout.read(_CHUNK):
        held += data
        end = 0
        for row in _ROW.finditer(held):
            end = row.end()
            yield Spot(Path(os.fsdecode(row[1])), int(row[2]), int(row[3]))
        held = held[end:]


async def _ended(process: asyncio.subprocess.Process, found: bool) -> None:
    """Raises _Refused if the engine gave up on the pattern; ripgrep also ends with 2 for one unreadable
    file."""
    assert process.stderr is not None
    said = await process.stderr.read(_CHUNK)
    status = await process.wait()
    if status not in (0, 1) and not found and said.strip():
        raise _Refused(said.decode("utf-8", "replace"))


class _OnceAFile:
    """Asks `counts` once for the rows of one file, which come together."""

    def __init__(self, counts: Callable[[Path], bool]) -> None:
        self._counts = counts
        self._last: tuple[Path, bool] = (Path(), False)

    def __call__(self, path: Path) -> bool:
        if path != self._last[0]:
            self._last = (path, self._counts(path))
        return self._last[1]
