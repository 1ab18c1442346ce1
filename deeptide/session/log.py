"""The append-only record of one session, one event a line.

Invariant: what `append` returned for is in the file, whole, in order, and survives a killed process; a torn end
is cut off (and kept beside the log) before anything is appended.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from deeptide.protocol.errors import SessionError
from deeptide.protocol.events import DURABLE, HistoryRepaired, Record, decode_record, encode_record, scrubbed
from deeptide.workspace.files import AppendLog, FileLock, LockHeld, atomic_write

LOG, LOCK = "log.jsonl", "lock"
MOST_MISSING = 10_000
"""Entries in a row that may be missing; a number beyond that is a damaged line, not a gap."""
GAP = HistoryRepaired("An entry of the log could not be read.")
"""Stands in memory for a line that this version cannot read; the line itself stays in the file."""


class Loaded(msgspec.Struct, frozen=True):
    """`torn`: bytes of an unfinished last line. `unreadable`: line numbers (from 1) that could not be read.
    `missing`: how many entries the numbering says there were that are not here."""

    records: tuple[Record, ...]
    size: int
    torn: int = 0
    unreadable: tuple[int, ...] = ()
    missing: int = 0


def load(path: Path) -> Loaded:
    """Read a log without changing it. A line is whole when it ends with a line break and can be decoded."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SessionError(f"The session log {path} cannot be read: {error.strerror}.") from error
    end = data.rfind(b"\n") + 1
    records: list[Record] = []
    unreadable: list[int] = []
    missing = 0
    for number, line in enumerate(data[:end].split(b"\n")[:-1], 1):
        try:
            record = decode_record(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            unreadable.append(number)
            continue
        gap = record.seq - len(records) - 1
        if not 0 <= gap <= MOST_MISSING:
            unreadable.append(number)
            continue
        missing += gap
        # The identity of an entry is its seq, so an entry that cannot be read keeps its place.
        records.extend(Record(seq, record.at, GAP) for seq in range(len(records) + 1, record.seq))
        records.append(record)
    return Loaded(tuple(records), end, len(data) - end, tuple(unreadable), missing)


class Log:
    """An open log, held by a lock until `close`. Raises SessionError naming the holder if another has it."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self.folder = folder
        self.path = folder / LOG
        self._clock = clock
        self._lock = FileLock(folder / LOCK)
        try:
            self._lock.acquire()
        except LockHeld as error:
            who = f"process {error.pid}" if error.pid else "another process"
            raise SessionError(
                f"Session {folder.name} is open in {who}.",
                "Close it there, or start a new session with /new.",
            ) from error
        self._file = AppendLog(self.path)
        self._seq = 0

    def read(self) -> Loaded:
        """Load what is there, cut a torn end off (its bytes are kept in `torn-*.bin`) and stand at the end."""
        loaded = load(self.path)
        if loaded.torn:
            tail = self.path.read_bytes()[loaded.size :]
            atomic_write(self.folder / f"torn-{loaded.size}.bin", tail, private=True)
            self._file.truncate(loaded.size)
        self._seq = max((record.seq for record in loaded.records), default=0)
        return loaded

    def append(self, event: DURABLE) -> Record:
        """Write one event and hand it to the system. Raises WorkspaceError; then nothing of it is in the log."""
        record = Record(self._seq + 1, round(self._clock(), 3), event)
        try:
            line = encode_record(record)
        except UnicodeEncodeError:
            # What is in memory must be what is in the file, so the record itself is mended.
            record = scrubbed(record)
            line = encode_record(record)
        self._file.append(line + b"\n")
        self._seq = record.seq
        return record

    def sync(self) -> None:
        """Blocking: returns when the log is on the disk."""
        self._file.sync()

    def close(self) -> None:
        self._file.close()
        self._lock.release()
