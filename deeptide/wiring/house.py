"""The house: everything a front end needs, from settings to sessions.

Invariant: building it reads settings and nothing else; the model library is imported only when the first request
(or `warm`) needs it, so the first paint never waits for it.
"""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from deeptide import __version__
from deeptide.agent.limits import Limits
from deeptide.agent.upkeep import UpkeepSettings
from deeptide.commands.registry import CommandContext, Registry
from deeptide.commands.results import Result
from deeptide.commands.standard import standard as standard_commands
from deeptide.config import auth, trust
from deeptide.config.load import Loaded, load
from deeptide.config.paths import find_paths, project_file
from deeptide.config.rules import store_rule, stored_rules
from deeptide.context.auto_compact import AutoCompact
from deeptide.context.ladder import Policy as LadderPolicy
from deeptide.model.catalog import DEFAULT_MODEL, Catalog, ModelSpec
from deeptide.permissions.policy import Policy
from deeptide.permissions.rules import Rules
from deeptide.prompts.library import Library
from deeptide.protocol.events import Notice, SessionStarted
from deeptide.session.session import Session
from deeptide.session.store import SessionInfo, Store
from deeptide.tools.registry import standard as standard_tools
from deeptide.wiring.building import Supplies, open_in_thread
from deeptide.wiring.connections import Connections
from deeptide.wiring.instructions import instruction_files, instructions
from deeptide.workspace.roots import Roots, home_folder

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True)
class Options:
    """What the command line (or a test) asks for. `flags` are settings by dotted key and win over files.
    `transport` replaces the network; `key` replaces the search for one. `demo` needs neither; `fresh_demo`
    puts its sample project back to the start. `interactive`: somebody is there to be asked."""

    workspace: Path
    home: Path | None = None
    flags: Mapping[str, object] = field(default_factory=dict)
    trust: bool = False
    demo: bool = False
    fresh_demo: bool = True
    transport: httpx.AsyncBaseTransport | None = None
    key: str = ""
    interactive: bool = True


class House:
    """`notices` are sentences for the reader, to be shown once."""

    def __init__(self, options: Options) -> None:
        paths = find_paths(home=options.home)
        flags = dict(options.flags)
        transport, workspace = options.transport, Path(os.path.realpath(options.workspace))
        self._demo_models: dict[str, dict[str, Any]] = {}
        self._hint = ""
        if options.demo:
            # Lazy: the emulator and httpx would delay every other session.
            from deeptide.wiring.demo import DEMO_MODEL, DEMO_WINDOW, Demo

            demo = Demo(paths.home)
            paths = find_paths(home=demo.home)
            workspace = demo.prepare(options.fresh_demo)
            self._hint = demo.hint
            transport = transport or demo.transport()
            flags["model.name"] = DEMO_MODEL
            self._demo_models = {DEMO_MODEL: {"window": DEMO_WINDOW}}
        self._options, self._paths, self._flags = options, paths, flags
        self._transport = transport
        self._trust_answer: bool | None = True if options.demo else None
        self._connections = Connections(self._key, transport)
        self._new_key = ""
        self.workspace = workspace
        self.store = Store(paths.home)
        self.library = Library()
        self.tools = standard_tools(self.library)
        self.commands: Registry = standard_commands()
        if options.trust:
            trust.trust(paths, workspace)
        self._load()

    @property
    def hint(self) -> str:
        """What a welcome should say about this house (lines of plain text); empty outside the demo."""
        return self._hint

    # ---- settings ---------------------------------------------------------------------------------------

    def _load(self) -> None:
        self.loaded: Loaded = load(self._paths, self.workspace, trusted=self.trusted, flags=self._flags)
        self.settings = self.loaded.settings
        self.notices: tuple[str, ...] = self.loaded.notices
        entries: dict[str, dict[str, Any]] = {
            name: msgspec.structs.asdict(entry) for name, entry in self.settings.models.items()
        }
        models = {**entries, **self._demo_models}
        self.catalog = Catalog.default().extended(models, self.settings.model.currency)

    @property
    def trusted(self) -> bool:
        if self._trust_answer is not None:
            return self._trust_answer
        return trust.is_trusted(self._paths, self.workspace)

    def needs_trust(self) -> bool:
        """Whether this folder holds files that would steer the agent and nobody has been asked yet."""
        if self.trusted or self._trust_answer is not None:
            return False
        config_dir = self._paths.config_file.parent
        steering = set(instruction_files(self.workspace, config_dir, True))
        steering -= set(instruction_files(self.workspace, config_dir, False))
        return bool(steering) or project_file(self.workspace).is_file()

    def trust(self, yes: bool) -> None:
        """The user's answer; yes is remembered for this folder, no for as long as this house stands."""
        self._trust_answer = yes
        if yes:
            trust.trust(self._paths, self.workspace)
        self._load()

    def needs_key(self) -> bool:
        return not (self._transport or self._key(self.settings.model.base_url).value)

    def _key(self, base_url: str) -> auth.Key:
        if self._options.key:
            return auth.Key(self._options.key, "given")
        return auth.find_key(self._paths, base_url)

    def _endpoint(self, started_with: str) -> str:
        """Where a session is asked: what the command line names, else where it was started, else the setting."""
        named = self._flags.get("model.base_url")
        return str(named or started_with or self.settings.model.base_url)

    def save_key(self, key: str) -> Path:
        """Store the key in the 0600 auth file and use it from the next request on. Returns the file."""
        auth.store_key(self._paths, self.settings.model.base_url, key)
        self._connections.forget()
        return self._paths.auth_file

    def models(self) -> Sequence[ModelSpec]:
        return self.catalog.models

    # ---- sessions ---------------------------------------------------------------------------------------

    def sessions(self) -> Sequence[SessionInfo]:
        return self.store.list()

    async def new(self) -> Session:
        """A fresh session in this workspace, recorded with the prefix that all its requests will start with."""
        folder = await asyncio.to_thread(self.store.new_folder)
        start = await asyncio.to_thread(self._start, folder.name)
        session, _ = await open_in_thread(
            self._supplies(start.endpoint), folder, self.workspace, start, self.trusted
        )
        return session

    async def resume(self, selector: str = "latest") -> Session:
        """A stored session: id, prefix, title or `latest` (of this workspace first). Raises SessionError."""
        info = await asyncio.to_thread(self.store.find, selector, str(self.workspace))
        workspace = self._folder_of(info)
        session, mended = await open_in_thread(
            self._supplies(self._endpoint(info.endpoint)), info.path, workspace, None, self.trusted
        )
        self.notices = (*self.notices, *mended)
        self._apply_flags(session)
        return session

    def _folder_of(self, info: SessionInfo) -> Path:
        workspace = Path(info.workspace)
        if workspace.is_dir():
            return workspace
        self.notices = (*self.notices, f"The folder {workspace} is gone; working in {self.workspace}.")
        return self.workspace

    def _apply_flags(self, session: Session) -> None:
        """What the command line asks for holds in a resumed session too; it is logged like any change."""
        if "permissions.mode" in self._flags:
            session.set_mode(self.settings.permissions.mode)
        if "model.name" in self._flags:
            session.set_model(self.settings.model.name)
        if "model.effort" in self._flags:
            session.set_effort(self.settings.model.effort)

    def _start(self, session: str) -> SessionStarted:
        settings = self.settings
        resolved = self.catalog.resolve(settings.model.name)
        text, notices = instructions(self.workspace, self._paths.config_file.parent, self.trusted)
        self.notices = (*self.notices, *(notice for notice in (resolved.notice, *notices) if notice))
        return SessionStarted(
            session=session,
            workspace=str(self.workspace),
            system=self.library.text(
                "system", workspace=str(self.workspace), platform=_platform(), instructions=text
            ),
            tools=self.tools.schemas,
            model=resolved.spec.id,
            effort=settings.model.effort,
            mode=settings.permissions.mode,
            version=__version__,
            window=resolved.spec.window,
            trusted=self.trusted,
            endpoint=settings.model.base_url,
        )

    def _supplies(self, endpoint: str) -> Supplies:
        settings = self.settings
        context, limits = settings.context, settings.limits
        return Supplies(
            client=self._connections.to(endpoint),
            catalog=self.catalog,
            currency=settings.model.currency,
            registry=self.tools,
            library=self.library,
            limits=Limits(
                steps=limits.max_turns, turn_cost=limits.max_cost_turn, session_cost=limits.max_cost_session
            ),
            upkeep=UpkeepSettings(
                policy=LadderPolicy(
                    automatic=context.automatic,
                    soft_limit=context.soft_limit,
                    evict_at=context.evict_at,
                    asks=self._options.interactive,
                ),
                summary=context.summary,
                # A briefing is written by the cheaper model where it is known to be served.
                briefing_model=DEFAULT_MODEL if auth.is_official(endpoint) else "",
            ),
            auto=lambda: AutoCompact(on=context.auto_compact, threshold=context.auto_compact_at),
            policy=self._policy,
            tool_timeout_s=limits.tool_timeout_s,
        )

    def _policy(self, roots: Roots) -> Policy:
        permissions, workspace = self.settings.permissions, roots.workspace
        rules = Rules(
            allow=(*permissions.allow, *stored_rules(self._paths, workspace)),
            ask=permissions.ask,
            deny=permissions.deny,
            persist=lambda rule: store_rule(self._paths, workspace, rule),
        )
        return Policy(roots, home_folder(), rules)

    # ---- the model --------------------------------------------------------------------------------------

    async def warm(self) -> None:
        """Import what the first request will need; called after the first paint."""
        await self._connections.warm()

    async def command(self, line: str, session: Session) -> Result:
        context = CommandContext(
            session=session,
            store=self.store,
            version=__version__,
            settings=self.settings,
            catalog=self.catalog,
        )
        return await self.commands.dispatch(line, context)

    def show_notices(self, session: Session) -> None:
        """Put what the reader should know into the session's outward door, once."""
        notices, self.notices = self.notices, ()
        for text in notices:
            session.tell(Notice(text, "warning"))

    async def close(self) -> None:
        await self._connections.close()


def _platform() -> str:
    """`Linux` or `macOS`: nothing that changes between two runs on one machine."""
    return {"Darwin": "macOS"}.get(platform.system(), platform.system())
