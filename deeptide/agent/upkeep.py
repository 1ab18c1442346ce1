"""Keeping the talk inside its window: the one caller of the context room's shrinkers.

Invariant: every decision comes from `ladder.next_action` on the one meter, each action is re-measured before
the next, and a request over the hard limit is never sent.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Literal

import msgspec

from deeptide.agent.equipment import Equipment
from deeptide.agent.step import priced
from deeptide.context.asking import Answer, Ask, Skipped
from deeptide.context.assemble import Fold
from deeptide.context.auto_compact import AutoCompact
from deeptide.context.compaction import compact
from deeptide.context.dropping import fits, hard_limit
from deeptide.context.handoff import hand_off
from deeptide.context.ladder import Phase, Policy, next_action
from deeptide.context.window import Latch, Reading, warning_text
from deeptide.model.errors import Overflow
from deeptide.model.request import Request
from deeptide.model.stream import Completed, Failed
from deeptide.prompts.library import Library
from deeptide.protocol.errors import ModelError, WorkspaceError
from deeptide.protocol.events import (
    Compacted,
    ContextWarning,
    CycleHandedOff,
    NoteAppended,
    Notice,
    Record,
    Spent,
    Trigger,
    UnitsDropped,
    Working,
)
from deeptide.protocol.text import scrub
from deeptide.tools.spill import write_spill
from deeptide.workspace.files import MAX_FILE, read_bytes

RECOVERED_SHARE = 0.95
"""Of what would have fitted by the numbers of an overflow, how much is sent next."""
BLIND_SHARE = 0.7
"""How much of a prompt would have fitted when the overflow does not say."""


class NoRoom(ModelError):
    """A request that cannot be made to fit; it was not sent."""


class UpkeepSettings(msgspec.Struct, frozen=True):
    policy: Policy
    summary: Literal["narrative", "ledger"] = "narrative"
    briefing_model: str = ""


class Upkeep:
    """`before_rewrite` is called before any act that rewrites the view (the session takes a checkpoint)."""

    def __init__(
        self,
        gear: Equipment,
        settings: UpkeepSettings,
        library: Library,
        auto: AutoCompact,
        folder: Path,
        before_rewrite: Callable[[str], None],
    ) -> None:
        self._gear = gear
        self._settings = settings
        self._library = library
        self._auto = auto
        self._folder = folder
        self._before_rewrite = before_rewrite
        self._latch = Latch()
        self._smaller: dict[str, int] = {}
        self.rearm()

    def reading(self) -> Reading:
        return self._gear.journal.fold.reading()

    def rearm(self) -> None:
        """After every change of the view: the latch stands where the meter stands."""
        self._latch.rearm(self.reading().percent)

    # ---- called by the loop ---------------------------------------------------------------------------

    async def before_request(self, first: bool) -> None:
        """Make the next request fit, by the ladder. `first` is the first request of a turn. Raises NoRoom."""
        phase: Phase = "between" if first else "inside"
        tried: set[str] = set()
        policy = self._settings.policy
        while (action := next_action(self.reading(), policy, phase, tried)) not in ("none", "hard"):
            tried.add(action)
            if action == "compact":
                await self._fold_away("soft")
            elif action == "ask":
                advice = "Compact now with /compact, or go on."
                self._gear.journal.publish(Notice("The window is filling up.", "warning", advice))
        self.enforce_limit()

    def after_response(self) -> None:
        """Speak a tier that was crossed, to the reader and, once, to the model."""
        reading, fold = self.reading(), self._gear.journal.fold
        tier = self._latch.observe(reading.percent)
        if not tier:
            return
        event = ContextWarning(tier, reading.percent, reading.used, reading.usable, fold.model)
        self._gear.journal.record(event)
        text = warning_text(tier, reading, fold.model)
        self._gear.journal.record(NoteAppended("warning", text))

    async def after_turn(self, turn: int) -> None:
        """Auto-compact fires here, at most once per turn."""
        reading = self.reading()
        if self._auto.should_fire(reading, turn):
            result = await self._fold_away("auto")
            if isinstance(result, Compacted):
                self._auto.record_fired(turn)
                said = f"auto-compact at {reading.percent:.0f} % (threshold {self._auto.threshold} %): "
                self._gear.journal.publish(Notice(said + compaction_line(result)))

    async def recover(self, overflow: Overflow) -> None:
        """The provider said the request was too long: shrink by its numbers, whatever the meter says. Raises
        NoRoom if it would be refused again."""
        before = self.reading().used
        self._learn_window(overflow)
        share = self._share(overflow)
        target = int(before * share * RECOVERED_SHARE)
        await self._fold_away("overflow")
        if self.reading().used > target:
            self.enforce_limit(target, int(before * share))
        if self.reading().used > (before - 1 if share == BLIND_SHARE else before * share):
            raise self._no_room()

    def _learn_window(self, overflow: Overflow) -> None:
        """The provider's window is smaller than configured: heed it from now on, and say so."""
        fold = self._gear.journal.fold
        if not 0 < overflow.limit < self._smaller.get(fold.model, fold.window.size):
            return
        self._smaller[fold.model] = overflow.limit
        said = f"The window of {fold.model} is {overflow.limit:,} tokens, not {fold.window.size:,} as configured."
        advice = f'Set `window = {overflow.limit}` under [models."{fold.model}"] in the configuration.'
        self._gear.journal.publish(Notice(said, "warning", advice))

    def _share(self, overflow: Overflow) -> float:
        """How much of the prompt the provider would have taken. `requested` counts the output asked for too."""
        output, limit, requested = self._output(), overflow.limit, overflow.requested
        if not 0 < limit < requested:
            return BLIND_SHARE
        if requested <= output:
            return limit / requested
        room = limit - output
        if room <= 0:
            raise self._no_room()
        return room / (requested - output)

    def _output(self) -> int:
        """`max_tokens` of an ordinary request."""
        fold = self._gear.journal.fold
        return min(fold.window.reserve, self._gear.catalog.resolve(fold.model).spec.max_output)

    # ---- the acts ---------------------------------------------------------------------------------------

    async def compact(self, trigger: Trigger, focus: str = "") -> str:
        """Returns the one line for the user: what was folded, tokens before and after; or why not."""
        result = await self._fold_away(trigger, focus)
        if isinstance(result, Skipped):
            return f"Nothing was compacted: {result.reason}"
        return compaction_line(result)

    async def _fold_away(self, trigger: Trigger, focus: str = "") -> Compacted | Skipped:
        journal = self._gear.journal
        journal.publish(Working("compacting"))
        try:
            result = await compact(
                journal.fold,
                complete=self._complete,
                texts=self._library,
                trigger=trigger,
                focus=focus,
                summary=self._settings.summary,
                limit=self._soft_limit() if trigger == "soft" else None,
            )
        finally:
            journal.publish(Working(""))
        if isinstance(result, Compacted):
            self._before_rewrite("before compaction")
            journal.record(result)
            await journal.sync()
            self.rearm()
        else:
            self._spent(result)
        return result

    def _spent(self, skipped: Skipped) -> None:
        """What was asked for in vain is paid all the same."""
        if skipped.usage is not None:
            self._gear.journal.record(Spent(skipped.reason, skipped.usage, skipped.cost))

    async def cycle(self, pending: str = "") -> str:
        journal = self._gear.journal
        journal.publish(Working("handing off to the next cycle"))
        try:
            result = await hand_off(
                journal.fold,
                complete=self._complete,
                texts=self._library,
                archive_dir=self._folder / "cycles",
                model=self._settings.briefing_model or journal.fold.model,
                pending=pending,
            )
        finally:
            journal.publish(Working(""))
        if not isinstance(result, CycleHandedOff):
            self._spent(result)
            return f"The cycle goes on: {result.reason}"
        self._before_rewrite("before hand-off")
        journal.record(result)
        await journal.sync()
        self.rearm()
        return (
            f"Cycle {result.cycle} is archived ({result.messages} messages); the next one starts from a "
            f"briefing: {result.tokens_before:,} → {result.tokens_after:,} tokens."
        )

    def enforce_limit(self, tokens: int = 0, at_worst: int = 0) -> None:
        """Drop the oldest whole units, and cut what alone is too large, until the view fits `tokens` (default
        98 % of usable), or `at_worst` (default: all but the reserve) if more could only be had by hiding what
        the model was just told. Raises NoRoom if what must stay is over the window."""
        fold, usable = self._gear.journal.fold, self._usable()
        ceiling = usable + fold.window.safety
        limit = min(tokens or usable, int(usable * self._settings.policy.hard_limit / 100))
        if fits(fold, limit):
            return
        event = hard_limit(fold, limit, self._spill, min(at_worst or ceiling, ceiling))
        if event is not None:
            if event.tokens_after > usable and not self._would_fit(event, usable, ceiling):
                # Nothing is taken out of the view for a request that cannot be sent all the same.
                raise self._no_room()
            self._before_rewrite("before the hard limit")
            self._gear.journal.record(event)
            self.rearm()
            self._gear.journal.publish(_full(event))
        if fold.used() > usable and fold.estimate > fold.longest(ceiling):
            raise self._no_room()

    def _would_fit(self, event: UnitsDropped, usable: int, ceiling: int) -> bool:
        records = self._gear.journal.fold.records
        trial = Fold.of([*records, Record(len(records) + 1, records[-1].at, event)])
        return trial.used() <= usable or trial.estimate <= trial.longest(ceiling)

    def _usable(self) -> int:
        fold = self._gear.journal.fold
        size = self._smaller.get(fold.model)
        return fold.window.usable if size is None else size - fold.window.reserve - fold.window.safety

    def _no_room(self) -> NoRoom:
        fold = self._gear.journal.fold
        return NoRoom(
            f"The request cannot be made to fit: the system prompt and the tools alone take about "
            f"{fold.scaled(fold.prefix_tokens):,} tokens, and {fold.model} leaves {max(0, self._usable()):,} of its "
            "window for everything. It is not sent; your words are kept.",
            f'Choose a model with a larger window with /model, or set `window` under [models."{fold.model}"] '
            "in the configuration if it is larger than that.",
        )

    def _soft_limit(self) -> int:
        return int(self.reading().usable * self._settings.policy.soft_limit / 100)

    def _spill(self, name: str, text: str) -> str:
        """Where a text that is cut stays whole. A full disk does not stop the turn: the log has it too."""
        folder = self._folder / "spill"
        try:
            kept = folder / f"view-{name}.txt"
            if kept.exists() and read_bytes(kept, MAX_FILE) == scrub(text).encode():
                return str(kept)
            return str(write_spill(folder, f"view-{name}", text))
        except WorkspaceError:
            return "the session's log, where recall_archive finds it"

    async def _complete(self, ask: Ask) -> Answer:
        """The model, as a shrinker sees it: one question, one text."""
        gear = self._gear
        request = Request(
            model=ask.model or gear.journal.fold.model,
            messages=ask.messages,
            tools=ask.tools,
            effort=ask.effort,
            max_tokens=ask.max_tokens,
            temperature=ask.temperature,
        )
        try:
            client = await gear.client()
        except ModelError as error:
            return Answer(error=str(error))
        async with aclosing(client.stream(request)) as stream:
            async for item in stream:
                if isinstance(item, Completed):
                    cost, _ = priced(gear, request.model, item.usage)
                    return Answer(
                        text=item.message.text,
                        finish=item.finish,
                        called_tool=bool(item.message.tool_calls),
                        usage=item.usage,
                        cost=cost,
                    )
                if isinstance(item, Failed):
                    return Answer(error=str(item.error))
        return Answer(error="the stream ended without an answer")


def _full(event: UnitsDropped) -> Notice:
    did = [f"{len(event.dropped):,} messages left the view"] if event.dropped else []
    did += [f"{len(event.cut):,} texts were cut in the middle"] if event.cut else []
    return Notice(
        f"The window was full: {' and '.join(did)} ({event.tokens_before:,} → {event.tokens_after:,} tokens).",
        "warning",
        "All of it stays in the log; recall_archive and /recall find it.",
    )


def compaction_line(event: Compacted) -> str:
    line = f"{event.folded} messages folded into a summary: {event.tokens_before:,} → {event.tokens_after:,} tokens."
    return f"{line} {event.notice}".strip()
