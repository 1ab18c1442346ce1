"""`doctor`: is everything in order, and where does it all lie.

Invariant: it changes nothing, sends nothing, and never prints a key.
"""

from __future__ import annotations

import locale
import os
import platform
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from deeptide import __version__
from deeptide.cli.invocation import Invocation
from deeptide.cli.terminal import is_tty, say
from deeptide.config.auth import find_key
from deeptide.config.load import Loaded, load
from deeptide.config.paths import Paths, find_paths, project_file
from deeptide.config.trust import is_trusted
from deeptide.headless.exits import Exit
from deeptide.protocol.errors import DeepTideError
from deeptide.session.store import Store

MARKS = {"ok": "ok  ", "note": "note", "wrong": "FAIL"}


class Finding(msgspec.Struct, frozen=True):
    """One line of the report. `wrong` makes the exit code 1."""

    level: Literal["ok", "note", "wrong"]
    subject: str
    text: str


def run_doctor(call: Invocation) -> int:
    """Prints the findings; 1 if one of them is wrong. Raises UsageError when the folder is none."""
    findings = list(examine(call.workspace))
    for found in findings:
        say(f"{MARKS[found.level]}  {found.subject:<10} {found.text}")
    return Exit.FAILED if any(found.level == "wrong" for found in findings) else Exit.OK


def examine(workspace: Path) -> Iterator[Finding]:
    """Everything worth knowing about this installation as used from `workspace`."""
    yield Finding(
        "ok", "version", f"deeptide {__version__}, Python {platform.python_version()}, {sys.executable}"
    )
    try:
        paths = find_paths()
        trusted = is_trusted(paths, workspace)
        loaded = load(paths, workspace, trusted=trusted)
    except DeepTideError as error:
        yield Finding("wrong", "settings", f"{error} {error.advice}".strip())
        return
    yield from _settings(paths, loaded, workspace, trusted)
    yield from _key(paths, loaded)
    yield from _data(paths)
    yield from _terminal()
    yield from _programs()


def _settings(paths: Paths, loaded: Loaded, workspace: Path, trusted: bool) -> Iterator[Finding]:
    state = "" if paths.config_file.exists() else " (none yet; defaults apply)"
    yield Finding("ok", "settings", f"{paths.config_file}{state}")
    for notice in loaded.notices:
        yield Finding("note", "settings", notice)
    model = loaded.settings.model
    yield Finding("ok", "model", f"{model.name}, effort {model.effort}, {model.base_url}")
    word = "trusted" if trusted else "not trusted"
    own = ", has its own settings" if project_file(workspace).is_file() else ""
    yield Finding("ok", "folder", f"{workspace}: {word}{own}")


def _key(paths: Paths, loaded: Loaded) -> Iterator[Finding]:
    try:
        key = find_key(paths, loaded.settings.model.base_url)
    except DeepTideError as error:
        yield Finding("wrong", "key", f"{error} {error.advice}")
        return
    if key.value:
        yield Finding("ok", "key", f"from {key.source}")
    else:
        yield Finding("note", "key", "none; set DEEPSEEK_API_KEY or run `deeptide login`")
    if paths.auth_file.exists() and stat.S_IMODE(paths.auth_file.stat().st_mode) & 0o077:
        yield Finding("wrong", "key", f"others can read {paths.auth_file}: run `chmod 600` on it")


def _data(paths: Paths) -> Iterator[Finding]:
    if not paths.home.exists():
        yield Finding("ok", "data", f"{paths.home} (made at the first use)")
        return
    sessions = Store(paths.home).list()
    megabytes = sum(info.size for info in sessions) / 1e6
    number = "1 session" if len(sessions) == 1 else f"{len(sessions)} sessions"
    yield Finding("ok", "data", f"{paths.home}: {number}, {megabytes:.1f} MB of logs")
    if not os.access(paths.home, os.W_OK | os.X_OK):
        yield Finding("wrong", "data", f"{paths.home} cannot be written to")
    if stat.S_IMODE(paths.home.stat().st_mode) & 0o077:
        yield Finding("note", "data", f"others can look into {paths.home}: run `chmod 700` on it")


def _terminal() -> Iterator[Finding]:
    term, colours = os.environ.get("TERM", ""), os.environ.get("COLORTERM", "")
    drawn = is_tty(0) and is_tty(1) and term != "dumb"
    size = shutil.get_terminal_size()
    text = f"TERM={term or '(unset)'}, COLORTERM={colours or '(unset)'}, {size.columns}x{size.lines}"
    level: Literal["ok", "note"] = "ok" if drawn else "note"
    yield Finding(level, "terminal", text if drawn else f"{text}; no screen here, `deeptide exec` works")
    encoding = locale.getpreferredencoding(False)
    if encoding.lower().replace("-", "") != "utf8":
        yield Finding("note", "terminal", f"the locale's encoding is {encoding}; UTF-8 shows more")


def _programs() -> Iterator[Finding]:
    beside = Path(sys.executable).parent / "rg"
    found = shutil.which("rg") or (str(beside) if beside.exists() else "")
    yield Finding("ok", "search", found or "built in (ripgrep is faster in large trees)")
    git = shutil.which("git")
    yield Finding("ok" if git else "note", "git", git or "not found; the agent sees no branch or status")
