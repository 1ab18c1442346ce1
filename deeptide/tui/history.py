"""Earlier prompts of a workspace, kept between sessions.

Invariant: a prompt is written before it is offered again; a torn or foreign line is skipped, never fatal.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import msgspec

from deeptide.protocol.errors import DeepTideError
from deeptide.protocol.text import scrub
from deeptide.workspace.files import AppendLog, atomic_write, private_dir

KEEP = 1_000


def history_file(home: Path, workspace: Path) -> Path:
    name = re.sub(r"[^\w.-]", "_", workspace.name)[:40]
    return home / "history" / f"{name}-{zlib.crc32(bytes(workspace)):08x}.jsonl"


class History:
    """Prompts, oldest first. `step` walks through them like a shell does, keeping the unsent draft."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._entries: list[str] = []
        self._at: int | None = None
        self._draft = ""

    def load(self) -> None:
        """Read the file; called in a thread after the first paint. Prompts said meanwhile stay newest."""
        if self._path is None or not self._path.exists():
            return
        lines = self._path.read_bytes().splitlines()
        entries = [entry for line in lines if (entry := _parsed(line))]
        if len(lines) > 2 * KEEP:
            body = b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries[-KEEP:])
            atomic_write(self._path, body, private=True)
        self._entries = [*entries[-KEEP:], *self._entries]

    def add(self, text: str) -> None:
        """Remember `text` unless it repeats the newest one. A disk that refuses only costs the memory of it."""
        self._at = None
        text = scrub(text)
        if not text.strip() or (self._entries and self._entries[-1] == text):
            return
        self._entries.append(text)
        if self._path is None:
            return
        try:
            private_dir(self._path.parent)
            log = AppendLog(self._path)
            try:
                log.append(msgspec.json.encode(text) + b"\n")
            finally:
                log.close()
        except (OSError, DeepTideError):
            self._path = None

    def step(self, direction: int, current: str) -> str | None:
        """The prompt one older (-1) or newer (+1); past the newest comes the draft. None at the ends."""
        if self._at is None:
            if direction > 0 or not self._entries:
                return None
            self._draft, self._at = current, len(self._entries)
        at = self._at + direction
        if at < 0 or at > len(self._entries):
            return None
        if at == len(self._entries):
            self._at = None
            return self._draft
        self._at = at
        return self._entries[at]

    def leave(self) -> None:
        """The text was edited: the next step starts from the newest again."""
        self._at = None

    def search(self, query: str, limit: int = 8) -> list[str]:
        """Prompts containing every word of `query`, newest first, each once."""
        words = query.casefold().split()
        seen: dict[str, None] = {}
        for entry in reversed(self._entries):
            if entry not in seen and all(word in entry.casefold() for word in words):
                seen[entry] = None
                if len(seen) >= limit:
                    break
        return list(seen)


def _parsed(line: bytes) -> str:
    try:
        return msgspec.json.decode(line, type=str)
    except (msgspec.DecodeError, ValueError):
        return ""
