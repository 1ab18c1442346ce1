"""What it would mean to delete or write at a place.

Invariant: judged on the resolved path, for every reading of a word and every folder the command may run in;
the worst reading counts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

from deeptide.permissions.levels import FINE, Level, Ruling, worst
from deeptide.permissions.secrets import guarded
from deeptide.permissions.segments import MAYBE_ANYWHERE
from deeptide.permissions.words import Arg, plain

_SYSTEM = frozenset(
    {
        "/bin",
        "/boot",
        "/dev",
        "/etc",
        "/home",
        "/lib",
        "/lib32",
        "/lib64",
        "/media",
        "/mnt",
        "/opt",
        "/proc",
        "/root",
    }
    | {
        "/run",
        "/sbin",
        "/srv",
        "/sys",
        "/usr",
        "/var",
        "/var/lib",
        "/var/log",
        "/var/cache",
        "/var/spool",
        "/snap",
    }
    | {"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/local", "/usr/share", "/usr/include", "/nix"}
    | {"/usr/local/bin", "/usr/local/lib", "/usr/local/share", "/etc/ssl", "/etc/systemd", "/nix/store"}
    | {
        "/System",
        "/Library",
        "/Applications",
        "/Users",
        "/Volumes",
        "/private",
        "/private/etc",
        "/private/var",
    }
    | {"/cores", "/Network", "/opt/homebrew", "/mnt/c", "/mnt/c/Windows", "/mnt/c/Users"}
)
_SYSTEM_TREES = ("/bin/", "/boot/", "/etc/", "/lib/", "/lib64/", "/sbin/", "/usr/", "/sys/", "/proc/", "/var/lib/",
                 "/System/", "/Library/", "/private/etc/", "/opt/")  # fmt: skip
_SHARED = frozenset({"/tmp", "/var/tmp", "/dev/shm", "/private/tmp"})
_SINKS = re.compile(r"/dev/(null|zero|full|stdout|stderr|stdin|tty|fd/\d+)\Z")
_EVERYTHING = re.compile(r"[.*?]*\*[.*?]*\Z|\.?\[[!^].?\]\*\Z|\.\?\?\*\Z")
_WILD = re.compile(r"[*?\[]")


class Places:
    """`roots`: the workspace first, then the other folders that may be written, as real paths."""

    def __init__(self, roots: Iterable[str], home: str) -> None:
        self.roots = tuple(roots)
        self.home = home

    # ---- deleting ------------------------------------------------------------------------------------

    def delete(self, arg: Arg, cwds: tuple[str, ...], *, narrow: bool = False, deep: bool = False) -> Ruling:
        """`narrow`: only files chosen by some test go, not the whole. `deep`: whole folders go, or without a
        question of the program itself."""
        ruling = worst(self._delete_value(value, cwd) for value in arg.values for cwd in cwds)
        if not arg.known and deep and ruling.level < Level.STRONG:
            reason = f"It deletes {arg.raw}, and what that stands for is not known."
            return Ruling(Level.STRONG, "unknown target", reason, clearable=False)
        if arg.dynamic and ruling.level < Level.ASK:
            return Ruling(Level.ASK, "delete", f"What {arg.raw} stands for is not known.")
        if narrow and ruling.level is Level.REFUSE and "device" not in ruling.rule:
            return Ruling(Level.STRONG, ruling.rule, ruling.reason, clearable=False)
        if narrow and ruling.level is Level.STRONG and ruling.rule == "workspace wipe":
            return Ruling(Level.ASK, "delete", "It deletes files in the workspace.")
        return ruling

    def _delete_value(self, value: str, cwd: str) -> Ruling:
        if not value:
            return FINE
        trailing = value.endswith("/")
        value = value.rstrip("/") or "/"
        contents = False
        while _EVERYTHING.match(value.rpartition("/")[2]) and value not in {".", ".."}:
            contents = True
            value = value.rpartition("/")[0] or ("/" if value.startswith("/") else ".")
        path = self._absolute(value, cwd)
        if path is None:
            return Ruling(
                Level.STRONG, "unknown folder", "The folder it deletes in is not known.", clearable=False
            )
        if _WILD.search(path):
            return self._delete_pattern(path)
        spots = {path, os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))}
        if trailing or contents:
            spots.add(os.path.realpath(path))
        return worst(self._delete_path(spot) for spot in sorted(spots))

    def _delete_pattern(self, pattern: str) -> Ruling:
        """A pattern is judged as the worst protected place that it fits."""
        places = [*_SYSTEM, self.home, *_above(self.home)]
        for root in self.roots:
            places.extend((root, *_above(root), os.path.join(root, ".git")))
        fitting = [place for place in dict.fromkeys(places) if _fits(plain(place), pattern)]
        ruling = worst(self._delete_path(place) for place in fitting)
        base = plain(pattern[: _WILD.search(pattern).start()])  # type: ignore[union-attr]
        return worst((ruling, self._delete_path(os.path.join(os.path.dirname(base), "_"))))

    def _delete_path(self, path: str) -> Ruling:
        protected = self._protected(path)
        if protected:
            rule, what = protected
            return Ruling(Level.REFUSE, rule, f"It would destroy {what}.", clearable=False)
        if path in self.roots:
            return Ruling(Level.STRONG, "workspace wipe", "It would empty the workspace.", clearable=False)
        if _in_git(path):
            return Ruling(Level.STRONG, "git data", "It would destroy the history in .git.", clearable=False)
        if path.startswith(_SYSTEM_TREES) or path in _SHARED:
            return Ruling(Level.STRONG, "system file", f"{path} belongs to the system.", clearable=False)
        if self.inside(path):
            return Ruling(Level.ASK, "delete", "It deletes files in the workspace.")
        return Ruling(
            Level.ASK, "outside the workspace", f"It deletes outside the workspace: {path}", clearable=False
        )

    def _protected(self, path: str) -> tuple[str, str] | None:
        """Places that are never deleted: the name of the rule and the place in words."""
        if path == "/":
            return "root", "the root of the file system"
        if path == self.home:
            return "home", "your home folder"
        if path in _above(self.home):
            return "home", f"{path}, which holds your home folder"
        if any(path in _above(root) for root in self.roots):
            return "folder above the workspace", f"{path}, which holds the workspace"
        if path in _SYSTEM or re.fullmatch(r"/(home|Users)/[^/]+", path):
            inside = any(path == root for root in self.roots)
            return None if inside and path not in _SYSTEM else ("system folder", f"the system folder {path}")
        if _device(path):
            return "device", f"the device {path}"
        return None

    # ---- writing -------------------------------------------------------------------------------------

    def write(self, arg: Arg, cwds: tuple[str, ...]) -> Ruling:
        ruling = worst(self._write_value(value, cwd) for value in arg.values for cwd in cwds)
        if arg.dynamic and ruling.level < Level.ASK:
            return Ruling(Level.ASK, "unknown place", f"Where {arg.raw} lies is not known.", clearable=False)
        return ruling

    def _write_value(self, value: str, cwd: str) -> Ruling:
        if re.match(r"/dev/(tcp|udp)/", value):
            return Ruling(Level.STRONG, "network", "It opens a network connection.", clearable=False)
        path = self._absolute(plain(value), cwd)
        if path is None:
            return Ruling(
                Level.ASK, "unknown place", "The folder it writes in is not known.", clearable=False
            )
        if _SINKS.match(path):
            return FINE
        return worst(self.write_path(spot) for spot in sorted({path, os.path.realpath(path)}))

    def write_path(self, path: str) -> Ruling:
        """`path` absolute and resolved."""
        if _device(path):
            return Ruling(Level.REFUSE, "device", f"It would overwrite the device {path}.", clearable=False)
        if path.startswith(_SYSTEM_TREES) and not self.inside(path):
            return Ruling(Level.STRONG, "system file", f"{path} belongs to the system.", clearable=False)
        if not self.inside(path):
            level = Level.STRONG if guarded(path, self.home) else Level.ASK
            return Ruling(
                level, "outside the workspace", f"It writes outside the workspace: {path}", clearable=False
            )
        if _in_git(path):
            return Ruling(
                Level.ASK, "git data", "It changes .git, which can run programs later.", clearable=False
            )
        if guarded(path, self.home):
            return Ruling(Level.ASK, "secret file", f"{path} may hold secrets.", clearable=False)
        return Ruling(Level.SANDBOXED, "edit", "It writes in the workspace.")

    # ---- both ----------------------------------------------------------------------------------------

    def inside(self, path: str) -> bool:
        """Whether the absolute `path` lies in the workspace or another root."""
        return any(path == root or path.startswith(root.rstrip("/") + "/") for root in self.roots)

    def secret(self, arg: Arg, cwds: tuple[str, ...]) -> str:
        """The first reading of `arg` that names a guarded file, or empty."""
        for value in arg.values:
            pieces = {value, value.rpartition("=")[2], value.rpartition(":")[2], value.lstrip("@<")}
            if value.startswith("-"):
                pieces |= {value[2:], value[3:]}
            for piece in sorted(pieces):
                for cwd in cwds:
                    path = self._absolute(plain(piece), "/" if cwd == MAYBE_ANYWHERE else cwd)
                    if piece and path is not None and self._guarded(path, plain(piece), cwd):
                        return plain(piece)
        return ""

    def _guarded(self, path: str, written: str, cwd: str) -> bool:
        """Also by what a link leads to, and whatever `..` after a link may lead to in /proc and /dev/fd."""
        if guarded(path, self.home) or (".." in written and re.search(r"/(proc|dev/fd)/", written)):
            return True
        if _WILD.search(path) or path.startswith("/dev/"):
            return False
        real = os.path.realpath(
            os.path.join("/" if cwd == MAYBE_ANYWHERE else cwd, os.path.expanduser(written))
        )
        return real != path and guarded(real, self.home)

    def _absolute(self, value: str, cwd: str) -> str | None:
        if value == "~" or value.startswith("~/"):
            value = self.home + value[1:]
        if os.path.isabs(value):
            return "/" + os.path.normpath(value).lstrip("/")
        return None if cwd == MAYBE_ANYWHERE else os.path.normpath(os.path.join(cwd, value))


def _above(path: str) -> list[str]:
    """The folders that hold `path`, root last."""
    found = []
    while path not in {"/", ""}:
        path = os.path.dirname(path)
        found.append(path)
    return found


def _in_git(path: str) -> bool:
    return ".git" in path.split("/")


def _device(path: str) -> bool:
    return path.startswith("/dev/") and not _SINKS.match(path) and not path.startswith("/dev/shm/")


def _fits(place: str, pattern: str) -> bool:
    """Whether `pattern`, component by component, can name `place`."""
    parts, patterns = place.split("/"), pattern.split("/")
    return len(parts) == len(patterns) and all(
        fnmatchcase(part, one) for part, one in zip(parts, patterns, strict=True)
    )
