"""A fault of ours, kept for whoever must find it.

Invariant: reporting never makes things worse: if the report cannot be written, the talk still goes on.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path

from deeptide import __version__
from deeptide.protocol.errors import WorkspaceError
from deeptide.workspace.files import atomic_write


def crash_reporter(folder: Path) -> Callable[[BaseException], str]:
    """A function that writes an exception to `crash-N.txt` in `folder` and returns its path (or why not)."""

    def report(error: BaseException) -> str:
        number = len(list(folder.glob("crash-*.txt"))) + 1
        path = folder / f"crash-{number}.txt"
        text = f"DeepTide {__version__}\n" + "".join(traceback.format_exception(error))
        try:
            atomic_write(path, text.encode("utf-8", "replace"), private=True)
        except WorkspaceError as trouble:
            return f"(no report could be written: {trouble})"
        return str(path)

    return report
