"""What becomes of a text that was sent, and of what a command answered.

Invariant: a text is said, run, dispatched or put back into the composer with the reason; it is never dropped.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable

from deeptide.commands.results import Confirm, Copy, Nothing, Open, Quit, Result, Submit, Switch, Text
from deeptide.protocol.errors import DeepTideError
from deeptide.protocol.events import Notice, Rewound
from deeptide.session.rewinding import turn_points
from deeptide.tui.lobby import AskScreen, Lobby
from deeptide.tui.palette import Palette
from deeptide.tui.screens.ask import confirm
from deeptide.tui.screens.help import Help
from deeptide.tui.screens.models import ModelPicker
from deeptide.tui.screens.points import PointPicker, turn_value
from deeptide.tui.screens.sessions import SessionPicker
from deeptide.tui.screens.sheet import Sheet

COMMAND = re.compile(r"/[A-Za-z?][\w-]*(?:\s|$)")


class Desk:
    """`ask(screen)` shows a screen and gives its answer; `put_back(text)` returns words to the composer;
    `copy(text, what)` fills the clipboard; `visit(address)` opens a browser; `leave()` quits.

    What is sent before the first session is open waits for it, in order."""

    def __init__(
        self,
        lobby: Lobby,
        *,
        ask: AskScreen,
        put_back: Callable[[str], None],
        leave: Callable[[], None],
        copy: Callable[[str, str], None],
        visit: Callable[[str], None],
        palette: Palette,
    ) -> None:
        self._lobby = lobby
        self._ask = ask
        self._put_back = put_back
        self._leave = leave
        self._copy = copy
        self._visit = visit
        self._palette = palette

    async def take(self, text: str, *, steer: bool = False) -> None:
        await self._lobby.opened.wait()
        session = self._lobby.session
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
        self._lobby.session.tell(Notice(str(error), "error", error.advice))

    async def dispatch(self, line: str) -> None:
        """Raises DeepTideError as the command does. Words that it takes back are offered for editing."""
        session = self._lobby.session
        turns, seen = turn_points(session.fold), len(session.records)
        result = await self._lobby.house.command(line, session)
        for record in session.records[seen:]:
            if isinstance(record.event, Rewound):
                to = record.event.to
                self._put_back(next((turn.words for turn in turns if turn.seq >= to), ""))
        await self._draw(result)

    async def _draw(self, result: Result) -> None:
        match result:
            case Text(markdown, title):
                await self._tell(markdown, title)
            case Open(screen, argument):
                await self.open(screen, argument)
            case Switch(to, argument):
                await self._lobby.switch(to, argument)
            case Submit(text):
                self._lobby.session.submit(text)
            case Confirm(question, line):
                if await self._ask(confirm(question)) == "yes":
                    await self.dispatch(line)
            case Copy(text, what):
                self._copy(text, what)
            case Quit():
                self._leave()
            case Nothing():
                pass

    async def _tell(self, markdown: str, title: str) -> None:
        """A sentence becomes a remark in the talk; anything longer gets a sheet of its own."""
        if not title and markdown.count("\n") < 2 and len(markdown) < 400:
            self._lobby.session.tell(Notice(markdown, "info"))
        else:
            await self._ask(Sheet(title or "DeepTide", markdown, self._palette))

    # ---- screens ---------------------------------------------------------------------------------------

    async def open(self, screen: str, argument: str = "") -> None:
        await self._lobby.opened.wait()
        match screen:
            case "sessions":
                await self.pick_session()
            case "rewind":
                await self._rewind()
            case "model" | "effort":
                await self._pick_model()
            case "login":
                await self._lobby.settle_key()
            case "help":
                await self._help(argument)
            case _:
                self._lobby.session.tell(Notice(f"There is no screen called {screen} here.", "warning"))

    async def follow(self, address: str) -> None:
        """A link of the model's was clicked: it is shown in full before anything is opened."""
        if not address.startswith(("http://", "https://")):
            self._copy(address, "the address")
        elif await self._ask(confirm(f"Open this address in the browser?\n\n{address}")) == "yes":
            self._visit(address)

    async def _help(self, name: str) -> None:
        commands = self._lobby.house.commands
        topic = commands.find(name) if name else None
        if topic is None:
            await self._ask(Help(commands.complete("")))
        else:
            await self._ask(Sheet(f"/{topic.name}", topic.help(), self._palette))

    async def pick_session(self) -> None:
        listed = await asyncio.to_thread(self._lobby.house.sessions)
        current = self._lobby.session.id
        picked = await self._ask(SessionPicker(listed, self._lobby.house.workspace, current, time.time()))
        if picked and picked != current:
            await self._lobby.switch("resume", picked)

    async def _rewind(self) -> None:
        session = self._lobby.session
        turns = turn_points(session.fold)
        picker = PointPicker(turns, session.checkpoints.list(), session.records, time.time())
        picked = await self._ask(picker)
        turn = next((one for one in turns if picked == turn_value(one)), None)
        if turn is not None:
            session.tell(Notice(await session.rewind_to(turn)))
            self._put_back(turn.words)
        elif picked:
            await self.dispatch(f"/rewind {picked}")

    async def _pick_model(self) -> None:
        fold = self._lobby.session.fold
        picked = await self._ask(ModelPicker(self._lobby.house.models(), fold.model, fold.effort))
        model, _, effort = (picked or "").partition(" ")
        if model and model != fold.model:
            await self.dispatch(f"/model {model}")
        if effort and effort != self._lobby.session.fold.effort:
            await self.dispatch(f"/effort {effort}")
