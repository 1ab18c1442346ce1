"""Searching files without ripgrep, in a process of its own.

Why a process: Python's `re` can take for ever on a hostile or unlucky pattern and cannot be interrupted from a
thread; a process can be killed. It speaks the same rows as ripgrep: `path NUL line:column:` and a line feed.

Invariant: rows come in the order of `files`, at most one a line of a file.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from deeptide.protocol.errors import WorkspaceError
from deeptide.tools import lines
from deeptide.tools.globs import Matcher
from deeptide.tools.listing import is_plain, unending, walked
from deeptide.workspace.files import decode, is_binary, read_bytes


class Job(msgspec.Struct, frozen=True):
    """`root` is a real path: a folder, or the one file to search. `size`: bytes of the largest file."""

    root: str
    pattern: str
    ignore_case: bool
    hidden: bool
    glob: str
    size: int


def rows(job: Job) -> Iterator[bytes]:
    """One row for every matching line."""
    pattern = re.compile(job.pattern, re.IGNORECASE if job.ignore_case else 0)
    for path in _files(job):
        try:
            data = read_bytes(path, job.size)
        except WorkspaceError:
            continue
        if is_binary(data):
            continue
        name = os.fsencode(path)
        for number, line in enumerate(lines.split(decode(data).text), 1):
            found = pattern.search(line)
            if found:
                column = len(line[: found.start()].encode("utf-8", "replace")) + 1
                yield b"%b\0%d:%d:\n" % (name, number, column)


def _files(job: Job) -> Iterable[Path]:
    root = Path(job.root)
    if not root.is_dir():
        return [root]
    wanted = Matcher(job.glob) if job.glob else None
    return (
        path
        for path in walked(root, job.hidden)
        if (wanted is None or wanted(path.relative_to(root).as_posix()))
        and not unending(path)
        and is_plain(path)
    )


def main() -> None:
    """Reads one Job as JSON from standard input and writes its rows to standard output as they are found."""
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    try:
        for row in rows(job):
            sys.stdout.buffer.write(row)
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
