"""One file for each finished cycle: `cycles/<n>.jsonl` beside the session log.

Line 1 is the header, then one message a line, then the briefing. `sha256` in the header is of all that
follows it. Numbers count on from the largest on disk, so a number once given always means the same cycle.

Invariant: a file that has its name is complete, and no file is ever written over.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from deeptide.protocol.errors import WorkspaceError
from deeptide.protocol.messages import Message
from deeptide.workspace.files import atomic_write, private_dir

SCHEMA = 1
_NAME = re.compile(r"([1-9][0-9]*)\.jsonl")


class Header(msgspec.Struct, frozen=True):
    """`started`, `ended`: Unix seconds (UTC). `messages` counts the lines between header and briefing."""

    schema: int
    cycle: int
    session: str
    model: str
    started: float
    ended: float
    messages: int
    sha256: str


class Line(msgspec.Struct, frozen=True):
    index: int
    message: Message


class Briefing(msgspec.Struct, frozen=True):
    briefing: str


class Archive(msgspec.Struct, frozen=True):
    """`lines` hold the messages with their index. `skipped` counts unreadable lines; `intact` says
    whether the body is what was written."""

    path: Path
    header: Header
    lines: tuple[Line, ...] = ()
    briefing: str = ""
    skipped: int = 0
    intact: bool = True

    @property
    def cycle(self) -> int:
        return self.header.cycle

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(line.message for line in self.lines)


class Listing(msgspec.Struct, frozen=True):
    """Readable archives by number, and a sentence for each that was passed over."""

    archives: tuple[Archive, ...] = ()
    notices: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Archive]:
        return iter(self.archives)

    def __len__(self) -> int:
        return len(self.archives)


def write(
    directory: Path,
    *,
    session: str,
    model: str,
    started: float,
    ended: float,
    messages: Iterable[Message],
    briefing: str,
) -> Archive:
    """Writes the next number and returns it. Raises WorkspaceError with nothing left under the new name.

    The caller holds the session's lock; two writers in one directory are not expected.
    """
    private_dir(directory)
    lines = tuple(Line(index, message) for index, message in enumerate(messages))
    body = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
    body += msgspec.json.encode(Briefing(briefing)) + b"\n"
    number = next_number(directory)
    header = Header(
        SCHEMA, number, session, model, started, ended, len(lines), hashlib.sha256(body).hexdigest()
    )
    path = directory / f"{number}.jsonl"
    atomic_write(path, msgspec.json.encode(header) + b"\n" + body, private=True)
    return Archive(path, header, lines, briefing)


def next_number(directory: Path) -> int:
    """1 + the largest number on disk, whatever the file of that number holds."""
    return 1 + max((number for number, _ in _files(directory)), default=0)


def read(path: Path) -> Archive:
    """Raises WorkspaceError when the file cannot be read, has no header, or has a newer schema; a bad line
    further on is skipped and counted."""
    try:
        head, _, body = path.read_bytes().partition(b"\n")
    except OSError as error:
        raise WorkspaceError(f"Could not read the archive {path}: {error.strerror or error}.") from error
    header = _header(path, head)
    lines: list[Line] = []
    briefing, skipped = "", 0
    rows = body.split(b"\n")
    for row in filter(None, rows):
        try:
            lines.append(msgspec.json.decode(row, type=Line))
        except msgspec.MsgspecError:
            try:
                briefing = msgspec.json.decode(row, type=Briefing).briefing
            except msgspec.MsgspecError:
                skipped += 1
    skipped = max(skipped, header.messages - len(lines))
    intact = hashlib.sha256(body).hexdigest() == header.sha256
    return Archive(path, header, tuple(lines), briefing, skipped, intact)


def list_cycles(directory: Path) -> Listing:
    """Every archive in `directory`, oldest first, with notices for those skipped or damaged."""
    archives: list[Archive] = []
    notices: list[str] = []
    for _, path in _files(directory):
        try:
            archive = read(path)
        except WorkspaceError as error:
            notices.append(f"{error} {error.advice}".strip())
            continue
        archives.append(archive)
        if not archive.intact:
            lost = f"{archive.skipped} lines could not be read" if archive.skipped else "it was changed"
            notices.append(f"The archive of cycle {archive.cycle} is damaged: {lost}; the rest is used.")
    return Listing(tuple(archives), tuple(notices))


def _header(path: Path, line: bytes) -> Header:
    try:
        schema = msgspec.json.decode(line, type=dict[str, object]).get("schema")
    except msgspec.MsgspecError:
        schema = None
    if isinstance(schema, int) and schema > SCHEMA:
        raise WorkspaceError(
            f"The archive {path.name} was written by a newer DeepTide (schema {schema}) and is skipped.",
            "Update DeepTide to read it.",
        )
    try:
        return msgspec.json.decode(line, type=Header)
    except msgspec.MsgspecError as error:
        raise WorkspaceError(
            f"The archive {path.name} has no readable header and is skipped.",
            "Its messages are still in the session log.",
        ) from error


def _files(directory: Path) -> list[tuple[int, Path]]:
    if not directory.is_dir():
        return []
    named = ((_NAME.fullmatch(path.name), path) for path in directory.iterdir())
    return sorted((int(match[1]), path) for match, path in named if match)
