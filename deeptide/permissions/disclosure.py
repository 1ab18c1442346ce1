"""What a command that only reads would show, and whether that may be a secret.

Invariant: the content of a file is free only if its name is written in the line, or every name that can be meant is
known to hold none; what may be any file is asked about.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from itertools import islice

from deeptide.permissions.evaluation import NAME
from deeptide.permissions.levels import FINE, Level, Ruling
from deeptide.permissions.places import Places
from deeptide.permissions.secrets import SECRET_VARIABLE, guarded
from deeptide.permissions.segments import MAYBE_ANYWHERE, Redirect, Segment, names
from deeptide.permissions.words import Arg, plain
from deeptide.permissions.wrappers import FEEDING, unwrap

_SHOWS_ENVIRONMENT = names("env printenv set export declare typeset")
_NAMES_ONLY = names(
    """
    rm mv cp touch mkdir ls stat find gfind fd fdfind test [ chmod echo printf cd pushd popd chdir rmdir ln unlink
    basename dirname realpath readlink true false : pwd which type command sleep exit return break continue shift
    read seq tree du df unset local export declare typeset readonly set shopt hash wait umask id tput kill
    mapfile readarray let trap alias eval exec env time timeout nohup nice xargs whereis colrm factor numfmt tr ps
    source .
    """
)
_GREP_DEEP = r"(^|\s)-[a-zA-Z]*[rRd]|--(dereference-)?rec|--dir"
_RECURSIVE = {
    **dict.fromkeys(("grep", "egrep", "fgrep", "zgrep", "bzgrep", "xzgrep"), _GREP_DEEP),
    "diff": r"(^|\s)-[a-zA-Z]*r|--rec",
    "rg": "",
    "ag": "",
    "ack": "",
}
_HIDDEN_TOO = {"rg": r"--hid|-uu|--unr|--no-ig|(^|\s)-\w*[.u]", "ag": r"--hidden|-\w*[uU]|--unr", "ack": "^"}
_PRUNED = frozenset(
    {".git", "node_modules", ".venv", "venv", "__pycache__", ".mypy_cache", ".tox", "site-packages"}
)
_MOST_ENTRIES = 20_000
_MOST_MATCHES = 2_000
_WILD = re.compile(r"[*?\[]")
_PUBLIC = ("/usr/", "/etc/os-release", "/opt/homebrew/")


class Disclosure:
    """Judges what a segment or a redirect shows."""

    def __init__(self, places: Places) -> None:
        self._places = places

    def segment(self, segment: Segment) -> Ruling:
        name = segment.name
        if name in _SHOWS_ENVIRONMENT and _shows_environment(segment):
            return Ruling(Level.ASK, "environment", "It shows the environment, which may hold secrets.")
        if name not in _NAMES_ONLY:
            for arg in segment.rest:
                found = self._places.secret(arg, segment.cwds)
                if found:
                    return Ruling(Level.ASK, "secret file", f"{found} may hold secrets.", clearable=False)
        if name in {"echo", "printf", "cat"} and any(SECRET_VARIABLE.search(arg.raw) for arg in segment.rest):
            return Ruling(Level.ASK, "secret variable", "It shows a variable that may hold a secret.")
        return FINE

    def redirect(self, redirect: Redirect, segment: Segment) -> Ruling:
        """`< FILE`."""
        found = self._places.secret(redirect.target, segment.cwds)
        if found:
            return Ruling(
                Level.ASK, "secret file", f"{redirect.target.text} may hold secrets.", clearable=False
            )
        if not redirect.target.known:
            return Ruling(Level.ASK, "unknown file", "Which file it reads is not known.", clearable=False)
        return FINE

    def reader(self, segment: Segment) -> Ruling:
        """The ruling on a command that does nothing but read: free if what it shows is known to hold no
        secrets."""
        shown = self._shown(segment) if segment.name not in _NAMES_ONLY else ""
        return Ruling(Level.ASK, "unknown file", shown, clearable=False) if shown else FINE

    def _shown(self, segment: Segment) -> str:
        """Why what is shown may hold secrets; empty if it cannot."""
        fed = any(
            wrapper in FEEDING or wrapper in {"find", "gfind", "fd", "fdfind"} for wrapper in segment.via
        )
        if fed and not (segment.plainly_fed and self._all_inside(segment.feed, segment.cwds)):
            return "Which files it reads is not known, and some may hold secrets."
        if not fed and any(not arg.known for arg in segment.rest):
            return "Which file it reads is not known."
        relative = any(not arg.text.startswith(("-", "/")) for arg in segment.rest)
        if MAYBE_ANYWHERE in segment.cwds and relative:
            return "The folder it reads in is not known."
        globs = self._globs(segment)
        return globs or self._recursion(segment)

    def _all_inside(self, args: tuple[Arg, ...], cwds: tuple[str, ...]) -> bool:
        return all(
            arg.known and self._inside(plain(value), cwd)
            for arg in args
            for value in arg.values
            for cwd in cwds
        )

    def _inside(self, value: str, cwd: str) -> bool:
        if cwd == MAYBE_ANYWHERE and not os.path.isabs(value):
            return False
        path = os.path.join(cwd, value)
        return self._places.inside(os.path.normpath(path)) and (
            self._places.inside(os.path.realpath(path)) or not os.path.exists(path)
        )

    def _globs(self, segment: Segment) -> str:
        for arg in segment.rest:
            for value in arg.values:
                if not _WILD.search(value) or (arg.text.startswith("-") and "/" not in value):
                    continue
                for cwd in segment.cwds:
                    why = self._glob(value, cwd)
                    if why:
                        return why
        return ""

    def _glob(self, pattern: str, cwd: str) -> str:
        if cwd == MAYBE_ANYWHERE and not os.path.isabs(pattern):
            return "Which files it reads is not known."
        full = os.path.normpath(os.path.join(cwd, pattern))
        if any(part.startswith(".") and _WILD.search(part) for part in full.split("/")):
            return f"{plain(pattern)} may be any hidden file."
        head = full[: _WILD.search(full).start()].rpartition("/")[0]  # type: ignore[union-attr]
        if not (self._inside(head, cwd) or head.startswith(_PUBLIC)):
            return f"{plain(pattern)} reaches outside the workspace."
        found = list(islice(glob.iglob(plain(full)), _MOST_MATCHES))
        if len(found) == _MOST_MATCHES:
            return f"{plain(pattern)} is too many files to look at."
        secret = next((path for path in found if guarded(path, self._places.home)), "")
        return f"{secret} may hold secrets." if secret else ""

    def _recursion(self, segment: Segment) -> str:
        name = segment.name
        flags = " ".join(text for text in segment.texts if text.startswith("-"))
        if name not in _RECURSIVE or not re.search(_RECURSIVE[name], flags):
            return ""
        operands = [plain(v) for arg in segment.rest if not arg.text.startswith("-") for v in arg.values]
        patterned = name == "diff" or re.search(r"(^|\s)(-\w*[ef]|--regexp|--file|--files)", flags)
        folders = operands if patterned else operands[1:]
        piped = name in {"rg", "ag", "ack"} and segment.piped
        for folder in folders or ([] if piped else ["."]):
            for cwd in segment.cwds:
                why = self._searched(folder, cwd, name, flags)
                if why:
                    return why
        return ""

    def _searched(self, folder: str, cwd: str, name: str, flags: str) -> str:
        path = os.path.normpath(os.path.join("/" if cwd == MAYBE_ANYWHERE else cwd, folder))
        if not (self._inside(folder, cwd) or path.startswith(_PUBLIC)):
            return f"{folder} reaches outside the workspace, and what lies there may hold secrets."
        if name in _HIDDEN_TOO and not re.search(_HIDDEN_TOO[name], flags):
            return ""
        only = re.findall(r"--include=(\S+)", flags)
        for number, found in enumerate(_below(path)):
            if number > _MOST_ENTRIES:
                return f"{folder} is too large to look for secrets in."
            if guarded(found, self._places.home) and (not only or _fits(found, only)):
                return f"It also searches {os.path.relpath(found, path)}, which may hold secrets."
        return ""


def _below(path: str) -> Iterator[str]:
    for folder, inner, files in os.walk(path):
        inner[:] = [name for name in inner if name not in _PRUNED]
        yield from (os.path.join(folder, name) for name in files)


def _fits(path: str, patterns: list[str]) -> bool:
    return any(fnmatch(os.path.basename(path), pattern) for pattern in patterns)


def _shows_environment(segment: Segment) -> bool:
    if segment.name in {"set", "typeset", "export", "declare"}:
        if segment.assigns or any(NAME.match(text) for text in segment.texts):
            return bool(re.search(r"(^| )-\w*p", " ".join(segment.texts)))
        return all(re.match(r"-[pxfFrAaig]*\Z", text) for text in segment.texts)
    return unwrap(segment.name, segment.rest) is None
