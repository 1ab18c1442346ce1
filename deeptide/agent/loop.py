"""The turn: ask the model, run its calls, until it has nothing left to call.

Invariant: every TurnStarted is followed by exactly one TurnEnded, and the history between is valid.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import count

from deeptide.agent.equipment import Equipment
from deeptide.agent.execute import Batch
from deeptide.agent.limits import Budget, RepetitionGuard, Stop
from deeptide.agent.step import Answered, take_step
from deeptide.agent.upkeep import Upkeep
from deeptide.model.errors import Overflow
from deeptide.protocol.errors import DeepTideError, ModelError
from deeptide.protocol.events import NoteAppended, QueueChanged, Steered, TurnEnded, TurnStarted, UserMessage
from deeptide.protocol.usage import Money

OVERFLOW_RETRIES = 2
LENGTH_RETRIES = 2
GO_ON = "Your answer reached the output limit and was cut. Go on from where it stopped; keep calls smaller."


class Agent:
    def __init__(self, gear: Equipment, upkeep: Upkeep) -> None:
        self.gear = gear
        self.upkeep = upkeep

    async def turn(self, text: str, notes: Sequence[NoteAppended] = ()) -> TurnEnded:
        """Run one turn on the user's words, facts first. Cancelling the task interrupts it; it still ends."""
        journal = self.gear.journal
        number = journal.fold.turns + 1
        journal.record(TurnStarted(number))
        for note in notes:
            journal.record(note)
        journal.record(UserMessage(text))
        try:
            ended = await self._run(number)
            await self.upkeep.after_turn(number)
        except asyncio.CancelledError:
            ended = TurnEnded(number, "interrupted")
        except DeepTideError as error:
            ended = _failed(number, error)
        except Exception as error:
            report = self.gear.report_crash(error)
            ended = TurnEnded(
                number,
                "error",
                f"DeepTide failed: {type(error).__name__}: {error}",
                f"Everything said is in the log; send a message to go on. The details are in {report}.",
            )
        self.gear.inbox.keep_steers_for_later()
        journal.record(ended)
        await journal.sync()
        return ended

    def keep_words(self, text: str) -> None:
        """Log words whose turn was interrupted before it began."""
        number = self.gear.journal.fold.turns + 1
        for event in (TurnStarted(number), UserMessage(text), TurnEnded(number, "interrupted")):
            self.gear.journal.record(event)

    async def _run(self, turn: int) -> TurnEnded:
        gear, journal = self.gear, self.gear.journal
        budget, guard = Budget(gear.limits, self._spent()), RepetitionGuard(gear.limits)
        overflows = lengths = 0
        for step in count(1):
            if stop := budget.check(step - 1, self._spent()):
                return _stopped(turn, stop)
            if steers := gear.inbox.take_steers():
                for text in steers:
                    journal.record(Steered(text))
                journal.publish(QueueChanged(gear.inbox.queue))
            await self.upkeep.before_request(first=step == 1)
            answer = await take_step(gear, turn, step)
            if isinstance(answer, Overflow) and overflows < OVERFLOW_RETRIES:
                overflows += 1
                await self.upkeep.recover(answer)
                continue
            if isinstance(answer, ModelError):
                return _failed(turn, answer)
            self.upkeep.after_response()
            if answer.message.tool_calls:
                if stop := await self._execute(answer, guard):
                    return _stopped(turn, stop)
            elif answer.finish == "length" and lengths < LENGTH_RETRIES:
                lengths += 1
                journal.record(NoteAppended("length", GO_ON))
            elif answer.finish not in ("stop", "tool_calls"):
                return TurnEnded(turn, "error", _WHY[answer.finish], "Rephrase, or ask for a smaller step.")
            elif not gear.inbox.steers:
                return TurnEnded(turn, "done")
        raise AssertionError("count() is endless")

    def _spent(self) -> Money:
        """In the currency of the caps: what was paid in another is not measured with them."""
        currency = self.gear.currency
        return self.gear.journal.fold.costs.get(currency, Money(0.0, currency))

    async def _execute(self, answer: Answered, guard: RepetitionGuard) -> Stop | None:
        batch = Batch(self.gear, answer.message.tool_calls)
        await batch.run()
        verdict = guard.observe(batch.outcomes)
        if isinstance(verdict, str):
            self.gear.journal.record(NoteAppended("warning", verdict))
            return None
        return verdict


_WHY = {
    "length": "The answer reached the output limit again and again.",
    "content_filter": "The provider's content filter stopped the answer.",
}


def _stopped(turn: int, stop: Stop) -> TurnEnded:
    return TurnEnded(turn, stop.reason, stop.message, stop.advice)


def _failed(turn: int, error: DeepTideError) -> TurnEnded:
    retryable = bool(getattr(error, "retryable", False))
    return TurnEnded(turn, "error", str(error), error.advice, retryable)
