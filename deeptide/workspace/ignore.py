"""The files of a project as its owner sees them: without what git ignores.

Invariant: the walk is lazy, its order depends on names only, and it never leaves `root` through a symbolic
link.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from deeptide.protocol.errors import WorkspaceError
from deeptide.workspace.files import read_bytes

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_ALWAYS = frozenset({".git", ".hg", ".svn", ".jj"})


class Rules:
    """The ignore files of a folder and of all above it, nearest last."""

    def __init__(self, layers: tuple[tuple[str, GitIgnoreSpec], ...] = ()) -> None:
        self._layers = layers

    @classmethod
    def above(cls, root: Path) -> Rules:
        """The rules that reach `root` from its repository: `.git/info/exclude` and the folders between."""
        chain = [root, *root.parents]
        top = next((index for index, folder in enumerate(chain) if (folder / ".git").exists()), None)
        rules = cls()
        if top is None:
            return rules
        rules = rules._with(chain[top], chain[top] / ".git" / "info" / "exclude")
        for folder in reversed(chain[1 : top + 1]):
            rules = rules.entering(folder)
        return rules

    def entering(self, folder: Path) -> Rules:
        """These rules and those of the `.gitignore` in `folder`, if there is one."""
        return self._with(folder, folder / ".gitignore")

    def _with(self, folder: Path, file: Path) -> Rules:
        try:
            text = read_bytes(file, 1_000_000).decode("utf-8-sig", "replace")
        except WorkspaceError:
            return self
        lines = [_meant(line) for line in text.splitlines() if line.strip() and not line.startswith("#")]
        if not lines:
            return self
        # Imported at the first ignore file: it costs as much as the rest of a start.
        from pathspec import GitIgnoreSpec

        return Rules((*self._layers, (os.path.join(folder, ""), GitIgnoreSpec.from_lines(lines))))

    def ignored(self, path: str, is_dir: bool) -> bool:
        """Whether the absolute `path` is ignored; the nearest file that says anything about it decides."""
        for base, spec in reversed(self._layers):
            verdict = spec.check_file(path[len(base) :] + ("/" if is_dir else "")).include
            if verdict is not None:
                return verdict
        return False


def _meant(line: str) -> str:
    """`x/**` is what lies in x, not x itself, which may hold exceptions; the matcher needs that spelled out."""
    bare = line.rstrip()
    return f"{bare}/*" if bare.endswith("/**") else line


def walk(root: Path, *, hidden: bool = False, ignored: bool = False, folders: bool = False) -> Iterator[Path]:
    """Regular files (and links to files) under `root`, depth first, each folder in order of names.

    `hidden`: names with a leading dot too. `ignored`: what git ignores too. `folders`: yield folders before
    their content. Never: version-control folders, the inside of linked folders, folders that cannot be read.
    """
    rules = Rules() if ignored else Rules.above(root)
    yield from _walk(os.fspath(root), rules, hidden, ignored, folders)


def _walk(folder: str, above: Rules, hidden: bool, ignored: bool, folders: bool) -> Iterator[Path]:
    rules = above if ignored else above.entering(Path(folder))
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name in _ALWAYS or (entry.name.startswith(".") and not hidden):
            continue
        try:
            is_dir = entry.is_dir(follow_symlinks=False)
            is_file = not is_dir and entry.is_file()
        except OSError:
            continue
        if not (is_dir or is_file) or rules.ignored(entry.path, is_dir):
            continue
        if is_file:
            yield Path(entry.path)
            continue
        if folders:
            yield Path(entry.path)
        yield from _walk(entry.path, rules, hidden, ignored, folders)
