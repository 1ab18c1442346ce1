"""What the agent writes to: the session's record, seen from below.

Invariant: `record` has the event in the log (flushed) and in the fold before anyone is shown it.
"""

from __future__ import annotations

from typing import Protocol

from deeptide.context.assemble import Fold
from deeptide.protocol.events import DURABLE, LIVE, Record


class Journal(Protocol):
    @property
    def fold(self) -> Fold: ...

    def record(self, event: DURABLE) -> Record:
        """Log, fold, publish; in this order. Raises WorkspaceError if the log cannot be written."""
        ...

    def publish(self, event: LIVE) -> None:
        """Show without logging."""
        ...

    async def sync(self) -> None:
        """Returns when everything recorded so far is on the disk (fsync)."""
        ...
