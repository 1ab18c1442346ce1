"""Who is in the house: it is opened here, a session is brought onto the stage, exchanged, and seen off.

Invariant: the app can be typed into all the while; what keeps the first session from opening is raised, and what
keeps a later one from opening leaves the current one where it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from textual.screen import Screen

from deeptide.model.errors import AuthFailed, MissingKey
from deeptide.protocol.errors import DeepTideError
from deeptide.protocol.events import Notice, TurnEnded
from deeptide.tui.bridge import Bridge, Stage
from deeptide.tui.ports import House, HouseFactory, Start
from deeptide.tui.screens.ask import trust
from deeptide.tui.screens.login import Login

if TYPE_CHECKING:
    from deeptide.session.session import Session

DEEPSEEK = "api.deepseek.com"

AskScreen = Callable[[Screen[Any]], Coroutine[Any, Any, Any]]


def is_about_the_key(ended: TurnEnded) -> bool:
    """Whether a turn failed because the key is missing or was refused."""
    return ended.advice in (AuthFailed.default_advice, MissingKey.default_advice)


class Declined(DeepTideError):
    """The user does not want to go on; nothing went wrong."""

    exit_code = 0


class Lobby:
    """`ask` shows a screen and gives its answer; `follow` runs a bridge in place of the one before; `opened` is
    set from the first session on."""

    def __init__(
        self, factory: HouseFactory, stage: Stage, *, ask: AskScreen, follow: Callable[[Bridge], None]
    ) -> None:
        self._factory = factory
        self._stage = stage
        self._ask = ask
        self._follow = follow
        self._house: House | None = None
        self.bridge: Bridge | None = None
        self.opened = asyncio.Event()

    @property
    def house(self) -> House:
        assert self._house is not None
        return self._house

    @property
    def session(self) -> Session:
        assert self.bridge is not None
        return self.bridge.session

    @property
    def busy(self) -> bool:
        """Whether anything runs that can be interrupted: a turn, a compaction, the user's own command."""
        return self.bridge is not None and (self.session.busy or self.session.shells > 0)

    async def open(self) -> House:
        """Build the house in a thread and settle what must be settled before a session can start."""
        house = await asyncio.to_thread(self._factory)
        if house.needs_trust():
            answer = await self._ask(trust(house.workspace))
            if answer == "quit":
                raise Declined("Nothing was started.")
            await asyncio.to_thread(house.trust, answer == "yes")
        self._house = house
        if house.needs_key():
            await self.settle_key()
        return house

    async def settle_key(self, refusal: str = "") -> None:
        """Ask for a key and keep it; the user may leave that for later."""
        kept: list[Path] = []

        async def keep(key: str) -> None:
            kept.append(await asyncio.to_thread(self.house.save_key, key))

        here = urlsplit(self.house.settings.model.base_url).hostname == DEEPSEEK
        if await self._ask(Login(refusal, keep, sk=here)) and self.bridge is not None:
            self.session.tell(Notice(f"The key is kept in {kept[-1]}.", advice="Send your message again."))

    async def begin(self, start: Start) -> None:
        """The first session. `pick` begins with a new one, over which the picker is shown."""
        resume = start.how == "resume"
        self._show(await (self.house.resume(start.selector or "latest") if resume else self.house.new()))

    async def switch(self, to: str, argument: str) -> None:
        before = self.session
        self._show(await (self.house.resume(argument or "latest") if to == "resume" else self.house.new()))
        await before.close()

    def _show(self, session: Session) -> None:
        self.bridge = Bridge(session, self._stage, ready=lambda: self.house.show_notices(session))
        self._follow(self.bridge)
        self.opened.set()

    async def leave(self) -> str:
        """Interrupt, save, close; the id to come back with, or nothing if nothing was said."""
        left = ""
        if self.bridge is not None:
            if self.session.fold.turns:
                left = self.session.id
            await self.session.close()
        if self._house is not None:
            await self._house.close()
        return left
