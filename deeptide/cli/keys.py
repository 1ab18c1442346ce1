"""`login` and `logout`: a key in, a key out.

Invariant: a key is never an argument (others can read those) and is never printed.
"""

from __future__ import annotations

import getpass
import sys

from deeptide.cli.invocation import Invocation
from deeptide.cli.terminal import is_tty, say
from deeptide.config.auth import forget_key, host_of, store_key
from deeptide.config.load import load
from deeptide.config.paths import find_paths
from deeptide.headless.exits import Exit
from deeptide.protocol.errors import UsageError


def run_keys(call: Invocation) -> int:
    """Stores or forgets the key of one endpoint. Raises UsageError, ConfigError, WorkspaceError."""
    paths = find_paths()
    base_url = call.base_url or load(paths).settings.model.base_url
    host = host_of(base_url)
    if call.command == "logout":
        gone = forget_key(paths, base_url)
        say(f"The key for {host} is forgotten." if gone else f"No key was stored for {host}.")
        return Exit.OK
    key = _typed(host) if is_tty(0) else sys.stdin.readline()
    if not key.strip():
        raise UsageError("No key was given; nothing was stored.", "Paste it when asked, or pipe it in.")
    store_key(paths, base_url, key)
    say(f"The key for {host} is stored in {paths.auth_file} (readable by you alone).")
    return Exit.OK


def _typed(host: str) -> str:
    try:
        return getpass.getpass(f"API key for {host} (not shown): ")
    except EOFError:
        return ""
