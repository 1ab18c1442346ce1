"""What the file really says where an edit missed, so that the next try needs no guess.

Invariant: what is shown is in the file, with its line numbers, hidden characters written out; it never costs
more than a bounded search.
"""

from __future__ import annotations

import difflib
from collections import Counter

from deeptide.protocol.text import visible
from deeptide.tools import lines

_COMMON = 50
_SHOWN = 12
_FUZZY_LINES = 20_000
_WIDTH = 300


def nearest(text: str, old: str) -> str:
    """Advice with the lines of `text` that are most like `old`."""
    there = lines.split(text)
    wanted = [line.strip() for line in lines.split(old)]
    first = _by_votes(there, wanted)
    if first is None:
        first = _by_likeness(there, wanted)
    if first is None:
        return "Nothing in it is like old. Read the file again and copy the text exactly."
    first = max(0, first)
    window = there[first : first + min(len(wanted), _SHOWN)]
    rows = [f"{number}\t{visible(line[:_WIDTH])}" for number, line in enumerate(window, first + 1)]
    return "The nearest lines are:\n" + "\n".join(rows) + "\nCopy the text exactly, indentation included."


def _by_votes(there: list[str], wanted: list[str]) -> int | None:
    """The first line of the window that shares most whole lines with `wanted`."""
    places: dict[str, list[int]] = {}
    for index, line in enumerate(there):
        places.setdefault(line.strip(), []).append(index)
    votes: Counter[int] = Counter()
    for offset, line in enumerate(wanted):
        found = places.get(line, ())
        if line and len(found) <= _COMMON:
            votes.update(index - offset for index in found)
    if not votes:
        return None
    return max(votes, key=lambda start: (votes[start], -start))


def _by_likeness(there: list[str], wanted: list[str]) -> int | None:
    """The same by the longest wanted line, allowing for differences within it."""
    key = max(wanted, key=len, default="")[:_WIDTH]
    if len(key) < 4:
        return None
    offset = next(i for i, line in enumerate(wanted) if line[:_WIDTH] == key)
    matcher = difflib.SequenceMatcher(b=key, autojunk=False)
    best, best_at = 0.6, None
    for index, line in enumerate(there[:_FUZZY_LINES]):
        matcher.set_seq1(line.strip()[:_WIDTH])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
            ratio = matcher.ratio()
            if ratio > best:
                best, best_at = ratio, index - offset
    return best_at
