"""`@file` mentions: which word is being typed, and which paths of the workspace fit it best.

Invariant: ranking is pure and deterministic.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_OPEN = re.compile(r"(?:^|(?<=\s))@([^\s@]*)$")


def open_mention(before_caret: str) -> str | None:
    """What follows the `@` that the caret is in, or None when the caret is in no mention."""
    match = _OPEN.search(before_caret)
    return match[1] if match else None


def score(query: str, path: str) -> int | None:
    """How well `path` fits: higher is better, None not at all. All letters must occur in order; a run in the
    file name beats one in the folders, and a short path beats a long one."""
    if not query:
        return -path.count("/") * 100 - len(path)
    needle, hay = query.casefold(), path.casefold()
    name_at = hay.rfind("/") + 1
    at = hay.find(needle, name_at)
    if at >= 0:
        return 4_000 - (at - name_at) * 10 - len(path) + (500 if at == name_at else 0)
    if (at := hay.find(needle)) >= 0:
        return 3_000 - at - len(path)
    return _scattered(needle, hay, path)


def _scattered(needle: str, hay: str, path: str) -> int | None:
    points, at, last = 1_000, -1, -2
    for letter in needle:
        at = hay.find(letter, at + 1)
        if at < 0:
            return None
        if at == last + 1:
            points += 15
        elif at == 0 or hay[at - 1] in "/._-":
            points += 10
        last = at
    return points - len(path)


def best(query: str, paths: Iterable[str], limit: int = 8) -> list[str]:
    scored = [(value, path) for path in paths if (value := score(query, path)) is not None]
    scored.sort(key=lambda pair: (-pair[0], pair[1]))
    return [path for _, path in scored[:limit]]
