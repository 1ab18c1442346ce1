"""One file's content before and after, and the one place where a tool replaces it.

Invariant: what is written is what was previewed. A file that changed since the model saw it, or since the
preview a person approved, is left as it is.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from deeptide.protocol.errors import ToolError
from deeptide.tools.diff import unified
from deeptide.tools.paths import shown
from deeptide.tools.read import load
from deeptide.tools.reads import content_hash
from deeptide.tools.tool import ToolContext
from deeptide.workspace.files import Decoded, atomic_write, decode, is_binary


@dataclass(frozen=True)
class Seen:
    """A file as it is on the disk now. `data` is None when it does not exist."""

    path: Path
    data: bytes | None
    decoded: Decoded

    @property
    def hash(self) -> str:
        return "" if self.data is None else content_hash(self.data)


@dataclass(frozen=True)
class Change:
    """`after` is the whole new content; `diff` is empty when nothing changes."""

    seen: Seen
    after: bytes
    diff: str


def look(path: Path, ctx: ToolContext, *, must_exist: bool) -> Seen:
    """The file at `path`, fit to be changed: known to the model, unchanged since, text, and writable.
    Raises ToolError or WorkspaceError otherwise."""
    if not must_exist and not os.path.lexists(path):
        return Seen(path, None, Decoded(""))
    data, name = load(path, ctx), shown(path, ctx)
    known = ctx.reads.known(path)
    if known is None:
        raise ToolError(f"{name} exists and has not been read in this session.", "Read it first.")
    if known != content_hash(data):
        raise ToolError(f"{name} has changed since you read it; nothing was written.", "Read it again first.")
    if is_binary(data):
        raise ToolError(f"{name} is a binary file.", "Only text files can be changed by this tool.")
    if not os.access(path, os.W_OK):
        raise ToolError(
            f"{name} is read-only; nothing was written.", "Ask the user before you change its mode."
        )
    return Seen(path, data, decode(data))


def changed(seen: Seen, text: str, after: bytes, ctx: ToolContext) -> Change:
    """The change that gives `seen` the content `after`, which is `text` encoded."""
    before = None if seen.data is None else seen.decoded.text
    return Change(seen, after, unified(shown(seen.path, ctx), before, text))


def carry_out(change: Change, ctx: ToolContext) -> str:
    """Writes it and returns the new hash. Raises ToolError, having written nothing, when the file is no longer
    what the approved preview was made from."""
    seen = change.seen
    if ctx.promised.get(seen.path, seen.hash) != seen.hash:
        raise ToolError(
            f"{shown(seen.path, ctx)} changed while the approval was open; nothing was written.",
            "Read it again and repeat the change.",
        )
    if change.after != seen.data:
        atomic_write(seen.path, change.after)
    return ctx.reads.record(seen.path, change.after)
