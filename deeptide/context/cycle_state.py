"""What crosses a hand-off without any model: mode, plan, working set.

Invariant: byte-stable while nothing changed, because it stands in a request prefix.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from deeptide.context.assemble import Fold
from deeptide.context.ledger import Ledger
from deeptide.protocol.plan import BOX

ENTRIES = 8
_DEPTH = 2
_BUILT = frozenset(
    (
        "venv",
        "env",
        "node_modules",
        "bower_components",
        "vendor",
        "__pycache__",
        "dist",
        "build",
        "target",
        "out",
    )
)
_STANDARD_STEPS = (
    f"{BOX['in_progress']} Set up tracking and inspect the workspace",
    f"{BOX['pending']} Search, git and diagnostics",
    f"{BOX['pending']} Create, edit, verify and finish",
)
_ADVICE = "Verify with the tools before relying on any of these, and stay within this set unless the task leads out."


def cycle_state(fold: Fold, workspace: Path) -> str:
    """Mode and place, as lines."""
    return f"- Mode: {fold.mode}\n- Workspace: {workspace}\n- Working directory: {workspace}"


def work(fold: Fold) -> str:
    """The checklist with its boxes, or three standard steps when there is none; then the pinned lines."""
    lines = fold.plan.render() if fold.plan.items else "\n".join(_STANDARD_STEPS)
    pins = "\n".join(f"- {pin}" for pin in fold.pins)
    return f"{lines}\n\nPinned by the user:\n{pins}" if pins else lines


def working_set(ledger: Ledger, workspace: Path) -> str:
    """Up to 8 lines `- path (file|dir)`: recently touched paths that still exist, newest first, topped up from
    the first two levels of the workspace in sorted order; then the advice."""
    chosen: dict[str, str] = {}
    touched = (note.path for note in sorted(ledger.files, key=lambda note: -note.place.seq))
    for path, kind in (*_existing(touched, workspace), *_scan(workspace, "", _DEPTH)):
        if len(chosen) == ENTRIES:
            break
        chosen.setdefault(path, kind)
    if not chosen:
        return f"(the workspace is empty)\n\n{_ADVICE}"
    return "\n".join(f"- {path} ({kind})" for path, kind in chosen.items()) + f"\n\n{_ADVICE}"


def _existing(paths: Iterable[str], workspace: Path) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for path in paths:
        whole = workspace / path
        try:
            shown = whole.relative_to(workspace).as_posix()
            if whole.exists() and ".." not in shown.split("/"):
                found.append((shown, "dir" if whole.is_dir() else "file"))
        except (ValueError, OSError):
            continue
    return found


def _hidden(path: str) -> bool:
    """Version control, caches and our own folders start with a dot; what was built or installed has a name."""
    return any(part in _BUILT or part.startswith(".") for part in path.split("/"))


def _scan(root: Path, below: str, depth: int) -> Iterator[tuple[str, str]]:
    """Files and folders in sorted order, a folder before what is in it; linked folders are not entered."""
    try:
        with os.scandir(root / below) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if _hidden(entry.name) or not entry.name.isprintable():
            continue
        path = f"{below}/{entry.name}" if below else entry.name
        folder = entry.is_dir(follow_symlinks=False)
        yield path, "dir" if folder or entry.is_dir() else "file"
        if folder and depth > 1:
            yield from _scan(root, path, depth - 1)
