"""Where a session may write: the workspace and the folders the user added.

Invariant: a path is judged after every `~`, `..` and symbolic link in it is resolved, so a link inside the
workspace that points out of it is outside.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def home_folder() -> Path:
    """The user's home; the root where the system knows none (a container without HOME and a name)."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


class Roots:
    def __init__(self, workspace: Path, extra: Iterable[Path] = ()) -> None:
        self.workspace = Path(os.path.realpath(workspace))
        self.extra = tuple(Path(os.path.realpath(folder)) for folder in extra)

    @property
    def all(self) -> tuple[Path, ...]:
        return (self.workspace, *self.extra)

    def resolve(self, path: Path | str) -> Path:
        """The absolute real path; relative ones start at the workspace, `~` at the home. It need not
        exist."""
        text = os.path.expanduser(os.fspath(path))
        return Path(os.path.realpath(os.path.join(self.workspace, text)))

    def inside(self, path: Path | str) -> bool:
        real = self.resolve(path)
        return any(real == root or root in real.parents for root in self.all)

    def relative(self, path: Path | str) -> str:
        """How to show `path`: relative to the workspace when in it (`.` for itself), with `~`, or
        absolute."""
        real = self.resolve(path)
        home = Path(os.path.realpath(os.path.expanduser("~")))
        if real == self.workspace or self.workspace in real.parents:
            return real.relative_to(self.workspace).as_posix()
        if home in real.parents:
            return "~/" + real.relative_to(home).as_posix()
        return str(real)
