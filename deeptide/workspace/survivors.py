"""Finding and ending every process that a command has left behind.

Invariant: after `end_all` no process of the command runs that the system lets us see and signal: its session,
its group, its descendants, and whoever carries its marker in the environment, also after `setsid` or `nohup`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import msgspec

MARKER = "DEEPTIDE_CALL"
"""The environment variable that marks all processes of one command."""

_STEP_S = 0.03


class Process(msgspec.Struct, frozen=True):
    pid: int
    parent: int
    group: int
    session: int
    zombie: bool


def table() -> dict[int, Process]:
    """All processes, by pid."""
    found = _from_proc() if sys.platform == "linux" else _from_ps()
    return {process.pid: process for process in found}


def _from_proc() -> list[Process]:
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        with suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
            # The name in parentheses may hold spaces and parentheses itself.
            state, parent, group, session = file.read().rsplit(b")", 1)[1].split()[:4]
            found.append(Process(int(name), int(parent), int(group), int(session), state in (b"Z", b"X")))
    return found


def _from_ps() -> list[Process]:
    listing = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,pgid=,stat="], capture_output=True, text=True, timeout=5, check=False
    )
    found = []
    for line in listing.stdout.splitlines():
        with suppress(ValueError):
            pid, parent, group, state = line.split()[:4]
            found.append(Process(int(pid), int(parent), int(group), 0, state.startswith("Z")))
    return found


def _marked(pid: int, marker: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return marker in file.read()
    except OSError:
        return False


def survivors(shell: int, marker: str, known: frozenset[int] = frozenset()) -> frozenset[int]:
    """Living processes of the command whose shell had pid `shell`; `known` are pids found earlier."""
    processes = table()
    needle = f"{MARKER}={marker}".encode()
    own = os.getpid()
    members = {
        pid
        for pid, process in processes.items()
        # Not by the bare pid: the shell leads its own session, and its number may be somebody else's by now.
        if shell in (process.group, process.session) or pid in known or _marked(pid, needle)
    } - {own}
    children: dict[int, list[int]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process.pid)
    waiting = list(members)
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in members and child != own:
                members.add(child)
                waiting.append(child)
    return frozenset(pid for pid in members if not processes[pid].zombie)


def end_all(shell: int, marker: str, grace_s: float) -> frozenset[int]:
    """TERM, up to `grace_s` seconds of waiting, then KILL until nobody is left. Blocks: call it in a thread.

    Returns the pids that could not be ended (another user's). With `grace_s` 0 there is no TERM.
    """
    left = survivors(shell, marker)
    if grace_s > 0 and left:
        # Held still first: a shell whose child dies before it would go on to its next command.
        _signal(left, signal.SIGSTOP)
        left |= survivors(shell, marker, left)
        _signal(left, signal.SIGTERM)
        _signal(left, signal.SIGCONT)
        deadline = time.monotonic() + grace_s
        while left and time.monotonic() < deadline:
            time.sleep(_STEP_S)
            left = survivors(shell, marker, left)
    for _ in range(60):
        if not left:
            break
        # Stopped first, all of them, so that a forking crowd cannot outrun the killing.
        _signal(left, signal.SIGSTOP)
        left |= survivors(shell, marker, left)
        if not _signal(left, signal.SIGKILL):
            break
        time.sleep(_STEP_S / 3)
        left = survivors(shell, marker, left)
    return left


def _signal(pids: frozenset[int], number: signal.Signals) -> int:
    """How many took it."""
    taken = 0
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
            taken += 1
    return taken
