"""What a command says, kept within bounds: its beginning, its end, and the rest in a file.

Invariant: memory is bounded by `Limits.keep`, nothing that is given out holds an escape or a control, and
what was left out is always counted and named.
"""

from __future__ import annotations

import codecs
from contextlib import suppress
from pathlib import Path

import msgspec

from deeptide.protocol.errors import WorkspaceError
from deeptide.protocol.text import StreamCleaner
from deeptide.workspace.files import AppendLog

_BINARY_PROBE = 65_536


class Limits(msgspec.Struct, frozen=True):
    """`keep`: characters of output given back. `spill`: bytes of output at which the command is ended.
    `grace_s`: between TERM and KILL. `drain_s`: how long a pipe held by a background process is read after
    the shell has ended. `tick_s`: between two calls of `on_output`. `live`: characters given to one of
    them."""

    keep: int = 30_000
    spill: int = 50_000_000
    grace_s: float = 0.5
    drain_s: float = 0.25
    tick_s: float = 0.05
    live: int = 8_000


class Output:
    """Takes raw bytes by `feed`, gives `take_live` pieces meanwhile and `text` after `finish`."""

    def __init__(self, spill: Path, limits: Limits) -> None:
        self.total = 0
        self.binary = False
        self._limits = limits
        self._path = spill
        self._spill: AppendLog | None = None
        self._spill_error = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._cleaner = StreamCleaner()
        self._head = ""
        self._tail = ""
        self._length = 0
        self._live = ""
        self._skipped = 0

    @property
    def spilled(self) -> bool:
        """Whether the whole output is in the spill file."""
        return self._spill is not None and not self._spill_error and not self.binary

    @property
    def full(self) -> bool:
        """Whether the command has said more than it may."""
        return self.total > self._limits.spill

    def feed(self, data: bytes) -> None:
        if not self.binary and self.total < _BINARY_PROBE and b"\0" in data[: _BINARY_PROBE - self.total]:
            self.binary = True
        self.total += len(data)
        if not self.binary:
            self._keep(self._cleaner.feed(self._decoder.decode(data)))

    def finish(self) -> None:
        """No more bytes will come."""
        if not self.binary:
            self._keep(self._cleaner.feed(self._decoder.decode(b"", final=True)) + self._cleaner.finish())
        if self._spill is not None:
            self._spill.close()

    def take_live(self) -> str:
        """What was said since the last call, its latest part if it is much."""
        live, self._live = self._live, ""
        if self._skipped:
            live = f"[… {self._skipped:,} characters …]\n{live}"
            self._skipped = 0
        return live

    def text(self) -> str:
        """The beginning and the end of it all, with one line between that counts what is left out."""
        if self.binary:
            return f"[binary, {self.total:,} bytes]"
        half = self._limits.keep // 2
        if self._length <= self._limits.keep:
            return self._head + self._tail
        head = self._head[: self._head.rfind("\n") + 1 or None]
        tail = self._tail[-half:]
        tail = tail[tail.find("\n") + 1 :] if "\n" in tail[:-1] else tail
        left_out = self._length - len(head) - len(tail)
        where = self._spill_error or f"the whole output is in {self._path}"
        gap = "" if head.endswith("\n") else "\n"
        return f"{head}{gap}[… {left_out:,} characters left out; {where} …]\n{tail}"

    def _keep(self, text: str) -> None:
        if not text:
            return
        self._live += text
        if len(self._live) > self._limits.live:
            self._skipped += len(self._live) - self._limits.live
            self._live = self._live[-self._limits.live :]
        self._length += len(text)
        half = self._limits.keep // 2
        before = self._head + self._tail if self._spill is None else ""
        if len(self._head) < half:
            room = half - len(self._head)
            self._head += text[:room]
            self._tail += text[room:]
        else:
            self._tail += text
        if self._length > self._limits.keep:
            self._to_file(before + text)
        if len(self._tail) > 2 * half + _BINARY_PROBE:
            self._tail = self._tail[-half:]

    def _to_file(self, text: str) -> None:
        if self._spill_error:
            return
        try:
            if self._spill is None:
                with suppress(FileNotFoundError):
                    self._path.unlink()
                self._spill = AppendLog(self._path)
            self._spill.append(text.encode("utf-8", "replace"))
        except (WorkspaceError, OSError) as error:
            self._spill_error = f"the rest could not be saved: {error}"
