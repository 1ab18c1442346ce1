"""Where an event becomes part of the talk: log, then fold, then readers.

Invariant: the three happen in this order and without a pause between, so nobody sees what is not logged.
"""

from __future__ import annotations

import asyncio

from deeptide.context.assemble import Fold
from deeptide.protocol.events import DURABLE, LIVE, Record
from deeptide.session.log import Log
from deeptide.session.publish import Hub


class SessionJournal:
    """Implements agent.journal.Journal. `records` is the whole talk in memory, oldest first."""

    def __init__(self, log: Log, records: list[Record], hub: Hub) -> None:
        self._log = log
        self._hub = hub
        self._dirty = False
        self.records = records
        self._fold = Fold.of(records)

    @property
    def fold(self) -> Fold:
        return self._fold

    @property
    def seq(self) -> int:
        return self.records[-1].seq if self.records else 0

    def record(self, event: DURABLE) -> Record:
        record = self._log.append(event)
        self._dirty = True
        self.records.append(record)
        self._fold.apply(record)
        self._hub.publish(record)
        return record

    def publish(self, event: LIVE) -> None:
        self._hub.publish(event)

    async def sync(self) -> None:
        if self._dirty:
            self._dirty = False
            await asyncio.to_thread(self._log.sync)
