"""How high each block is, and which block a line belongs to, without ever adding them all up again.

Invariant: `total`, `before` and `find` agree with the plain list of heights after any changes; changing one
height and adding at the end take time logarithmic in the number of blocks.
"""

from __future__ import annotations

from collections.abc import Iterable


class Heights:
    """A Fenwick tree over non-negative line counts."""

    def __init__(self, values: Iterable[int] = ()) -> None:
        self._values: list[int] = []
        self._tree: list[int] = [0]
        self.total = 0
        self.rebuild(values)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: int) -> int:
        return self._values[index]

    def rebuild(self, values: Iterable[int]) -> None:
        self._values = list(values)
        count = len(self._values)
        tree = [0, *self._values]
        for index in range(1, count + 1):
            parent = index + (index & -index)
            if parent <= count:
                tree[parent] += tree[index]
        self._tree = tree
        self.total = sum(self._values)

    def append(self, value: int) -> None:
        self._values.append(value)
        place = len(self._values)
        node, child = value, place - 1
        bottom = place - (place & -place)
        while child > bottom:
            node += self._tree[child]
            child -= child & -child
        self._tree.append(node)
        self.total += value

    def extend(self, values: list[int]) -> None:
        if len(values) * 8 > len(self._values):
            self.rebuild([*self._values, *values])
        else:
            for value in values:
                self.append(value)

    def truncate(self, count: int) -> list[int]:
        """Keeps the first `count` and returns the rest."""
        rest = self._values[count:]
        del self._values[count:]
        del self._tree[count + 1 :]
        self.total -= sum(rest)
        return rest

    def set(self, index: int, value: int) -> int:
        """Returns by how much the height grew."""
        grown = value - self._values[index]
        if grown:
            self._values[index] = value
            self.total += grown
            place, count = index + 1, len(self._values)
            while place <= count:
                self._tree[place] += grown
                place += place & -place
        return grown

    def before(self, index: int) -> int:
        """Lines above block `index`."""
        total = 0
        while index > 0:
            total += self._tree[index]
            index -= index & -index
        return total

    def find(self, line: int) -> int:
        """The block that line `line` (counted from 0) is in; the last one if it is beyond the end."""
        place, count = 0, len(self._values)
        step = 1 << count.bit_length()
        while step:
            ahead = place + step
            if ahead <= count and self._tree[ahead] <= line:
                place = ahead
                line -= self._tree[ahead]
            step >>= 1
        return min(place, count - 1)
