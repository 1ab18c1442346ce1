"""A session's two doors: what people ask goes in here, what happens comes out of `subscribe`.

Invariant: at most one turn runs at a time, everything that changes the talk goes through the journal, and every
door can be called at any moment: what cannot be done now is queued or refused with a reason, never lost.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deeptide.agent.equipment import Equipment
from deeptide.agent.loop import Agent
from deeptide.context.assemble import Fold
from deeptide.context.auto_compact import AutoCompact
from deeptide.context.window import Reading
from deeptide.model.catalog import Catalog
from deeptide.permissions.gate import Gate
from deeptide.protocol.approvals import Decision, Mode
from deeptide.protocol.errors import DeepTideError, UsageError
from deeptide.protocol.events import (
    LIVE,
    CheckpointTaken,
    CompactionUndone,
    EffortChanged,
    ModeChanged,
    ModelChanged,
    NoteAppended,
    Notice,
    Pinned,
    QueueChanged,
    Record,
    Renamed,
    RewindUndone,
    Rewound,
    UserMessage,
)
from deeptide.protocol.text import clean
from deeptide.session.checkpoints import Checkpoint, Checkpoints
from deeptide.session.journal import SessionJournal
from deeptide.session.log import Log
from deeptide.session.mentions import find_mentions, read_mention
from deeptide.session.publish import Hub, Subscription
from deeptide.session.rewinding import TurnPoint, before_last_turn, messages_after
from deeptide.workspace.roots import Roots


@dataclass(frozen=True)
class Parts:
    """What wiring hands a session. `environment()` gives the note of date and git for the next user message, or
    an empty string when nothing changed. `shell(command, tell)` runs a `!command`, tells what it does meanwhile,
    and returns the note to append; when cancelled too."""

    log: Log
    journal: SessionJournal
    hub: Hub
    agent: Agent
    gear: Equipment
    gate: Gate
    auto: AutoCompact
    checkpoints: Checkpoints
    catalog: Catalog
    roots: Roots
    guarded: Callable[[Path], bool]
    environment: Callable[[], Coroutine[Any, Any, str]]
    shell: Callable[[str, Callable[[LIVE], None]], Coroutine[Any, Any, str]]


class Session:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._journal = parts.journal
        self._turn: asyncio.Task[None] | None = None
        self._work: asyncio.Task[str] | None = None
        self._unsaid: str | None = None
        self._shells: set[asyncio.Task[str]] = set()
        self._closed = False
        self.id = parts.log.folder.name
        self.path = parts.log.folder
        self.gate = parts.gate
        self.auto = parts.auto
        self.checkpoints = parts.checkpoints

    # ---- what is in force -----------------------------------------------------------------------------

    @property
    def fold(self) -> Fold:
        return self._journal.fold

    @property
    def records(self) -> list[Record]:
        return self._journal.records

    @property
    def busy(self) -> bool:
        return self._turn is not None or self._work is not None

    @property
    def shells(self) -> int:
        """How many of the user's own commands run now."""
        return len(self._shells)

    @property
    def queue(self) -> tuple[str, ...]:
        return self._parts.gear.inbox.queue

    @property
    def title(self) -> str:
        return self.fold.title

    def reading(self) -> Reading:
        return self.fold.reading()

    # ---- the outward door -----------------------------------------------------------------------------

    def subscribe(self) -> Subscription:
        return self._parts.hub.join()

    def tell(self, event: LIVE) -> None:
        """Something the reader should know that is not part of the talk."""
        self._journal.publish(event)

    # ---- the inward door: talk --------------------------------------------------------------------------

    def submit(self, text: str) -> None:
        """Say something: starts a turn, or waits in the queue while one runs. What an interrupted turn left in
        the queue goes first."""
        if not text.strip():
            return
        if self.busy:
            self._parts.gear.inbox.put(text)
            self._show_queue()
            return
        inbox = self._parts.gear.inbox
        inbox.put(text)
        self._start(inbox.next() or text)

    def steer(self, text: str) -> None:
        """Say something into the running turn, before its next request. Idle: the same as `submit`."""
        if not text.strip():
            return
        if self._turn is None:
            self.submit(text)
            return
        self._parts.gear.inbox.steer(text)
        self._show_queue()

    def unqueue(self) -> str | None:
        text = self._parts.gear.inbox.unqueue()
        self._show_queue()
        return text

    async def cancel(self) -> None:
        """Interrupt what runs (a turn, a compaction); returns when it is quiet and the history is valid."""
        running: list[asyncio.Task[Any]] = [task for task in (self._turn, self._work) if task is not None]
        running += self._shells
        for task in running:
            task.cancel()
        self.gate.cancel_all()
        if running:
            await asyncio.wait(running)

    def answer(self, approval_id: str, decision: Decision) -> bool:
        """False if the question is not open (any more)."""
        return self.gate.answer(approval_id, decision)

    async def run_shell(self, command: str) -> None:
        """The user's own `!command`: runs at once, without approval; its output goes to the model. `cancel`
        ends it, and what it had said until then is kept."""
        task = asyncio.create_task(self._parts.shell(command, self.tell))
        self._shells.add(task)
        try:
            note = await task
        finally:
            self._shells.discard(task)
        self._journal.record(NoteAppended("shell", note))

    # ---- the inward door: settings ----------------------------------------------------------------------

    def set_mode(self, mode: Mode) -> None:
        if mode == self.fold.mode:
            return
        self._journal.record(ModeChanged(mode))

    def set_model(self, name: str) -> str:
        """Returns a sentence for the user. Raises UsageError for an unknown or retired model."""
        resolved = self._parts.catalog.resolve(name)
        spec = resolved.spec
        if spec.id == self.fold.model:
            return f"The model is already {spec.id}."
        self.take_checkpoint("before model switch")
        self._journal.record(ModelChanged(spec.id, spec.window))
        self._parts.agent.upkeep.rearm()
        reading = self.reading()
        said = (
            f"Model: {spec.id}, {spec.window:,} tokens; {reading.percent:.0f} % used. "
            f"The next request reads about {reading.used:,} tokens anew (the cache belongs to the old model)."
        )
        return f"{said} {resolved.notice}".strip()

    def set_effort(self, effort: str) -> None:
        if effort not in ("off", "low", "high", "max"):
            raise UsageError(f"There is no effort {effort!r}.", "Take off, low, high or max.")
        if effort != self.fold.effort:
            self._journal.record(EffortChanged(effort))

    def rename(self, title: str) -> None:
        title = " ".join(clean(title).split())
        if not title or len(title) > 100:
            raise UsageError("A title is one line of 1 to 100 characters.")
        self._journal.record(Renamed(title))

    def pin(self, text: str) -> None:
        """Keep a line through every compaction."""
        if not text.strip():
            raise UsageError("There is nothing to pin.", "For example /pin the API must stay compatible.")
        self._journal.record(Pinned(text.strip()))

    # ---- the inward door: context -------------------------------------------------------------------------

    async def compact(self, focus: str = "") -> str:
        return await self._exclusively(self._parts.agent.upkeep.compact("manual", focus), "compact")

    async def compact_undo(self) -> str:
        self._refuse_while_busy("undo a compaction")
        target = self.fold.undoable_compaction
        if target is None:
            raise UsageError("There is no compaction to undo.")
        before = self.reading().used
        self.take_checkpoint("before compaction undo")
        self._journal.record(CompactionUndone(target))
        self._parts.agent.upkeep.rearm()
        return f"The compaction is undone: {before:,} → {self.reading().used:,} tokens."

    async def cycle_now(self) -> str:
        return await self._exclusively(self._parts.agent.upkeep.cycle(), "hand off")

    # ---- the inward door: checkpoints -----------------------------------------------------------------------

    def checkpoint(self, label: str = "") -> Checkpoint:
        point = self.checkpoints.save(label, self._journal.seq, len(self.fold.entries))
        self._journal.publish(CheckpointTaken(point.id, point.label))
        return point

    async def rewind(self, selector: str = "") -> str:
        self._refuse_while_busy("rewind")
        point = self.checkpoints.find(selector)
        return self._rewind(point.seq, point.label or point.id)

    async def rewind_to(self, point: TurnPoint) -> str:
        """Take back a turn and all after it; the caller may offer `point.words` for editing."""
        self._refuse_while_busy("rewind")
        return self._rewind(point.seq, f"before “{_short(point.words)}”")

    async def undo(self) -> str:
        """Take the last turn back, the user's words included."""
        self._refuse_while_busy("undo")
        to, words = before_last_turn(self.fold)
        said = self._rewind(to, "before the last turn")
        return f"{said} You had said: “{_short(words)}”." if words else said

    async def redo(self) -> str:
        self._refuse_while_busy("redo")
        target = self.fold.undoable_rewind
        if target is None:
            raise UsageError(
                "There is no rewind to take back.", "Only the last one, before anything new is said."
            )
        self._journal.record(RewindUndone(target))
        self._parts.agent.upkeep.rearm()
        return f"The rewind is taken back; {_counted(len(self.fold.entries))} in view."

    # ---- life ---------------------------------------------------------------------------------------------

    async def wait_idle(self) -> None:
        """Returns when no turn runs and the queue is empty."""
        while task := self._turn or self._work:
            await asyncio.wait([task])

    async def close(self) -> None:
        """Interrupt, save, let the log go. Idempotent. A session in which nothing was said leaves no folder."""
        if self._closed:
            return
        self._closed = True
        while self._parts.gear.inbox.next() is not None:
            pass
        await self.cancel()
        try:
            await self._journal.sync()
        finally:
            self._parts.hub.close()
            self._parts.log.close()
            if not any(isinstance(record.event, UserMessage | NoteAppended) for record in self.records):
                shutil.rmtree(self.path, ignore_errors=True)

    # ---- inside -------------------------------------------------------------------------------------------

    def _start(self, text: str) -> None:
        self._unsaid = text
        self._turn = asyncio.create_task(self._run_turns())
        self._turn.add_done_callback(self._turn_over)
        self._show_queue()

    async def _run_turns(self) -> None:
        agent, inbox = self._parts.agent, self._parts.gear.inbox
        while (text := self._unsaid) is not None:
            notes = await self._facts(text)
            self._unsaid = None
            self._show_queue()
            place = len(self.records)
            try:
                ended = await agent.turn(text, notes)
            except DeepTideError:
                if not any(isinstance(r.event, UserMessage) for r in self.records[place:]):
                    inbox.put_first(text)
                raise
            if ended.reason != "done":
                return
            self._unsaid = inbox.next()
            self._show_queue()

    def _turn_over(self, task: asyncio.Task[None]) -> None:
        """However it ended: nothing runs any more, no words are lost, and a fault is said."""
        self._turn = None
        words, self._unsaid = self._unsaid, None
        error = None if task.cancelled() else task.exception()
        try:
            if words is not None:
                self._parts.agent.keep_words(words)
        except DeepTideError as trouble:
            self._parts.gear.inbox.put_first(words or "")
            error = error or trouble
        if isinstance(error, DeepTideError):
            self.tell(Notice(str(error), "error", error.advice))
        elif error is not None:
            report = self._parts.gear.report_crash(error)
            self.tell(Notice(f"DeepTide failed: {error}", "error", f"The details are in {report}."))
        self._show_queue()

    async def _facts(self, text: str) -> list[NoteAppended]:
        """What goes with the user's words: mentioned files, and date and git status when they changed."""
        notes = []
        for path in find_mentions(text):
            note = await asyncio.to_thread(read_mention, path, self._parts.roots, self._parts.guarded)
            if note is not None:
                notes.append(NoteAppended("mention", note))
        if environment := await self._parts.environment():
            notes.append(NoteAppended("environment", environment))
        return notes

    def _rewind(self, to: int, label: str) -> str:
        gone, before = messages_after(self.fold, to), self.reading().used
        self.take_checkpoint("before rewind")
        self._journal.record(Rewound(to, gone, label))
        self._parts.agent.upkeep.rearm()
        return (
            f"Rewound to {label}: {_counted(gone)} left the view, {before:,} → {self.reading().used:,} tokens. "
            "Files were not changed. /redo takes it back."
        )

    def take_checkpoint(self, reason: str) -> None:
        """An automatic one; called before every rewrite of the view, by upkeep too."""
        point = self.checkpoints.take(reason, self._journal.seq, len(self.fold.entries))
        self._journal.publish(CheckpointTaken(point.id, point.label, automatic=True))

    async def _exclusively(self, work: Coroutine[Any, Any, str], what: str) -> str:
        try:
            self._refuse_while_busy(what)
        except UsageError:
            work.close()
            raise
        task = self._work = asyncio.create_task(work)
        try:
            return await task
        except asyncio.CancelledError:
            if task.cancelled():
                return "Cancelled; the view is as it was."
            raise
        finally:
            self._work = None
            if not self._closed and self._turn is None and (text := self._parts.gear.inbox.next()):
                self._start(text)

    def _refuse_while_busy(self, what: str) -> None:
        if self.busy:
            raise UsageError(
                f"Cannot {what} while the agent works.", "Wait, or press Esc to interrupt first."
            )

    def _show_queue(self) -> None:
        inbox, first = self._parts.gear.inbox, () if self._unsaid is None else (self._unsaid,)
        self._journal.publish(QueueChanged((*first, *inbox.queue), inbox.steers))


def _counted(messages: int) -> str:
    return "1 message" if messages == 1 else f"{messages} messages"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:79] + "…"
