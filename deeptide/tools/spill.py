"""Whole outputs that are too long for the history go to a file that the model can read.

Invariant: one file per call, named after it, private, never overwritten by another call.
"""

from __future__ import annotations

import re
from pathlib import Path

from deeptide.protocol.text import scrub
from deeptide.workspace.files import atomic_write


def spill_path(folder: Path, call_id: str) -> Path:
    """The file for the output of `call_id`; a number is added when an earlier call had the same id."""
    stem = re.sub(r"[^A-Za-z0-9_-]", "_", call_id)[:60] or "output"
    path, count = folder / f"{stem}.txt", 1
    while path.exists():
        count += 1
        path = folder / f"{stem}-{count}.txt"
    return path


def write_spill(folder: Path, call_id: str, text: str) -> Path:
    """Writes `text` (UTF-8, mode 0600) and returns its path. Raises WorkspaceError."""
    path = spill_path(folder, call_id)
    atomic_write(path, scrub(text).encode(), private=True)
    return path
