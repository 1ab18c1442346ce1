"""The files of a workspace that can be mentioned.

Invariant: it stops at a cap, so that a huge tree costs a bounded time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from deeptide.workspace.ignore import walk

FILE_CAP = 20_000


def workspace_files(root: Path, cap: int = FILE_CAP) -> Sequence[str]:
    """Paths relative to `root` with `/`, at most `cap` of them. Touches the disk: call it in a thread."""
    found: list[str] = []
    for path in walk(root):
        found.append((path.relative_to(root) if path.is_absolute() else path).as_posix())
        if len(found) >= cap:
            break
    return found
