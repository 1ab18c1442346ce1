"""The prefix cache: a hit needs a whole match of a stored prefix unit, and counts in quanta of 64 tokens.

Units are stored at the end of the input and of the output of each request, every `step` tokens, and where a
request parts from a recent one. So A+B then A+C misses, and the third request A+D hits A.

Invariant: units belong to one (key, user_id, model); nothing crosses, and a hit never exceeds the prompt.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Sequence

Owner = tuple[str, str, str]
_BLOCK = 65_536


class _Talk:
    """One stored text with the units in it: characters from the start → tokens from the start."""

    def __init__(self, text: str, units: dict[int, int]) -> None:
        self.text = text
        self.units = units


class PrefixCache:
    """`recent`: texts kept for each owner. `budget`: characters kept in all. `least`: smallest hit."""

    def __init__(
        self,
        step: int = 4096,
        quantum: int = 64,
        least: int = 128,
        recent: int = 24,
        budget: int = 64_000_000,
    ) -> None:
        self._step, self._quantum, self._least = step, quantum, least
        self._recent, self._budget = recent, budget
        self._talks: OrderedDict[tuple[Owner, int], _Talk] = OrderedDict()
        self._next = 0

    def clear(self) -> None:
        """As after hours without use."""
        self._talks.clear()

    def read(self, owner: Owner, parts: Sequence[str], tokens: Sequence[int]) -> int:
        """Hit tokens for a prompt given as segments and their token counts, and store its units."""
        text = "".join(parts)
        ruler = _Ruler(parts, tokens)
        units = {ruler.position(at): at for at in range(self._step, ruler.total, self._step)}
        units[len(text)] = ruler.total
        best = 0
        for at, talk in [(at, talk) for (whose, at), talk in self._talks.items() if whose == owner]:
            same = common_prefix(text, talk.text)
            held = [end for end in talk.units if end <= same]
            if held:
                best = max(best, talk.units[max(held)])
                units.update({end: talk.units[end] for end in held})
                self._talks.move_to_end((owner, at))
            if 0 < same < len(text):
                units.setdefault(same, ruler.tokens_at(same))
            if same == len(talk.text):
                del self._talks[owner, at]
        self._store(owner, _Talk(text, units))
        hit = min(best, ruler.total) // self._quantum * self._quantum
        return hit if hit >= self._least else 0

    def write(self, owner: Owner, parts: Sequence[str], tokens: Sequence[int]) -> None:
        """Store the end of the output: the same segments with the answer as the last one."""
        text = "".join(parts)
        for (whose, _), talk in reversed(self._talks.items()):
            if whose == owner and text.startswith(talk.text):
                talk.text = text
                talk.units[len(text)] = sum(tokens)
                return

    def _store(self, owner: Owner, talk: _Talk) -> None:
        self._next += 1
        self._talks[owner, self._next] = talk
        mine = [key for key in self._talks if key[0] == owner]
        for key in mine[: max(0, len(mine) - self._recent)]:
            del self._talks[key]
        size = sum(len(each.text) for each in self._talks.values())
        while size > self._budget and len(self._talks) > 1:
            _, gone = self._talks.popitem(last=False)
            size -= len(gone.text)


class _Ruler:
    """Tokens and characters of a segmented text; inside a segment the two run in proportion."""

    def __init__(self, parts: Sequence[str], tokens: Sequence[int]) -> None:
        self._marks = [(0, 0)]
        for part, size in zip(parts, tokens, strict=True):
            chars, total = self._marks[-1]
            self._marks.append((chars + len(part), total + size))
        self.total = self._marks[-1][1]

    def position(self, tokens: int) -> int:
        """The first character by which `tokens` tokens are complete."""
        low, high = self._around(tokens, 1)
        return low[0] - (-(tokens - low[1]) * (high[0] - low[0]) // max(1, high[1] - low[1]))

    def tokens_at(self, position: int) -> int:
        """Tokens complete before the character at `position`."""
        low, high = self._around(position, 0)
        return low[1] + (position - low[0]) * (high[1] - low[1]) // max(1, high[0] - low[0])

    def _around(self, value: int, column: int) -> tuple[tuple[int, int], tuple[int, int]]:
        at = bisect_left(self._marks, value, lo=1, hi=len(self._marks) - 1, key=lambda mark: mark[column])
        return self._marks[at - 1], self._marks[at]


def common_prefix(left: str, right: str) -> int:
    """Characters that both texts start with."""
    end = min(len(left), len(right))
    at = 0
    while at < end and left[at : at + _BLOCK] == right[at : at + _BLOCK]:
        at += _BLOCK
    if at >= end:
        return end
    low, high = at, min(end, at + _BLOCK)
    while low < high:
        middle = (low + high + 1) // 2
        if left[at:middle] == right[at:middle]:
            low = middle
        else:
            high = middle - 1
    return low
