"""From the path a model wrote to a real file, and from a path that is not there to the ones it may have meant.

Invariant: every tool sees the same real path for the same words, with links and `..` resolved, so what was
judged is what is touched.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from deeptide.protocol.errors import ToolError
from deeptide.protocol.text import clean
from deeptide.tools.tool import ToolContext

_SCAN = 5_000


def target(path: str, ctx: ToolContext) -> Path:
    """The real path that `path` names; it need not exist. Raises ToolError for an impossible path."""
    if not path.strip() or "\0" in path:
        raise ToolError("The path is empty or holds a NUL character.", "Give the path of a file.")
    try:
        return ctx.roots.resolve(path)
    except (OSError, ValueError) as error:
        raise ToolError(f"The path {path[:80]!r} cannot be used: {error}.", "Give another path.") from error


def shown(path: Path, ctx: ToolContext) -> str:
    """`path` as the model and the reader see it."""
    return clean(ctx.roots.relative(path)).replace("\n", "␊")


def missing(path: Path, ctx: ToolContext) -> ToolError:
    """The error for a path that does not exist, with the nearest names that do."""
    names = _nearest(path, ctx)
    advice = f"Did you mean {' or '.join(names)}?" if names else "Use glob or list to find it."
    return ToolError(f"There is no file {shown(path, ctx)}.", advice)


def _nearest(path: Path, ctx: ToolContext) -> list[str]:
    """Up to three existing paths: alike names in the same folder, else the same name anywhere in the
    workspace."""
    try:
        siblings = sorted(os.listdir(path.parent))[:_SCAN]
    except OSError:
        siblings = []
    folded = {name.casefold(): name for name in siblings}
    close = difflib.get_close_matches(path.name.casefold(), folded, n=3, cutoff=0.6)
    found = [path.parent / folded[name] for name in close]
    return [shown(each, ctx) for each in found or _same_name(path.name, ctx.roots.workspace)]


def _same_name(name: str, root: Path) -> list[Path]:
    """Files called `name` in the first folders below `root`, breadth first; hidden folders are left out."""
    found: list[Path] = []
    queue, looked = [root], 0
    while queue and looked < _SCAN and len(found) < 3:
        folder = queue.pop(0)
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        looked += len(entries)
        found += [Path(entry.path) for entry in entries if entry.name == name]
        queue += [
            Path(entry.path)
            for entry in entries
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
        ]
    return found[:3]
