"""All sessions on this machine: listing, finding, moving to the trash.

Invariant: a session folder with a readable first line is always listed, whatever version wrote the rest; the list
is read from the logs and never from an index that could forget one.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
from pathlib import Path

import msgspec

from deeptide.protocol.errors import SessionError
from deeptide.protocol.events import (
    AssistantMessage,
    Record,
    Renamed,
    SessionStarted,
    TurnStarted,
    UserMessage,
    decode_record,
)
from deeptide.session.log import LOG
from deeptide.workspace.files import private_dir

HEAD, TAIL = 256 * 1024, 128 * 1024
TRASH_DAYS = 30


class SessionInfo(msgspec.Struct, frozen=True):
    """`first` and `last` are the user's first and newest words; `turns` and `cost` are read from the log."""

    id: str
    path: Path
    workspace: str = ""
    title: str = ""
    first: str = ""
    last: str = ""
    model: str = ""
    started: float = 0.0
    updated: float = 0.0
    turns: int = 0
    size: int = 0
    endpoint: str = ""

    @property
    def name(self) -> str:
        return self.title or self.first.strip().split("\n")[0][:80] or "(empty)"


class Store:
    def __init__(self, home: Path) -> None:
        self.root = home / "sessions"
        self.trash_root = home / "trash"

    def new_folder(self) -> Path:
        """A fresh private folder; its name is the session id (10 hex digits)."""
        private_dir(self.root)
        while True:
            folder = self.root / secrets.token_hex(5)
            if not folder.exists():
                return private_dir(folder)

    def path(self, session: str) -> Path:
        return self.root / session

    def list(self, workspace: str | None = None) -> list[SessionInfo]:
        """Newest first; only sessions in which the user said something. `workspace` limits to one folder."""
        if not self.root.is_dir():
            return []
        found = [info for entry in os.scandir(self.root) if (info := self._info(Path(entry.path)))]
        found = [info for info in found if info.turns or info.first]
        if workspace is not None:
            found = [info for info in found if info.workspace == workspace]
        return sorted(found, key=lambda info: info.updated, reverse=True)

    def find(self, selector: str, workspace: str | None = None) -> SessionInfo:
        """`latest` (or empty) is the newest of `workspace`, else of all; otherwise an id or a unique prefix of
        one, or an exact title. Raises SessionError with the candidates."""
        if selector in ("", "latest"):
            sessions = self.list(workspace) or self.list()
            if not sessions:
                raise SessionError("There is no session to resume.", "Start one by sending a message.")
            return sessions[0]
        sessions = self.list()
        exact = [info for info in sessions if selector in (info.id, info.title)]
        found = exact or [info for info in sessions if info.id.startswith(selector.lower())]
        if len(found) == 1 or (exact and found):
            return found[0]
        if not found and (self.root / selector / LOG).is_file():
            raise SessionError(
                f"The log of session {selector} cannot be read from its first line.",
                f"Its entries are kept in {self.root / selector / LOG}.",
            )
        if not found:
            raise SessionError(f"No session is called {selector!r}.", "See `deeptide sessions` for the list.")
        names = ", ".join(f"{info.id} ({info.name[:30]})" for info in found[:5])
        raise SessionError(f"{selector!r} fits {len(found)} sessions: {names}.", "Give more of the id.")

    def trash(self, session: str) -> Path:
        """Move a session to the trash, where it is kept for 30 days. Returns where it went."""
        folder = self.path(session)
        if not folder.is_dir():
            raise SessionError(f"No session is called {session!r}.")
        private_dir(self.trash_root)
        target = self.trash_root / f"{session}-{int(time.time())}"
        shutil.move(folder, target)
        return target

    def sweep(self, now: float | None = None) -> int:
        """Delete what has been in the trash for over 30 days; returns how many sessions."""
        if not self.trash_root.is_dir():
            return 0
        before = (now or time.time()) - TRASH_DAYS * 86_400
        old = [path for path in self.trash_root.iterdir() if _thrown_at(path) < before]
        for path in old:
            shutil.rmtree(path, ignore_errors=True)
        return len(old)

    def _info(self, folder: Path) -> SessionInfo | None:
        path = folder / LOG
        try:
            with open(path, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                head = file.read(HEAD)
                tail = b""
                if size > HEAD:
                    file.seek(max(HEAD, size - TAIL))
                    tail = file.read()
            updated = path.stat().st_mtime
        except OSError:
            return None
        first, last = _records(head, True), _records(tail, False)
        if not first or not isinstance(first[0].event, SessionStarted):
            return None
        return _summary(folder, first, last, size, updated)


def _thrown_at(path: Path) -> float:
    stamp = path.name.rpartition("-")[2]
    return float(stamp) if stamp.isdigit() else path.stat().st_mtime


def _records(data: bytes, from_start: bool) -> list[Record]:
    lines = data.split(b"\n")
    usable = lines[:-1] if from_start else lines[1:]
    records: list[Record] = []
    for line in usable:
        try:
            records.append(decode_record(line))
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
    return records


def _summary(folder: Path, head: list[Record], tail: list[Record], size: int, updated: float) -> SessionInfo:
    started = head[0].event
    assert isinstance(started, SessionStarted)
    title, first, last, model, turns = "", "", "", started.model, 0
    for record in (*head, *tail):
        match record.event:
            case Renamed(text):
                title = text
            case UserMessage(text):
                first, last = first or text, text
            case TurnStarted(turn):
                turns = max(turns, turn)
            case AssistantMessage():
                model = record.event.model
    return SessionInfo(
        id=folder.name,
        path=folder,
        workspace=started.workspace,
        title=title,
        first=first,
        last=last,
        model=model,
        started=head[0].at,
        updated=updated,
        turns=turns,
        size=size,
        endpoint=started.endpoint,
    )
