"""What git says about the workspace, in one line for the model's first note.

Invariant: asking takes at most the time given, changes nothing in the repository (no index refresh) and runs
no program that the repository names in its configuration as a monitor.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from deeptide.protocol.text import clean
from deeptide.workspace.environment import child_env

_COMMAND = ("git", "-c", "core.fsmonitor=false", "status", "--porcelain=v2", "--branch", "--no-renames")


def status_line(root: Path, timeout_s: float = 2.0) -> str:
    """`on main, 2 ahead of origin/main; 3 changed, 1 untracked` or `on main; clean`.

    Empty without git or outside a repository. Blocks up to `timeout_s`: call it in a thread from an event
    loop.
    """
    try:
        process = subprocess.Popen(
            _COMMAND,
            cwd=root,
            env=child_env(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return ""
    try:
        listing, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return "in a git repository whose status takes too long to read"
    return "" if process.returncode else _summed_up(listing.decode("utf-8", "replace"))


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
