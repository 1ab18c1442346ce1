"""The terminal app: a switchboard between widgets, the desk and the session on the stage.

Invariant: it decides nothing about talks; every key and message is passed to the one part that owns it.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from textual.app import App, ComposeResult, SuspendNotSupported
from textual.binding import Binding
from textual.containers import Container
from textual.geometry import Offset
from textual.screen import ModalScreen
from textual.widgets import Input, TextArea

from deeptide.protocol.errors import DeepTideError
from deeptide.protocol.events import ApprovalRequested, Notice, TurnEnded
from deeptide.tui.bridge import Bridge, Stage
from deeptide.tui.desk import Desk
from deeptide.tui.editor import edit
from deeptide.tui.history import History, history_file
from deeptide.tui.keys import Twice, next_mode, teach_legacy_keys
from deeptide.tui.lobby import Declined, Lobby, is_about_the_key
from deeptide.tui.manners import Manners
from deeptide.tui.mentions import workspace_files
from deeptide.tui.palette import PALETTES, Palette, choose
from deeptide.tui.ports import House, HouseFactory, Start
from deeptide.tui.widgets.activity import Activity
from deeptide.tui.widgets.approval import ApprovalPanel
from deeptide.tui.widgets.composer import Composer, Wish
from deeptide.tui.widgets.page import Page
from deeptide.tui.widgets.plan import PlanPanel
from deeptide.tui.widgets.queue import QueueLines
from deeptide.tui.widgets.status import Status
from deeptide.tui.widgets.welcome import Welcome


class DeepTideApp(App[int]):
    """`failure` is what kept it from going on; `farewell` is said on the plain terminal afterwards. `still`
    keeps everything from moving by itself, for pictures and slow lines."""

    CSS_PATH = Path(__file__).with_name("app.tcss")
    TITLE = "DeepTide"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        Binding("ctrl+q", "leave", show=False, priority=True),
        Binding("shift+tab", "cycle_mode", show=False, priority=True),
        Binding("ctrl+o", "unfold", show=False),
        Binding("ctrl+t", "toggle_plan", show=False, priority=True),
        Binding("f1", "help", show=False),
    ]

    def __init__(
        self,
        house_factory: HouseFactory,
        *,
        workspace: Path,
        home: Path | None = None,
        start: Start | None = None,
        palette: Palette | None = None,
        still: bool = False,
    ) -> None:
        teach_legacy_keys()
        self.palette = palette or choose("auto", os.environ)
        super().__init__()
        for one in PALETTES.values():
            self.register_theme(one.theme())
        self.theme = self.palette.theme().name
        self.failure: DeepTideError | None = None
        self.farewell = ""
        self.manners = Manners(self.write, os.environ)
        self._start = start or Start()
        self._workspace = workspace
        self._twice = Twice()
        history = History(history_file(home, workspace) if home else None)
        self.composer = Composer(history, lambda: workspace_files(self._workspace))
        self.activity = Activity(moving=not still)
        self.scrollback = Page(self.palette)
        self.approval, self.plan = ApprovalPanel(), PlanPanel()
        self.queue, self.status, self.welcome = QueueLines(), Status(), Welcome(workspace)
        stage = Stage(
            self.scrollback, self.approval, self.plan, self.queue, self.activity, self.composer,
            self.status, shown=self._shown, called=self._called,
        )  # fmt: skip
        self.lobby = Lobby(house_factory, stage, ask=self.push_screen_wait, follow=self._follow)
        self.desk = Desk(
            self.lobby, ask=self.push_screen_wait, put_back=self.composer.put_back,
            leave=self.action_leave,
            copy=self.copy_to_clipboard,
            visit=self.open_url, palette=self.palette,
        )  # fmt: skip

    # ---- the screen ------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        with Container(id="page"):
            yield self.welcome
        yield self.plan
        yield self.queue
        yield self.approval
        yield self.activity
        yield self.composer
        yield self.status

    @property
    def cursor_position(self) -> Offset:
        """Where the real cursor is parked with every frame: at the caret, so that input methods find it."""
        focused = self.focused if self._screen_stack else None
        if isinstance(focused, TextArea | Input):
            return focused.cursor_screen_offset
        return self._parked

    @cursor_position.setter
    def cursor_position(self, position: Offset) -> None:
        self._parked = position

    def write(self, sequence: str) -> None:
        """Send a sequence to the terminal as it is."""
        if self._driver is not None:
            self._driver.write(sequence)
            self._driver.flush()

    def copy_to_clipboard(self, text: str, what: str = "") -> None:
        self._clipboard = text
        self.activity.tell(self.manners.copy(text, what))

    # ---- opening and leaving ---------------------------------------------------------------------------

    def on_mount(self) -> None:
        self.composer.prompt.focus()
        self.manners.title(self._workspace.name)
        if not self.is_headless:
            for number in (signal.SIGTERM, signal.SIGHUP):
                asyncio.get_running_loop().add_signal_handler(number, self.action_leave)

    async def on_ready(self) -> None:
        # Not before the first paint: it begins to load its Markdown parser when it is mounted.
        self.scrollback.display = self.scrollback.can_focus = False
        await self.query_one("#page").mount(self.scrollback)
        self.run_worker(self._enter(), name="enter")

    async def _enter(self) -> None:
        try:
            await asyncio.to_thread(self.composer.history.load)
            house = await self.lobby.open()
            self._dress(house)
            await self.lobby.begin(self._start)
        except DeepTideError as error:
            self.failure = None if isinstance(error, Declined) else error
            self.exit(error.exit_code, return_code=error.exit_code)
            return
        if self._start.prompt:
            self.on_composer_sent(Composer.Sent(self._start.prompt))
        self.run_worker(house.warm(), name="warm")
        if self._start.how == "pick":
            await self.desk.pick_session()

    def _dress(self, house: House) -> None:
        self._workspace = house.workspace
        self.welcome.at(house.workspace)
        self.composer.commands = house.commands
        ui = house.settings.ui
        self.manners.bell, self.manners.notify = ui.bell, ui.notify

    def _follow(self, bridge: Bridge) -> None:
        self.run_worker(bridge.run(), name="bridge", group="bridge", exclusive=True)

    def _shown(self) -> None:
        """After each frame of the bridge."""
        assert self.lobby.bridge is not None
        empty = not self.lobby.bridge.transcript.blocks
        if self.welcome.display != empty:
            self.welcome.display, self.scrollback.display = empty, not empty
        facts = self.status.facts
        self.welcome.detail(f"{facts.model}  {facts.effort}")
        self.manners.title(facts.title or self._workspace.name)

    def _called(self, event: TurnEnded | ApprovalRequested) -> None:
        self.manners.call(event, self.activity.elapsed)
        if isinstance(event, TurnEnded) and is_about_the_key(event):
            self._act(self.lobby.settle_key(event.error))

    def action_leave(self) -> None:
        self.run_worker(self._leave(), name="leave", group="leave", exclusive=True)

    async def _leave(self) -> None:
        self.activity.tell("Saving", 60)
        self.farewell = await self.lobby.leave()
        self.exit(0)

    # ---- what widgets ask for --------------------------------------------------------------------------

    def on_composer_sent(self, event: Composer.Sent) -> None:
        self.scrollback.jump_to_end()
        self._act(self.desk.take(event.text, steer=event.steer))

    def _act(self, work: Coroutine[Any, Any, object]) -> None:
        """Do beside the app what may take a while; a refusal is shown and never thrown at the app."""

        async def guarded() -> None:
            try:
                await work
            except DeepTideError as error:
                self.lobby.session.tell(Notice(str(error), "error", error.advice))
            if self.lobby.bridge:
                self.lobby.bridge.refresh()

        self.run_worker(guarded(), group="acts")

    def on_composer_wished(self, event: Composer.Wished) -> None:
        acts: dict[Wish, Callable[[], object]] = {
            "escape": self._escape,
            "quit": self.action_leave,
            "take-back": self._take_back,
            "editor": self._edit,
            "page-up": self.scrollback.action_page_up,
            "page-down": self.scrollback.action_page_down,
            "top": self.scrollback.action_scroll_home,
            "bottom": self.scrollback.jump_to_end,
        }
        acts[event.wish]()

    def on_approval_panel_answered(self, event: ApprovalPanel.Answered) -> None:
        self.lobby.session.answer(event.approval_id, event.decision)

    def on_approval_panel_typed_through(self, event: ApprovalPanel.TypedThrough) -> None:
        if not self.composer.empty:
            self.composer.type_through(event.character)

    def on_approval_panel_emptied(self) -> None:
        self.composer.prompt.focus(scroll_visible=False)

    def on_scrollback_link_clicked(self, event: Page.LinkClicked) -> None:
        self._act(self.desk.follow(event.address))

    def on_app_focus(self) -> None:
        self.manners.present = True

    def on_app_blur(self) -> None:
        self.manners.present = False

    # ---- keys ------------------------------------------------------------------------------------------

    def _escape(self) -> None:
        if self.lobby.busy:
            self.activity.tell("Interrupting")
            self._act(self.lobby.session.cancel())
        elif self._twice.press("escape"):
            self._act(self.desk.open("rewind"))
        else:
            self.activity.tell("Esc again to rewind", Twice.WITHIN_S)

    def action_interrupt(self) -> None:
        """Ctrl+C: the nearest thing first; pressed twice it always quits."""
        if selected := self.screen.get_selected_text() or self.composer.prompt.selected_text:
            self.copy_to_clipboard(selected)
            return
        if self._twice.press("ctrl+c"):
            self.action_leave()
            return
        self.activity.tell("Ctrl+C again to quit", Twice.WITHIN_S)
        if isinstance(self.screen, ModalScreen):
            self.screen.dismiss(None)
        elif not self.composer.empty:
            self.composer.clear()
        elif self.lobby.busy:
            self._act(self.lobby.session.cancel())

    def action_cycle_mode(self) -> None:
        if self.lobby.bridge is not None and not isinstance(self.screen, ModalScreen):
            self.lobby.session.set_mode(next_mode(self.lobby.session.fold.mode))

    def action_unfold(self) -> None:
        self.scrollback.toggle_folds()

    def action_toggle_plan(self) -> None:
        self.plan.toggle()

    def action_help(self) -> None:
        self._act(self.desk.open("help"))

    def _take_back(self) -> None:
        if (text := self.lobby.session.unqueue()) is not None:
            self.composer.put(text)

    def _edit(self) -> None:
        try:
            with self.suspend():
                text = edit(self.composer.text, os.environ)
            self.composer.put(text)
        except (DeepTideError, SuspendNotSupported) as error:
            self.activity.tell(f"{error} {getattr(error, 'advice', '')}", 6)
