"""One session put together from its parts.

Invariant: a new and a resumed session are built by the same steps; only what is in the log differs.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from deeptide.agent.equipment import Ask, Emit, Equipment, ModelClient
from deeptide.agent.limits import Limits
from deeptide.agent.loop import Agent
from deeptide.agent.upkeep import Upkeep, UpkeepSettings
from deeptide.context.auto_compact import AutoCompact
from deeptide.model.catalog import Catalog
from deeptide.permissions.gate import Gate
from deeptide.permissions.policy import Policy
from deeptide.permissions.secrets import guarded
from deeptide.prompts.library import Library
from deeptide.protocol.events import SessionStarted, ToolFinished
from deeptide.session.checkpoints import Checkpoints
from deeptide.session.crash import crash_reporter
from deeptide.session.journal import SessionJournal
from deeptide.session.log import Log
from deeptide.session.publish import Hub
from deeptide.session.replay import mend
from deeptide.session.session import Parts, Session
from deeptide.tools.notes import FolderNotes
from deeptide.tools.reads import ReadState
from deeptide.tools.registry import Registry
from deeptide.tools.tool import ToolContext
from deeptide.wiring.facts import Facts
from deeptide.wiring.own_shell import run_for_user
from deeptide.wiring.recalling import SessionRecall
from deeptide.workspace.roots import Roots, home_folder


@dataclass(frozen=True)
class Supplies:
    """What every session of one house shares."""

    client: Callable[[], Awaitable[ModelClient]]
    catalog: Catalog
    currency: str
    registry: Registry
    library: Library
    limits: Limits
    upkeep: UpkeepSettings
    auto: Callable[[], AutoCompact]
    policy: Callable[[Roots], Policy]
    tool_timeout_s: int


def open_session(
    supplies: Supplies, folder: Path, workspace: Path, start: SessionStarted | None, trusted: bool
) -> tuple[Session, tuple[str, ...]]:
    """A new session (`start` given) or a stored one, and what had to be mended. Blocking: file reads and locks.

    Raises SessionError when another process holds it or nothing readable is there.
    """
    log = Log(folder)
    try:
        loaded = log.read()
        journal = SessionJournal(log, list(loaded.records), hub := Hub())
        if start is not None:
            journal.record(start)
        mended = mend(journal, loaded) if start is None else ()
        return _assemble(supplies, log, journal, hub, Roots(workspace), trusted), mended
    except BaseException:
        log.close()
        raise


def _assemble(
    supplies: Supplies, log: Log, journal: SessionJournal, hub: Hub, roots: Roots, trusted: bool
) -> Session:
    folder = log.folder
    reads = ReadState()
    reads.seed((r.event.result for r in journal.records if isinstance(r.event, ToolFinished)), roots.resolve)
    notes = FolderNotes(roots.workspace) if trusted else None
    recall = SessionRecall(journal.fold)
    gate, policy = Gate(), supplies.policy(roots)

    def context_for(call_id: str, emit: Emit, ask: Ask) -> ToolContext:
        return ToolContext(
            roots=roots,
            spill_dir=folder / "spill",
            emit=emit,
            reads=reads,
            plan=journal.fold.plan,
            ask=ask,
            recall=recall,
            call_id=call_id,
            env=os.environ,
            notes=notes,
            timeout_s=supplies.tool_timeout_s,
        )

    gear = Equipment(
        journal=journal,
        client=supplies.client,
        catalog=supplies.catalog,
        currency=supplies.currency,
        registry=supplies.registry,
        policy=policy,
        gate=gate,
        context_for=context_for,
        limits=supplies.limits,
        report_crash=crash_reporter(folder),
    )
    auto, checkpoints = supplies.auto(), Checkpoints()
    session: Session | None = None

    def before_rewrite(reason: str) -> None:
        if session is not None:
            session.take_checkpoint(reason)

    upkeep = Upkeep(gear, supplies.upkeep, supplies.library, auto, folder, before_rewrite)
    session = Session(
        Parts(
            log=log,
            journal=journal,
            hub=hub,
            agent=Agent(gear, upkeep),
            gear=gear,
            gate=gate,
            auto=auto,
            checkpoints=checkpoints,
            catalog=supplies.catalog,
            roots=roots,
            guarded=lambda path: guarded(str(path), str(home_folder())),
            environment=Facts(roots, journal.fold).note,
            shell=lambda command, tell: run_for_user(
                command, roots, folder / "spill", supplies.tool_timeout_s, tell
            ),
        )
    )
    return session


async def open_in_thread(
    supplies: Supplies, folder: Path, workspace: Path, start: SessionStarted | None, trusted: bool
) -> tuple[Session, tuple[str, ...]]:
    return await asyncio.to_thread(open_session, supplies, folder, workspace, start, trusted)
