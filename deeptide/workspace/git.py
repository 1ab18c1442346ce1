"""What git says about the workspace, in one line for the model's first note.

Invariant: asking takes at most the time given, changes nothing in the repository (no index refresh) and runs
no program that the repository names: with settings that could name one, only the branch is read.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from deeptide.protocol.text import clean
from deeptide.workspace.environment import child_env
from deeptide.workspace.git_config import named_program

_GIT = ("git", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
_STATUS = (*_GIT, "status", "--porcelain=v2", "--branch", "--no-renames", "--ignore-submodules=all")
_BRANCH = (*_GIT, "symbolic-ref", "--quiet", "--short", "HEAD")


def status_line(root: Path, timeout_s: float = 2.0) -> str:
    """`on main, 2 ahead of origin/main; 3 changed, 1 untracked` or `on main; clean`.

    Empty without git or outside a repository. Blocks up to `timeout_s`: call it in a thread from an event
    loop.
    """
    program = named_program(root)
    listing, slow = _ask(_BRANCH if program else _STATUS, root, timeout_s)
    if slow:
        return "in a git repository whose status takes too long to read"
    if not program:
        return _summed_up(listing) if listing else ""
    branch = clean(listing.strip())
    return (
        f"on {branch}; not looked for changes: its own settings ({program}) may run programs"
        if branch
        else ""
    )


def _ask(command: tuple[str, ...], root: Path, timeout_s: float) -> tuple[str, bool]:
    """What `command` says (empty if it fails), and whether it had to be stopped."""
    # No object is fetched from elsewhere on the way: that too would run what the settings name.
    env = child_env(os.environ) | {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
    try:
        process = subprocess.Popen(
            command,
            cwd=root,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return "", False
    try:
        listing, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return "", True
    return ("" if process.returncode else listing.decode("utf-8", "replace")), False


def _summed_up(listing: str) -> str:
    head: dict[str, str] = {}
    changed = untracked = conflicts = 0
    for line in listing.splitlines():
        if line.startswith("# branch."):
            name, _, value = line[9:].partition(" ")
            head[name] = value
        elif line.startswith("?"):
            untracked += 1
        elif line.startswith("u"):
            conflicts += 1
        else:
            changed += 1
    counts = ((changed, "changed"), (conflicts, "in conflict"), (untracked, "untracked"))
    dirt = ", ".join(f"{number} {what}" for number, what in counts if number) or "clean"
    return clean(f"{_place(head)}; {dirt}")


def _place(head: dict[str, str]) -> str:
    branch, commit = head.get("head", ""), head.get("oid", "")
    if commit == "(initial)":
        return f"on {branch}, no commit yet"
    place = f"at commit {commit[:10]}, no branch" if branch == "(detached)" else f"on {branch}"
    ahead, _, behind = head.get("ab", "").partition(" ")
    distances = ((ahead[1:], "ahead of"), (behind[1:], "behind"))
    away = [f"{number} {word}" for number, word in distances if number not in ("", "0")]
    return f"{place}, {' and '.join(away)} {head.get('upstream', '')}" if away else place
