"""Everything the first frame does not show: transcript, panels, desk and lobby; loaded after it, in a thread.

Invariant: nothing here is imported before the first paint, and there is one of it for as long as the app runs.
"""

from __future__ import annotations

import os
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from textual.app import SuspendNotSupported
from textual.worker import WorkerError

from deeptide.protocol.errors import DeepTideError
from deeptide.protocol.events import ApprovalRequested, Notice, TurnEnded
from deeptide.tui.bridge import Bridge, Stage
from deeptide.tui.desk import Desk
from deeptide.tui.editor import edit
from deeptide.tui.files import workspace_files
from deeptide.tui.keys import next_mode
from deeptide.tui.lobby import Declined, Lobby, is_about_the_key
from deeptide.tui.ports import House, HouseFactory, Start
from deeptide.tui.room import Room
from deeptide.tui.scrollback.scrollback import Scrollback
from deeptide.tui.widgets.approval import ApprovalPanel
from deeptide.tui.widgets.composer import Composer, Wish
from deeptide.tui.widgets.plan import PlanPanel
from deeptide.tui.widgets.queue import QueueLines

if TYPE_CHECKING:
    from deeptide.tui.app import DeepTideApp

INTERRUPTING = "Interrupting"
PANELS = Path(__file__).with_name("panels.tcss")


class Backstage:
    def __init__(self, app: DeepTideApp, factory: HouseFactory) -> None:
        self._app = app
        self.scrollback, self.approval = Scrollback(app.palette), ApprovalPanel()
        self.plan, self.queue = PlanPanel(), QueueLines()
        stage = Stage(
            self.scrollback, self.approval, self.plan, self.queue, app.activity, app.composer, app.status,
            shown=self._shown, called=self._called,
        )  # fmt: skip
        app.composer.list_files = lambda: workspace_files(app.workspace)
        self.lobby = Lobby(factory, stage, ask=app.push_screen_wait, follow=self._follow)
        self.desk = Desk(
            self.lobby, ask=app.push_screen_wait, put_back=app.composer.put_back, leave=app.action_leave,
            copy=app.copy_to_clipboard, visit=app.open_url, palette=app.palette,
        )  # fmt: skip

    async def mount(self) -> None:
        app = self._app
        app.stylesheet.read(PANELS)
        self.scrollback.display = self.scrollback.can_focus = False
        await app.query_one("#page").mount(self.scrollback)
        await app.screen.mount_all([self.plan, self.queue, self.approval], after="#page")
        room = Room(app.query_one("#foot"), (self.plan, self.queue), self.approval)
        app.screen.screen_layout_refresh_signal.subscribe(self.approval, room.share)

    async def open(self, start: Start) -> None:
        """The house and the first session; what keeps them from opening ends the app."""
        try:
            house = await self.lobby.open()
            self._dress(house)
            await self.lobby.begin(start)
        except DeepTideError as error:
            self._app.failure = None if isinstance(error, Declined) else error
            self._app.exit(error.exit_code, return_code=error.exit_code)
            return
        if start.prompt:
            self.say(Composer.Sent(start.prompt))
        self._app.run_worker(house.warm(), name="warm")
        if start.how == "pick":
            await self.desk.pick_session()

    def _dress(self, house: House) -> None:
        app, ui = self._app, house.settings.ui
        app.workspace = house.workspace
        app.welcome.at(house.workspace)
        app.welcome.hint(house.hint)
        app.composer.commands = house.commands
        app.manners.bell, app.manners.notify = ui.bell, ui.notify

    async def leave(self) -> str:
        """Save and close, end the user's own commands; the id to come back with, or nothing."""
        left = await self.lobby.leave()
        for act in [worker for worker in self._app.workers if worker.group == "acts"]:
            act.cancel()
            with suppress(WorkerError):
                await act.wait()
        return left

    # ---- what the bridge tells --------------------------------------------------------------------------

    def _follow(self, bridge: Bridge) -> None:
        self._app.run_worker(bridge.run(), name="bridge", group="bridge", exclusive=True)

    def _shown(self) -> None:
        """After each frame."""
        assert self.lobby.bridge is not None
        app, empty = self._app, not self.lobby.bridge.transcript.blocks
        if app.welcome.display != empty:
            app.welcome.display, self.scrollback.display = empty, not empty
        if not self.lobby.busy:
            app.activity.untell(INTERRUPTING)
        facts = app.status.facts
        app.welcome.detail(f"{facts.model}  {facts.effort}")
        app.manners.title(facts.title or app.workspace.name)

    def _called(self, event: TurnEnded | ApprovalRequested) -> None:
        why: Literal["done", "question"] = "done" if isinstance(event, TurnEnded) else "question"
        self._app.manners.call(why, self._app.activity.elapsed)
        if isinstance(event, TurnEnded) and is_about_the_key(event):
            self.act(self.lobby.settle_key(event.error))

    # ---- what keys and widgets ask for --------------------------------------------------------------------

    def act(self, work: Coroutine[Any, Any, object]) -> None:
        """Do beside the app what may take a while; a refusal is shown and never thrown at the app."""

        async def guarded() -> None:
            try:
                await work
            except DeepTideError as error:
                self.lobby.session.tell(Notice(str(error), "error", error.advice))
            if self.lobby.bridge:
                self.lobby.bridge.refresh()

        self._app.run_worker(guarded(), group="acts")

    def say(self, sent: Composer.Sent) -> None:
        self.scrollback.jump_to_end()
        self.act(self.desk.take(sent.text, steer=sent.steer))

    def interrupt(self) -> bool:
        """Whether there was something to interrupt."""
        if self.lobby.busy:
            self._app.activity.tell(INTERRUPTING)
            self.act(self.lobby.session.cancel())
            return True
        return False

    def cycle_mode(self) -> None:
        if self.lobby.bridge is not None:
            self.lobby.session.set_mode(next_mode(self.lobby.session.fold.mode))

    def take_back(self) -> None:
        if (text := self.lobby.session.unqueue()) is not None:
            self._app.composer.put(text)

    def send_waiting(self) -> None:
        """What an interrupted turn left waiting is said now, the first of it first."""
        session = self.lobby.session
        if not session.busy and (text := session.unqueue()) is not None:
            session.submit(text)

    def edit(self) -> None:
        """The prompt in the user's own editor, to which the terminal is lent meanwhile."""
        app = self._app
        try:
            with app.suspend():
                text = edit(app.composer.text, os.environ)
            app.composer.put(text)
        except (DeepTideError, SuspendNotSupported) as error:
            app.activity.tell(f"{error} {getattr(error, 'advice', '')}", 6)

    def scroll(self, wish: Wish) -> None:
        match wish:
            case "page-up":
                self.scrollback.action_page_up()
            case "page-down":
                self.scrollback.action_page_down()
            case "top":
                self.scrollback.action_scroll_home()
            case _:
                self.scrollback.jump_to_end()
