"""The tools' way to what left the view: a session's departed entries as documents to search and read.

Invariant: what is returned is what was logged, whole; excerpts are made by recall and marked as such.
"""

from __future__ import annotations

import asyncio

from deeptide.context.assemble import Departed, Fold
from deeptide.recall.documents import whole_text
from deeptide.recall.search import Document, Found, search


class SessionRecall:
    """Implements tools.tool.RecallPort over one fold."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold

    def documents(self) -> list[Document]:
        return [
            Document(
                gone.cycle, gone.index, gone.entry.message.role, whole_text(gone.entry.message), gone.seq
            )
            for gone in self._fold.departed
        ]

    async def search(self, query: str, cycle: int | None = None, max_results: int = 3) -> Found:
        documents = self.documents()
        return await asyncio.to_thread(search, documents, query, cycle, max_results)

    async def read(self, cycle: int, message_index: int) -> str | None:
        gone = next((g for g in self._fold.departed if (g.cycle, g.index) == (cycle, message_index)), None)
        return _headed(gone) if gone else None


def _headed(gone: Departed) -> str:
    return f"[{gone.entry.message.role}, cycle {gone.cycle}, message {gone.index}]\n{whole_text(gone.entry.message)}"
