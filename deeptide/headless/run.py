"""One prompt from start to exit code, without a human.

Invariant: nothing waits for a person. What would ask is denied, with a reason that tells the model to go
another way and the reader which flag would have allowed it; a signal ends the turn with a valid history.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable

from deeptide.headless.exits import Exit, exit_of
from deeptide.headless.formats import Denied, Header, Item, Result, Writer, denial, failed
from deeptide.protocol.approvals import Approval, Decision, Mode
from deeptide.protocol.errors import DeepTideError
from deeptide.protocol.events import (
    ApprovalRequested,
    AssistantMessage,
    Compacted,
    CycleHandedOff,
    Notice,
    Record,
    Spent,
    StepStarted,
    ToolFinished,
    TurnEnded,
)
from deeptide.protocol.usage import Money, Usage
from deeptide.session.session import Session

SIGNALS = {
    signal.SIGINT: Exit.INTERRUPTED,
    signal.SIGTERM: Exit.TERMINATED,
    signal.SIGHUP: Exit.TERMINATED,
}
ALONE = (
    "Nobody is present to approve this, so it was not run. Do what you can without it; if the task cannot be "
    "done without it, stop and say so, and say that {flag} would allow it."
)
NO_ANSWER = (
    "Nobody is present to answer. Take the most careful reading of the task, say which assumption you made, "
    "and go on."
)


class Tally:
    """What a run has come to so far, read off its events."""

    def __init__(self) -> None:
        self.answer = ""
        self.steps = 0
        self.usage = Usage()
        self.cost: Money | None = None
        self.model = ""
        self.denied: list[Denied] = []
        self.denied_calls: set[str] = set()
        self.denied_last = False
        self.ended: TurnEnded | None = None
        self.fault: Notice | None = None

    def see(self, item: Item) -> None:
        event = item.event if isinstance(item, Record) else item
        match event:
            case StepStarted():
                self.steps += 1
                self.model = event.model
            case AssistantMessage():
                self._spend(event.usage, event.cost)
                self.denied_last = self.denied_last and not event.message.tool_calls
                if not event.message.tool_calls and event.finish != "cut":
                    self.answer = event.message.text
            case Compacted() | CycleHandedOff() | Spent():
                self._spend(event.usage, event.cost)
            case ToolFinished(result) if result.call_id in self.denied_calls:
                self.denied_last = True
            case TurnEnded():
                self.ended = event
            case Notice(_, "error"):
                self.fault = event

    def _spend(self, usage: Usage | None, cost: Money | None) -> None:
        self.usage += usage or Usage()
        if cost is not None:
            self.cost = cost + self.cost if self.cost else cost


class Stopper:
    """Turns the first signal into an orderly end; a second one has its usual effect."""

    def __init__(self) -> None:
        self.code: Exit | None = None
        self._session: Session | None = None
        self._main = asyncio.current_task()
        self._cancelling: asyncio.Task[None] | None = None

    def __enter__(self) -> Stopper:
        loop = asyncio.get_running_loop()
        for number, code in SIGNALS.items():
            loop.add_signal_handler(number, self._stop, number, code)
        return self

    def __exit__(self, *_: object) -> None:
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.remove_signal_handler(number)

    def watch(self, session: Session) -> None:
        """From now on a signal interrupts the session instead of the opening of one."""
        self._session = session

    def _stop(self, number: signal.Signals, code: Exit) -> None:
        asyncio.get_running_loop().remove_signal_handler(number)
        self.code = self.code or code
        if self._session is not None:
            self._cancelling = asyncio.create_task(self._session.cancel())
        elif self._main is not None:
            self._main.cancel()


async def run(
    open_session: Callable[[], Awaitable[Session]],
    prompt: str,
    writer: Writer,
    *,
    resumed: bool = False,
    opened: Callable[[Session], None] | None = None,
) -> Exit:
    """Opens a session, says `prompt`, writes what happens, closes the session. `opened` is called once the
    events are being read, for what should be said first.

    Raises only BrokenPipeError (nobody reads standard output any more); the session is closed by then.
    """
    with Stopper() as stopper:
        try:
            session = await open_session()
        except asyncio.CancelledError:
            code = stopper.code or Exit.INTERRUPTED
            writer.result(failed("Stopped before the session was open.", "Nothing was sent.", code))
            return code
        except DeepTideError as error:
            writer.result(failed(str(error), error.advice, error.exit_code))
            return Exit(error.exit_code)
        stopper.watch(session)
        try:
            return await _converse(session, prompt, writer, stopper, resumed, opened)
        finally:
            await session.close()


async def _converse(
    session: Session,
    prompt: str,
    writer: Writer,
    stopper: Stopper,
    resumed: bool,
    opened: Callable[[Session], None] | None,
) -> Exit:
    began, tally, fold = time.monotonic(), Tally(), session.fold
    workspace = fold.started.workspace if fold.started else ""
    writer.header(Header(session.id, workspace, fold.model, fold.effort, fold.mode, resumed))
    reader = session.subscribe()
    if opened is not None:
        opened(session)
    session.submit(prompt)
    idle = asyncio.create_task(session.wait_idle())
    # A turn that cannot even begin (the disk is full) has no TurnEnded, so quiet is what ends the reading.
    idle.add_done_callback(lambda _: reader.close())
    async for item in reader:
        tally.see(item)
        writer.see(item)
        if isinstance(item, Record) and isinstance(item.event, ApprovalRequested):
            _deny(session, item.event, tally, writer)
    result = _result(session, tally, stopper.code, int((time.monotonic() - began) * 1000))
    writer.result(result)
    return Exit(result.exit_code)


def _deny(session: Session, event: ApprovalRequested, tally: Tally, writer: Writer) -> None:
    approval = event.approval
    if approval.kind == "question":
        session.answer(approval.id, Decision("deny", NO_ANSWER))
        return
    flag = flag_for(approval, session.fold.mode)
    tally.denied.append(denial(event))
    tally.denied_calls.add(approval.call_id)
    session.answer(approval.id, Decision("deny", ALONE.format(flag=flag)))
    writer.denied(approval, f"{approval.reason or 'It needs an approval.'} {flag} would allow it.")


def flag_for(approval: Approval, mode: Mode) -> str:
    """What the reader can give to let such a call run, smallest first."""
    if approval.tool in ("write", "edit") and not approval.strong and mode not in ("auto-edit", "yolo"):
        return "--mode auto-edit"
    rules = ", ".join(f'"{rule}"' for rule in approval.scope.split("; ") if rule)
    return f"--yolo, or permissions.allow = [{rules}] in the settings," if rules else "--yolo"


def _result(session: Session, tally: Tally, signalled: Exit | None, elapsed_ms: int) -> Result:
    ended, fault = tally.ended, tally.fault
    if ended is None:
        code = signalled or Exit.FAILED
        reason, error, advice = "error", fault.text if fault else "The turn did not begin.", ""
        advice = fault.advice if fault else ""
    else:
        code = signalled or exit_of(ended, tally.denied_last)
        reason, error, advice = ended.reason, ended.error, ended.advice
        if code is Exit.DENIED:
            reason = "denied"
    return Result(
        session=session.id,
        answer=tally.answer,
        reason=reason,
        exit_code=int(code),
        model=tally.model or session.fold.model,
        steps=tally.steps,
        usage=tally.usage,
        cost=tally.cost,
        session_cost=session.fold.cost if session.fold.costs else None,
        elapsed_ms=elapsed_ms,
        denied=tuple(tally.denied),
        error=error,
        advice=advice,
    )
