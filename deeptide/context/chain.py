"""Which records count for the view once rewinds and undos are taken into account.

Every record follows the one before it, except that a `Rewound` follows its `to` and a `RewindUndone` follows
what stood before its target. Walking back from the newest record gives the chain; a `CompactionUndone` on it
puts its target into the skip-set.

Invariant: pure in the records, and every record follows an earlier one, so the walk ends.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from deeptide.protocol.events import CompactionUndone, CycleHandedOff, Record, RewindUndone, Rewound

UNDO_KINDS = (Rewound, RewindUndone, CompactionUndone)


class Chain(msgspec.Struct, frozen=True):
    """`seqs` ascending. `skipped` maps the seq of an undone compaction to the seq of its undo."""

    seqs: tuple[int, ...]
    skipped: dict[int, int]


def before(record: Record) -> int:
    """The seq a record follows; 0 is the empty log. Never the record itself or a later one."""
    match record.event:
        case Rewound(to=to):
            follows = to
        case RewindUndone(target=target):
            follows = target - 1
        case _:
            follows = record.seq - 1
    return min(max(follows, 0), record.seq - 1)


def chain(records: Sequence[Record]) -> Chain:
    """`records` are whole, from seq 1. O(length of the log)."""
    seqs: list[int] = []
    skipped: dict[int, int] = {}
    at = records[-1].seq if records else 0
    while at > 0:
        record = records[at - 1]
        seqs.append(at)
        if isinstance(record.event, CompactionUndone):
            skipped.setdefault(record.event.target, at)
        at = before(record)
    seqs.reverse()
    return Chain(tuple(seqs), skipped)


class Cycles:
    """The cycle and message index of everything said, also of what was rewound since: unique addresses.

    Each hand-off opens an era. An era's number is that of its first archive, so a number skipped on disk is
    skipped here too; until then it is the next free one. A rewind across a hand-off goes back to the old era.
    """

    def __init__(self) -> None:
        self._era_of: list[int] = [0]
        self._index_of: list[int] = [-1]
        self._number: list[int] = [1]
        self._said: list[int] = [0]
        self._archived: set[int] = set()

    def add(self, record: Record, said: bool) -> None:
        era = self._era_of[before(record)]
        if isinstance(record.event, CycleHandedOff):
            self._close(era, record.event.cycle)
            era = len(self._number)
            self._number.append(max(record.event.cycle, *self._number) + 1)
            self._said.append(0)
        self._era_of.append(era)
        self._index_of.append(self._said[era] if said else -1)
        if said:
            self._said[era] += 1

    def _close(self, era: int, number: int) -> None:
        if era in self._archived:
            return
        self._archived.add(era)
        if number in self._number and self._number.index(number) != era:
            other = self._number.index(number)
            if other in self._archived:
                return
            self._number[other] = max(number, *self._number) + 1
        self._number[era] = number

    def place(self, seq: int) -> tuple[int, int]:
        """(cycle, index) of what was said in record `seq`; index -1 when nothing was."""
        return self._number[self._era_of[seq]], self._index_of[seq]

    def era(self, seq: int) -> int:
        """A number that is equal for two records exactly when they belong to the same cycle."""
        return self._era_of[seq]
