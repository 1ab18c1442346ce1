"""`sessions`: the list, and moving one to the trash.

Invariant: nothing is deleted for good here; the trash keeps a session for 30 days.
"""

from __future__ import annotations

import time

import msgspec

from deeptide.cli.invocation import Invocation
from deeptide.cli.terminal import ask_yes, is_tty, say
from deeptide.config.paths import find_paths
from deeptide.headless.exits import Exit
from deeptide.protocol.errors import UsageError
from deeptide.session.store import TRASH_DAYS, SessionInfo, Store


def run_sessions(call: Invocation) -> int:
    """Raises UsageError, SessionError."""
    store = Store(find_paths().home)
    workspace = str(call.workspace)
    if call.action == "delete":
        return _delete(store, call, workspace)
    if call.selector:
        raise UsageError("`sessions list` takes no name.", "Did you mean `deeptide --resume NAME`?")
    found = store.list(None if call.everywhere else workspace)
    if call.output == "json":
        say(msgspec.json.encode(found, enc_hook=str).decode())
    elif found:
        say("\n".join(_row(info, call.everywhere) for info in found))
    else:
        say("No sessions here." if call.everywhere else "No sessions in this folder; --all lists every one.")
    return Exit.OK


def _delete(store: Store, call: Invocation, workspace: str) -> int:
    if not call.selector:
        raise UsageError("Which session?", "Give its id, the start of one, or `latest`.")
    info = store.find(call.selector, workspace)
    if not call.yes:
        if not is_tty(0):
            raise UsageError("Deleting asks first, and there is no terminal to ask on.", "Add --yes.")
        if not ask_yes(f"Move {info.id} ({info.name}) to the trash?"):
            say("Nothing was deleted.")
            return Exit.OK
    store.trash(info.id)
    say(f"{info.id} is in the trash for {TRASH_DAYS} days: {store.trash_root}")
    return Exit.OK


def _row(info: SessionInfo, everywhere: bool) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.updated))
    place = f"  {info.workspace}" if everywhere else ""
    turns = "turn " if info.turns == 1 else "turns"
    return f"{info.id}  {when}  {info.turns:>4} {turns}  {info.name}{place}"
