"""The files below a folder, from ripgrep if it is there, else from our own walk: the same ones, in the same
order.

Invariant: hidden files, what git ignores, version-control folders and symbolic links are left out alike by
both; a folder that is itself ignored, but was named, is listed whole.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from deeptide.workspace.environment import child_env
from deeptide.workspace.ignore import Rules, walk

_TIME_S = 20.0
_BASIC = ("--no-config", "--no-messages", "--color=never", "--no-ignore-global", "--no-ignore-dot")
_SKIP = tuple(f"--glob=!{name}" for name in (".git", ".hg", ".svn", ".jj"))


def ripgrep(environ: Mapping[str, str]) -> str | None:
    """The path of `rg`: on PATH, else beside the Python that runs us (the `rg` extra puts it there)."""
    beside = Path(sys.executable).with_name("rg")
    return shutil.which("rg", path=environ.get("PATH")) or (str(beside) if beside.is_file() else None)


def all_below(root: Path) -> bool:
    """Whether `root` is itself ignored by git, so that naming it asks for all that is in it."""
    return Rules.above(root).ignored(os.fspath(root), True)


def rg_options(root: Path, hidden: bool) -> list[str]:
    """Options that make ripgrep see the files that `walk` sees, in its order."""
    options = [*_BASIC, "--sort=path", "--no-require-git"]
    if all_below(root):
        options.append("--no-ignore")
    elif not any((folder / ".git").exists() for folder in (root, *root.parents)):
        options.append("--no-ignore-parent")
    if hidden:
        options += ["--hidden", *_SKIP]
    return options


def files_below(root: Path, *, hidden: bool, environ: Mapping[str, str]) -> Iterator[Path]:
    """The files below `root` (real), lazily, as a folder-by-folder walk in order of names."""
    rg = None if ignore_file_waits(root) else ripgrep(environ)
    listed = _listed(rg, root, hidden, environ) if rg else None
    return iter(listed) if listed is not None else walked(root, hidden)


def walked(root: Path, hidden: bool) -> Iterator[Path]:
    """The same without ripgrep."""
    return walk(root, hidden=hidden, ignored=all_below(root))


_KERNEL = (Path("/proc"), Path("/sys"))


def unending(path: Path) -> bool:
    """Whether the kernel makes up what is read at `path` (real): such files call themselves regular, but some
    wait for more or have no end."""
    return any(path.is_relative_to(place) for place in _KERNEL)


def unending_below(root: Path) -> tuple[Path, ...]:
    """The places of which `unending` is true inside the folder `root`."""
    return tuple(place for place in _KERNEL if place != root and place.is_relative_to(root))


def odd_kind(mode: int) -> str:
    """`a FIFO`, `a socket` or `a device`, which nothing here ever opens; empty for files, folders and links."""
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode):
        return ""
    kinds = ((stat.S_ISFIFO, "a FIFO"), (stat.S_ISSOCK, "a socket"))
    return next((name for test, name in kinds if test(mode)), "a device")


def ignore_file_waits(root: Path) -> bool:
    """Whether a `.gitignore` in `root` or above is a FIFO or a device: ripgrep would read it and wait."""
    for folder in (root, *root.parents):
        with suppress(OSError):
            if odd_kind(os.stat(folder / ".gitignore").st_mode):
                return True
    return False


def is_plain(path: Path) -> bool:
    """A regular file and no link to one: a link could lead out of the folder searched."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _listed(rg: str, root: Path, hidden: bool, environ: Mapping[str, str]) -> list[Path] | None:
    """None if ripgrep cannot be used here."""
    command = [rg, "--files", "--null", *rg_options(root, hidden), "--", os.fspath(root)]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, env=child_env(environ), timeout=_TIME_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode not in (0, 1):
        return None
    return [Path(os.fsdecode(name)) for name in done.stdout.split(b"\0") if name]
