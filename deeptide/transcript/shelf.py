"""The ordered blocks and where each came from; every change to them is written down as a `Change`.

Invariant: applying the returned changes in order to an equal shelf gives an equal shelf.
"""

from __future__ import annotations

from collections.abc import Callable

from deeptide.transcript.blocks import Block, Change


class Shelf:
    """Blocks in reading order. `origin` of a block is the seq of the record that put it there."""

    def __init__(self) -> None:
        self._order: list[Block] = []
        self._origin: dict[str, int] = {}
        self._blocks: dict[str, Block] = {}
        self._changes: list[Change] = []
        self._fresh: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._order)

    def take_changes(self) -> tuple[Change, ...]:
        """What changed since the last call. A block that was added and then changed is added as it is now."""
        changes, self._changes = tuple(self._changes), []
        self._fresh.clear()
        return changes

    @property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(self._order)

    @property
    def last_logged(self) -> Block | None:
        """The last block that a record stands for."""
        return next((block for block in reversed(self._order) if not block.id.startswith("live:")), None)

    def get(self, name: str) -> Block | None:
        return self._blocks.get(name)

    def put(self, block: Block, origin: int, before: str = "") -> None:
        """Adds the block (before `before` if that is on the shelf), or replaces its state and origin."""
        name = block.id
        known = self._blocks.get(name)
        self._blocks[name] = block
        self._origin[name] = origin
        if known is None:
            if before in self._blocks:
                self._order.insert(self._position(before), block)
            else:
                before = ""
                self._order.append(block)
            self._fresh[name] = len(self._changes)
            self._changes.append(Change("add", block, before))
        elif known is not block:
            self._order[self._position(name)] = block
            if name in self._fresh:
                at = self._fresh[name]
                self._changes[at] = Change("add", block, self._changes[at].before)
            else:
                self._changes.append(Change("update", block))

    def update(self, block: Block) -> None:
        """Replaces the earlier state of a block that is on the shelf; its origin stays."""
        self.put(block, self._origin[block.id])

    def remove(self, name: str) -> None:
        if name in self._blocks:
            del self._order[self._position(name)]
            self._forget(name)

    def remove_where(self, unwanted: Callable[[str, int], bool]) -> None:
        """Removes, last first, every block for which `unwanted(id, origin)` holds."""
        names = [block.id for block in self._order if unwanted(block.id, self._origin[block.id])]
        gone = set(names)
        self._order = [block for block in self._order if block.id not in gone]
        for name in reversed(names):
            self._forget(name)

    def _forget(self, name: str) -> None:
        self._changes.append(Change("remove", self._blocks.pop(name)))
        self._fresh.pop(name, None)
        del self._origin[name]

    def snapshot(self) -> tuple[tuple[Block, int], ...]:
        return tuple((block, self._origin[block.id]) for block in self._order)

    def restore(self, snapshot: tuple[tuple[Block, int], ...]) -> None:
        """Back to an earlier state. Blocks that both states share must stand in the same order in both."""
        wanted = {block.id for block, _ in snapshot}
        self.remove_where(lambda name, _: name not in wanted)
        following = ""
        for block, origin in reversed(snapshot):
            if self._blocks.get(block.id) is not block:
                self.put(block, origin, following)
            following = block.id

    def _position(self, name: str) -> int:
        """Nearly every question is about the end, so the search starts there."""
        for index in range(len(self._order) - 1, -1, -1):
            if self._order[index].id == name:
                return index
        raise KeyError(name)
