"""The instruction files of folders below the workspace, given when the agent first touches the folder.

They come with a tool result instead of the system text, because a changed system text would throw the cached
request prefix away.

Invariant: a folder's file is given at most once, the workspace's own file never (it is in the recorded prefix),
and no link leads to a file outside the workspace.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from deeptide.protocol.errors import WorkspaceError
from deeptide.protocol.text import clean
from deeptide.workspace.files import decode, read_bytes

NAMES = ("AGENTS.md", "CLAUDE.md")
CAP = 32 * 1024
"""Bytes of one instruction file that are given."""


class FolderNotes:
    """Made only for a trusted workspace. `given`: folders whose file the model already has."""

    def __init__(self, workspace: Path, given: Iterable[Path] = ()) -> None:
        self._workspace = workspace.resolve()
        self._given = set(given)

    def first_touch(self, path: Path) -> str:
        """The instruction files on the way from the workspace to `path` (real; a file or a folder) that were
        not given yet, outermost first, as text to append to the result; else empty."""
        folder = path if path.is_dir() else path.parent
        if self._workspace not in folder.parents:
            return ""
        way = [folder, *folder.parents]
        texts = [self._give(each) for each in reversed(way[: way.index(self._workspace)])]
        return "".join(texts)

    def _give(self, folder: Path) -> str:
        if folder in self._given:
            return ""
        self._given.add(folder)
        for name in NAMES:
            file = folder / name
            if file.is_file() and self._workspace in file.resolve().parents:
                return self._quoted(file)
        return ""

    def _quoted(self, file: Path) -> str:
        shown = file.relative_to(self._workspace).as_posix()
        try:
            data = read_bytes(file)
        except WorkspaceError:
            return ""
        text = clean(decode(data[:CAP]).text).strip()
        cut = f"\n[cut: {shown} has {len(data):,} bytes, {CAP:,} are shown]" if len(data) > CAP else ""
        return f"\n\n[instructions for files under {file.parent.name}/, from {shown}]\n{text}{cut}"
