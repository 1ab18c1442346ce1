"""The one consumer of session events: what happened goes to the widgets that show it.

Invariant: every event of the session reaches the transcript in order and none is applied twice; the screen is
touched at most once per FRAME_S however fast events come, and the last ones are never left waiting.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from deeptide.protocol.events import (
    ApprovalRequested,
    Event,
    PlanChanged,
    QueueChanged,
    Record,
    Rewound,
    TurnEnded,
    TurnStarted,
)
from deeptide.transcript.build import Transcript
from deeptide.tui.labels import ASKING, Labels
from deeptide.tui.scrollback.scrollback import Scrollback
from deeptide.tui.widgets.activity import Activity
from deeptide.tui.widgets.approval import ApprovalPanel
from deeptide.tui.widgets.composer import Composer
from deeptide.tui.widgets.plan import PlanPanel
from deeptide.tui.widgets.queue import QueueLines
from deeptide.tui.widgets.status import Facts, Status

if TYPE_CHECKING:
    from deeptide.session.session import Session

FRAME_S = 0.04


@dataclass(frozen=True)
class Stage:
    """The widgets a session is shown on, and who is told what ended or asks (for bell and title)."""

    scrollback: Scrollback
    approval: ApprovalPanel
    plan: PlanPanel
    queue: QueueLines
    activity: Activity
    composer: Composer
    status: Status
    shown: Callable[[], None]
    called: Callable[[TurnEnded | ApprovalRequested], None]


class Bridge:
    """One session on one stage, from `run` until it is cancelled or the session closes. `ready` is called when
    what was said before is on the screen and nothing said from now on can be missed."""

    def __init__(self, session: Session, stage: Stage, ready: Callable[[], None] = lambda: None) -> None:
        self.session = session
        self.transcript = Transcript()
        self._stage = stage
        self._ready = ready
        self._labels = Labels()
        self._waiting = session.queue
        self._steers: tuple[str, ...] = ()
        self._plan_is_fresh = False
        self._last = 0.0

    async def run(self) -> None:
        subscription = self.session.subscribe()
        try:
            # No await between these two: what is recorded later comes through the subscription.
            records = list(self.session.records)
            changes = await asyncio.to_thread(self.transcript.apply_all, records)
            self._stage.scrollback.clear()
            self._stage.scrollback.apply(changes)
            self.refresh()
            self._ready()
            async for item in subscription:
                await asyncio.sleep(max(0.0, self._last + FRAME_S - monotonic()))
                self.show([item, *subscription.drain()])
                self._last = monotonic()
        finally:
            subscription.close()

    def show(self, items: Sequence[Record | Event]) -> None:
        stage = self._stage
        stage.scrollback.apply(self.transcript.apply_all(items))
        for item in items:
            event = item.event if isinstance(item, Record) else item
            self._labels.apply(event)
            if isinstance(event, QueueChanged):
                self._waiting, self._steers = event.items, event.steers
            elif isinstance(event, TurnStarted | Rewound | PlanChanged):
                self._plan_is_fresh = isinstance(event, PlanChanged)
            elif isinstance(event, TurnEnded | ApprovalRequested):
                stage.called(event)
        self.refresh()

    def refresh(self) -> None:
        """Everything that is read off the session itself, so it cannot disagree with it."""
        session, stage = self.session, self._stage
        pending = session.gate.pending
        stage.plan.show(session.fold.plan, working=session.busy, fresh=self._plan_is_fresh)
        stage.queue.show(self._waiting, self._steers, working=session.busy)
        stage.composer.queued = bool(session.queue)
        stage.composer.set_mode(session.fold.mode)
        stage.approval.show(pending)
        if not (session.busy or session.shells):
            self._labels.clear()
        stage.activity.work(ASKING if pending else self._labels.text, waiting=bool(pending))
        stage.status.show(facts_of(session))
        stage.shown()


def facts_of(session: Session) -> Facts:
    fold, reading = session.fold, session.reading()
    usage, cost = fold.usage, fold.cost
    return Facts(
        mode=fold.mode,
        model=fold.model,
        effort=fold.effort,
        percent=reading.percent,
        tier=reading.tier,
        hit=100 * usage.hit / usage.prompt if usage.prompt else None,
        cost=str(cost) if cost.amount else "",
        queued=len(session.queue),
        title=session.title,
    )
