"""Showing a text that is too long by its head and its tail, with the file that holds the whole named between.

Invariant: a cut is within the tokens allowed, or is the marker alone; arguments stay a JSON object.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from deeptide.model.tokens import estimate

LEAST = 64
"""Tokens below which a text is not worth cutting."""
_SHORT = 200
_SHRINK = 0.98
NOTE = "_cut"


def middle_cut(text: str, tokens: int, path: str) -> str:
    """Head and tail of `text` within `tokens` by estimate; the marker between names `path`."""
    keep = int(len(text) * tokens / max(1, estimate(text)))
    while True:
        half = max(0, keep // 2)
        gone = len(text) - 2 * half
        marker = f"\n[… {gone:,} characters were cut here; the whole text is in {path} …]\n"
        shown = text[:half] + marker + text[len(text) - half :]
        size = estimate(shown)
        if half == 0 or size <= tokens:
            return shown
        keep = int(keep * min(_SHRINK, tokens / size))


def short_arguments(arguments: str, tokens: int, path: str) -> str:
    """A JSON object for `arguments`: its short values as long as they fit `tokens`, and where the whole is."""
    note = (
        f"{len(arguments):,} characters of arguments were cut here; the call had them all, as kept in {path}"
    )
    shown = _object({**_short_values(arguments), NOTE: note})
    return shown if estimate(shown) <= tokens else _object({NOTE: note})


def _short_values(arguments: str) -> dict[str, object]:
    try:
        value = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}
    if not isinstance(value, dict):
        return {}
    plain = {key: each for key, each in value.items() if isinstance(each, str | int | float | bool | None)}
    return {key: each for key, each in plain.items() if len(key) + len(str(each)) <= _SHORT and key != NOTE}


def _object(value: dict[str, object]) -> str:
    return msgspec.json.encode(value).decode()


def level(sizes: Sequence[int], excess: int) -> int:
    """The height to which the largest of `sizes` must come down so that together they lose `excess`; 0 when
    even that is too little."""
    rest = sum(sizes) - excess
    for count, size in enumerate(sorted(sizes), 0):
        share = rest // (len(sizes) - count)
        if share <= size:
            return max(0, share)
        rest -= size
    return max(sizes, default=0)
