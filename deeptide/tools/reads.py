"""Which content of each file the model has seen, so that it never overwrites what it does not know.

Rule after a resume: results of read, write and edit name the hash of the file in their first line, and
`seed` learns it back from the logged results. A file without such a line must be read again.

Invariant: an entry is only ever the hash of bytes that were shown to the model or written by it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from deeptide.protocol.messages import ToolResult

HASH_LENGTH = 12
_STAMP = re.compile(
    r"\A\[(?P<path>[^\n]+) · (?:lines \d|empty|created|replaced|edited|no change)"
    rf"[^\n]* · sha (?P<hash>[0-9a-f]{{{HASH_LENGTH}}})\](?:\n|\Z)"
)
_STAMPING = frozenset(("read", "write", "edit"))


def content_hash(data: bytes) -> str:
    """The first 12 hex digits of sha256: enough to notice a change, short enough to be told to the model."""
    return hashlib.sha256(data).hexdigest()[:HASH_LENGTH]


def stamp(shown_path: str, what: str, data_hash: str) -> str:
    """The first line of a result about a whole file: `[src/a.py · lines 1-80 of 120 · sha 3f2a…]`."""
    return f"[{shown_path} · {what} · sha {data_hash}]"


def stamped(result: ToolResult) -> tuple[str, str] | None:
    """(path as shown, hash) named in the first line of a read, write or edit result, if there is one."""
    if result.name not in _STAMPING or result.is_error:
        return None
    found = _STAMP.match(result.content)
    return (found["path"], found["hash"]) if found else None


class ReadState:
    """Real path → hash of the content last seen."""

    def __init__(self) -> None:
        self._seen: dict[Path, str] = {}

    def record(self, path: Path, data: bytes) -> str:
        """Remembers that the model knows `data` as the content of `path` (real); returns its hash."""
        value = self._seen[path] = content_hash(data)
        return value

    def known(self, path: Path) -> str | None:
        """The hash of what the model last saw of `path` (real), or None."""
        return self._seen.get(path)

    def seed(self, results: Iterable[ToolResult], resolve: Callable[[str], Path]) -> None:
        """Learns from logged results, oldest first. `resolve` turns a shown path into a real one."""
        for result in results:
            found = stamped(result)
            if found:
                self._seen[resolve(found[0])] = found[1]
