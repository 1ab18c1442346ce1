"""The files of a workspace that can be mentioned.

Invariant: it stops at a cap, so that a huge tree costs a bounded time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from deeptide.workspace.ignore import walk

FILE_CAP = 20_000
MADE = frozenset(
    {"__pycache__", "node_modules", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".tox", ".venv"}
)
"""Folders that tools fill; outside a repository nothing says to ignore them."""
COMPILED = (".pyc", ".pyo")


def workspace_files(root: Path, cap: int = FILE_CAP) -> Sequence[str]:
    """Paths relative to `root` with `/`, at most `cap` of them, without what tools make. Touches the disk: call it
    in a thread."""
    found: list[str] = []
    for path in islice(walk(root), 4 * cap):
        short = path.relative_to(root) if path.is_absolute() else path
        if MADE.isdisjoint(short.parts) and short.suffix not in COMPILED:
            found.append(short.as_posix())
        if len(found) >= cap:
            break
    return found
