"""`@file` in what the user types: the file's content goes with the message, the words stay as typed.

Invariant: a mention never widens what may be read: guarded files and binary ones are named, not included.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from deeptide.protocol.errors import WorkspaceError
from deeptide.protocol.text import clean
from deeptide.workspace.files import decode, is_binary, read_bytes
from deeptide.workspace.roots import Roots

MENTION = re.compile(r"(?<![A-Za-z0-9_@/.])@(?:\"([^\"\n]+)\"|([^\s@\"',;:!?()\[\]{}<>，。；：！？（）]+))")
CAP = 24_000
NAMES = 200


def find_mentions(text: str) -> tuple[str, ...]:
    """The paths after `@`, each once, in order; `@"a path"` may hold spaces. Trailing dots are not part of it."""
    found = [(quoted or bare.rstrip(".")) for quoted, bare in MENTION.findall(text)]
    return tuple(dict.fromkeys(path for path in found if path))


def _listing(folder: Path) -> str:
    names = sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in folder.iterdir())
    shown = [" ".join(clean(name).split("\n")) for name in names[:NAMES]]
    more = len(names) - len(shown)
    return "\n".join([*shown, f"… and {more:,} more"] if more else shown)


def read_mention(path: str, roots: Roots, guarded: Callable[[Path], bool]) -> str | None:
    """The note for one mention, or None when nothing of that name exists (then `@name` is just words)."""
    try:
        target = roots.resolve(path)
        if not target.exists():
            return None
        if target.is_dir():
            return f"The user mentioned the folder {path}. It holds:\n{_listing(target)}"
        if guarded(target):
            return f"The user mentioned {path}. It may hold secrets, so its content is not included."
        data = read_bytes(target)
    except ValueError:
        return None
    except (WorkspaceError, OSError) as error:
        return f"The user mentioned {path}; it could not be read: {error}"
    if is_binary(data):
        return (
            f"The user mentioned {path}, a binary file of {len(data):,} bytes; its content is not included."
        )
    text = clean(decode(data).text)
    if len(text) > CAP:
        cut = f"\n… ({len(text) - CAP:,} more characters; use the read tool for the rest)"
        text = text[:CAP] + cut
    return f"The user mentioned {path}. Its content:\n{text}"
