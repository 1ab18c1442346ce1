"""One batch of calls: judge, ask, run, answer.

Invariant: when `run_batch` is left, by any door, every call of the batch has exactly one ToolFinished.
"""

from __future__ import annotations

import asyncio
import time
import traceback
import uuid
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from deeptide.agent.equipment import Equipment
from deeptide.permissions.policy import Verdict
from deeptide.protocol.approvals import Approval, Decision
from deeptide.protocol.errors import DeepTideError, ToolError
from deeptide.protocol.events import (
    ApprovalAnswered,
    ApprovalRequested,
    Notice,
    PlanChanged,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    ToolStatus,
)
from deeptide.protocol.messages import ToolCall, ToolResult
from deeptide.tools.tool import Output, Tool, ToolContext

NOT_RUN = "Cancelled by the user before it ran."
CANCELLED = "Cancelled by the user while it ran; it may have done part of its work."
SHOWN = 4_000


class _Shown:
    """The newest output of a call, for when it is cancelled and has no result of its own."""

    def __init__(self) -> None:
        self._text = ""

    def add(self, text: str) -> None:
        self._text = (self._text + text)[-SHOWN:]

    def cancelled(self) -> str:
        said = self._text.strip()
        return f"{CANCELLED} Its last output:\n{said}" if said else CANCELLED


class Batch:
    """`outcomes`: (call, result text, was it a successful act) in the order the results came."""

    def __init__(self, gear: Equipment, calls: tuple[ToolCall, ...]) -> None:
        self._gear = gear
        self._calls = calls
        self._closed: set[str] = set()
        self.outcomes: list[tuple[ToolCall, str, bool]] = []
        self.denied = 0

    async def run(self) -> None:
        try:
            for group in self._groups():
                async with asyncio.TaskGroup() as tasks:
                    for call in group:
                        tasks.create_task(self._one(call))
        except* DeepTideError as group_of:
            # Only the log itself can fail here (a full disk); one reason is enough.
            raise _first(group_of) from None
        finally:
            for call in self._calls:
                if call.id not in self._closed:
                    self._close(call, NOT_RUN, "cancelled")

    def _groups(self) -> Iterator[list[ToolCall]]:
        """Runs of read-only calls go together; every other call goes alone, in the order given."""

        def read_only(call: ToolCall) -> bool:
            tool = self._gear.registry.get(call.name)
            return tool is not None and tool.read_only

        for together, calls in groupby(self._calls, read_only):
            if together:
                yield list(calls)
            else:
                yield from ([call] for call in calls)

    async def _one(self, call: ToolCall) -> None:
        gear, started = self._gear, 0.0
        tool = gear.registry.get(call.name)
        if tool is None:
            self._started(call, call.name)
            names = ", ".join(schema.name for schema in gear.registry.schemas)
            self._close(call, f"There is no tool named {call.name!r}. The tools are: {names}.", "error")
            return
        try:
            args = gear.registry.parse(call)
        except ToolError as error:
            self._started(call, call.name)
            self._close(call, _told(error), "error")
            return
        self._started(call, tool.title(args))
        shown = _Shown()

        def emit(text: str) -> None:
            shown.add(text)
            gear.journal.publish(ToolOutput(call.id, text))

        context = gear.context_for(call.id, emit, self.ask)
        try:
            refusal = await self._permit(call, tool, args, context)
            if refusal:
                self.denied += 1
                self._close(call, refusal, "denied")
                return
            started = time.monotonic()
            if not tool.read_only:
                await gear.journal.sync()
            output = await tool.run(args, context)
            await self._finish(call, tool, output, context, started)
        except asyncio.CancelledError:
            self._close(call, shown.cancelled() if started else NOT_RUN, "cancelled", started)
            raise
        except DeepTideError as error:
            self._close(call, _told(error), "error", started)
        except Exception as error:
            # A fault of ours must not take the turn down: the model reads it and can go another way.
            where = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{tool.name} failed inside DeepTide: {type(error).__name__}: {error} ({where.name})"
            self._close(call, text, "error", started)

    async def _permit(
        self, call: ToolCall, tool: Tool, args: Mapping[str, Any], context: ToolContext
    ) -> str | None:
        """None if the call may run, else what the model is told."""
        gear = self._gear
        intents = await asyncio.to_thread(tool.intents, args, context)
        verdict = gear.policy.judge(tool.name, tool.read_only, intents, gear.journal.fold.mode)
        if verdict.action == "allow":
            return None
        if verdict.action in ("deny", "refuse"):
            return f"Not allowed: {verdict.reason} (decided by: {verdict.rule})"
        preview = await tool.preview(args, context)
        approval = Approval(
            id=uuid.uuid4().hex[:12],
            call_id=call.id,
            tool=tool.name,
            title=tool.title(args),
            preview=preview.text,
            preview_kind=preview.kind,
            rule=verdict.rule,
            reason=verdict.reason,
            scope="" if verdict.action == "ask_strong" else verdict.scope,
            strong=verdict.action == "ask_strong",
        )
        decision = await self.ask(approval, verdict)
        if decision.choice == "deny":
            return f"The user denied this call. {decision.text}".strip()
        if await asyncio.to_thread(tool.intents, args, context) != intents:
            return (
                "What this call would touch changed while the user was asked, so it was not run. Look again."
            )
        return None

    async def ask(self, approval: Approval, verdict: Verdict | None = None) -> Decision:
        """Put a question to the human; the answer is logged, and a lasting one becomes a rule."""
        gear = self._gear
        gear.journal.record(ApprovalRequested(approval))
        decision = await gear.gate.ask(approval)
        rule = ""
        if verdict is not None and approval.scope and decision.choice in ("session", "always"):
            rule = approval.scope
            self._keep(verdict, always=decision.choice == "always")
        gear.journal.record(ApprovalAnswered(approval.id, decision, rule))
        return decision

    def _keep(self, verdict: Verdict, *, always: bool) -> None:
        """The call was approved: it runs even when its rule cannot be kept."""
        try:
            self._gear.policy.rules.add(*verdict.rules, always=always)
        except (DeepTideError, OSError) as error:
            advice = getattr(error, "advice", "")
            text = f"The call is approved, but its rule could not be kept for good: {error}"
            self._gear.journal.publish(Notice(text, "warning", advice))

    def _started(self, call: ToolCall, title: str) -> None:
        self._gear.journal.record(ToolStarted(call.id, call.name, title, call.arguments))

    async def _finish(
        self, call: ToolCall, tool: Tool, output: Output, context: ToolContext, started: float
    ) -> None:
        gear = self._gear
        result = await asyncio.to_thread(gear.registry.cap, call, output, context, gear.result_cap)
        status: ToolStatus = "error" if output.is_error else "ok"
        self._record(call, ToolFinished(result, status, _ms(started), output.summary, output.diff))
        if output.plan is not None:
            gear.journal.record(PlanChanged(output.plan))
        self.outcomes.append((call, result.content, not tool.read_only and not output.is_error))

    def _close(self, call: ToolCall, text: str, status: ToolStatus, started: float = 0.0) -> None:
        result = ToolResult(call.id, call.name, text, is_error=True)
        self._record(call, ToolFinished(result, status, _ms(started)))
        self.outcomes.append((call, text, False))

    def _record(self, call: ToolCall, event: ToolFinished) -> None:
        self._closed.add(call.id)
        self._gear.journal.record(event)


def _first(group: BaseExceptionGroup[Any]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _told(error: DeepTideError) -> str:
    return f"{error} {error.advice}".strip()


def _ms(started: float) -> int:
    """Since the call began to run; the wait for a human is not counted."""
    return int((time.monotonic() - started) * 1000) if started else 0
