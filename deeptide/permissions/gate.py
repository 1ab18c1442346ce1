"""The questions that wait for a human.

Invariant: every question gets exactly one answer, or its asker is cancelled and the question is gone; the
futures that join the two never leave this file.
"""

from __future__ import annotations

import asyncio

from deeptide.protocol.approvals import Approval, Decision

INTERRUPTED = "The user interrupted before answering."


class Gate:
    def __init__(self) -> None:
        self._waiting: dict[str, tuple[Approval, asyncio.Future[Decision]]] = {}

    @property
    def pending(self) -> tuple[Approval, ...]:
        """Questions without an answer, oldest first."""
        return tuple(approval for approval, answer in self._waiting.values() if not answer.done())

    async def ask(self, approval: Approval) -> Decision:
        """Waits for `answer` with this approval's id. ValueError if that id is already waiting."""
        if approval.id in self._waiting:
            raise ValueError(f"approval {approval.id} is already waiting")
        answer: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self._waiting[approval.id] = (approval, answer)
        try:
            return await answer
        finally:
            del self._waiting[approval.id]

    def answer(self, approval_id: str, decision: Decision) -> bool:
        """Whether the question was still open. A strong one is answered for this time only, whatever is
        said."""
        approval, answer = self._waiting.get(approval_id, (None, None))
        if approval is None or answer is None or answer.done():
            return False
        if approval.strong and decision.choice in {"session", "always"}:
            decision = Decision("once", decision.text)
        answer.set_result(decision)
        return True

    def cancel_all(self) -> None:
        """Answers every open question with no."""
        for _, answer in self._waiting.values():
            if not answer.done():
                answer.set_result(Decision("deny", INTERRUPTED))
