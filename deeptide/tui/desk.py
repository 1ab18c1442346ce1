"""What becomes of a text that was sent, and of what a command answered.

Invariant: a text is said, run, dispatched or put back into the composer with the reason; it is never dropped.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from deeptide.commands.results import Confirm, Nothing, Open, Quit, Result, Submit, Switch, Text
from deeptide.protocol.errors import DeepTideError
from deeptide.protocol.events import Notice
from deeptide.tui.palette import Palette
from deeptide.tui.ports import House
from deeptide.tui.screens.ask import confirm
from deeptide.tui.screens.help import Help
from deeptide.tui.screens.models import ModelPicker
from deeptide.tui.screens.points import PointPicker
from deeptide.tui.screens.sessions import SessionPicker
from deeptide.tui.screens.sheet import Sheet

if TYPE_CHECKING:
    from deeptide.session.session import Session

COMMAND = re.compile(r"/[A-Za-z?][\w-]*(?:\s|$)")


class Desk:
    """One house, one session at a time. `ask(screen)` shows a screen and gives its answer; `switch(to, argument)`
    opens another session; `put_back(text)` returns words to the composer; `leave()` quits."""

    def __init__(
        self,
        house: House,
        session: Callable[[], Session],
        *,
        ask: Callable[[Screen[Any]], Coroutine[Any, Any, Any]],
        switch: Callable[[str, str], Coroutine[Any, Any, None]],
        put_back: Callable[[str], None],
        leave: Callable[[], None],
        palette: Callable[[], Palette],
    ) -> None:
        self._house = house
        self._session = session
        self._ask = ask
        self._switch = switch
        self._put_back = put_back
        self._leave = leave
        self._palette = palette

    async def take(self, text: str, *, steer: bool = False) -> None:
        session = self._session()
        try:
            if COMMAND.match(text):
                await self.dispatch(text.strip())
            elif text.startswith("!") and text[1:].strip():
                await session.run_shell(text[1:].strip())
            elif steer:
                session.steer(text)
            else:
                session.submit(text)
        except DeepTideError as error:
            self._put_back(text)
            self.complain(error)

    def complain(self, error: DeepTideError) -> None:
        self._session().tell(Notice(str(error), "error", error.advice))

    async def dispatch(self, line: str) -> None:
        """Raises DeepTideError as the command does."""
        await self._draw(await self._house.command(line, self._session()))

    async def _draw(self, result: Result) -> None:
        match result:
            case Text(markdown, title):
                await self._tell(markdown, title)
            case Open(screen, argument):
                await self.open(screen, argument)
            case Switch(to, argument):
                await self._switch(to, argument)
            case Submit(text):
                self._session().submit(text)
            case Confirm(question, line):
                if await self._ask(confirm(question)) == "yes":
                    await self.dispatch(line)
            case Quit():
                self._leave()
            case Nothing():
                pass

    async def _tell(self, markdown: str, title: str) -> None:
        """A sentence becomes a remark in the talk; anything longer gets a sheet of its own."""
        if not title and markdown.count("\n") < 2 and len(markdown) < 400:
            self._session().tell(Notice(markdown, "info"))
        else:
            await self._ask(Sheet(title or "DeepTide", markdown, self._palette()))

    # ---- screens ---------------------------------------------------------------------------------------

    async def open(self, screen: str, argument: str = "") -> None:
        match screen:
            case "sessions" | "resume":
                await self.pick_session()
            case "checkpoints" | "rewind":
                await self._rewind()
            case "model" | "models" | "effort":
                await self._pick_model()
            case "help":
                topic = self._house.commands.find(argument.lstrip("/")) if argument else None
                await self._ask(Help(self._house.commands.complete(""), topic))
            case _:
                self._session().tell(Notice(f"There is no screen called {screen} here.", "warning"))

    async def pick_session(self) -> None:
        listed = await asyncio.to_thread(self._house.sessions)
        session = self._session()
        picked = await self._ask(SessionPicker(listed, self._house.workspace, session.id, time.time()))
        if picked and picked != session.id:
            await self._switch("resume", picked)

    async def _rewind(self) -> None:
        session = self._session()
        picker = PointPicker(session.checkpoints.list(), session.records, time.time())
        picked = await self._ask(picker)
        if picked:
            session.tell(Notice(await session.rewind(picked)))

    async def _pick_model(self) -> None:
        session = self._session()
        picker = ModelPicker(self._house.models(), session.fold.model, session.fold.effort)
        picked = await self._ask(picker)
        if not picked:
            return
        model, _, effort = picked.partition(" ")
        if model != session.fold.model:
            session.tell(Notice(session.set_model(model)))
        if effort and effort != session.fold.effort:
            session.set_effort(effort)
            session.tell(Notice(f"Effort: {effort}."))
