"""The terminal app: a switchboard between widgets, keys and what waits backstage.

Invariant: it decides nothing about talks; every key and message is passed to the one part that owns it, and
only what the first frame shows is imported here.
"""

from __future__ import annotations

import asyncio
import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.geometry import Offset
from textual.message import Message
from textual.screen import ModalScreen
from textual.theme import Theme
from textual.widgets import Input, TextArea

from deeptide.protocol.errors import DeepTideError
from deeptide.tui.driver import TerminalDriver
from deeptide.tui.guard import Guard
from deeptide.tui.history import History, history_file
from deeptide.tui.keys import Twice, teach_legacy_keys
from deeptide.tui.manners import Manners
from deeptide.tui.palette import Palette, choose
from deeptide.tui.ports import HouseFactory, Start
from deeptide.tui.widgets.activity import Activity
from deeptide.tui.widgets.composer import Composer
from deeptide.tui.widgets.status import Status
from deeptide.tui.widgets.welcome import Welcome

if TYPE_CHECKING:
    from deeptide.tui.backstage import Backstage
    from deeptide.tui.scrollback.scrollback import Scrollback
    from deeptide.tui.widgets.approval import ApprovalPanel


AGAIN = {
    "quit": "Ctrl+C again to quit",
    "clear": "Esc again to clear",
    "rewind": "Esc again to rewind",
}


class DeepTideApp(App[int]):
    """`failure` is what kept it from going on; `left` is the session to come back to. `still`
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
        # Known before the stylesheet is made: a change of theme would parse it twice.
        self._theme = self.palette.theme()
        self.set_reactive(App.theme, self._theme.name)
        super().__init__(driver_class=TerminalDriver)
        self.failure: DeepTideError | None = None
        self.left = ""
        self.manners = Manners(self.write, os.environ)
        self.workspace = workspace
        self._factory, self._start = house_factory, start or Start()
        self._back: Backstage | None = None
        self._early: list[Composer.Sent] = []
        self._exit_code: int | None = None
        self._twice = Twice()
        history = History(history_file(home, workspace) if home else None)
        self.composer = Composer(history, self.palette)
        self.activity = Activity(self.palette, moving=not still)
        self.status, self.welcome = Status(self.palette), Welcome(workspace, self.palette)

    @property
    def back(self) -> Backstage:
        """There soon after the first frame, and before any message of what it mounts."""
        assert self._back is not None
        return self._back

    @property
    def available_themes(self) -> dict[str, Theme]:
        return {self._theme.name: self._theme}

    # ---- the screen ------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        with Container(id="page"):
            yield self.welcome
        with Container(id="foot"):
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
        self.manners.title(self.workspace.name)
        if isinstance(self._driver, TerminalDriver):
            Guard(self._driver, self.leave).stand()

    def on_ready(self) -> None:
        self.run_worker(self._enter(), name="enter")

    async def _enter(self) -> None:
        # Nothing of it is in the first frame, and importing it costs as much as that frame.
        module = await asyncio.to_thread(importlib.import_module, "deeptide.tui.backstage")
        back: Backstage = module.Backstage(self, self._factory)
        await back.mount()
        self._back = back
        early, self._early = self._early, []
        for sent in early:
            back.say(sent)
        await asyncio.to_thread(self.composer.history.load)
        await back.open(self._start)

    def action_leave(self) -> None:
        self.leave(0)

    def leave(self, code: int) -> None:
        """Save, close and end with `code`. Asked again meanwhile, only the code is another."""
        first, self._exit_code = self._exit_code is None, code
        if first:
            self.run_worker(self._leave(), name="leave", group="leave")

    async def _leave(self) -> None:
        self.activity.tell("Saving", 60)
        if self._back is not None:
            try:
                self.left = await self._back.leave()
            except DeepTideError as error:
                self.failure = error
        code = self._exit_code or 0
        self.exit(code, return_code=code)

    # ---- what widgets ask for --------------------------------------------------------------------------

    def on_composer_sent(self, event: Composer.Sent) -> None:
        if self._back is None:
            self._early.append(event)
        else:
            self._back.say(event)

    def on_composer_written(self) -> None:
        """Who writes on did not mean the first press of a pair."""
        if not self.composer.empty:
            self._twice.forget()
            self.activity.untell(*AGAIN.values())

    def on_composer_wished(self, event: Composer.Wished) -> None:
        match event.wish:
            case "quit":
                self.action_leave()
            case _ if self._back is None:
                pass
            case "escape":
                self._escape()
            case "editor":
                self._back.edit()
            case "take-back":
                self._back.take_back()
            case "send-waiting":
                self._back.send_waiting()
            case wish:
                self._back.scroll(wish)

    def on_approval_panel_answered(self, event: ApprovalPanel.Answered) -> None:
        self.back.lobby.session.answer(event.approval_id, event.decision)

    def on_approval_panel_typed_through(self, event: ApprovalPanel.TypedThrough) -> None:
        self.composer.type_through(event.key, event.character)

    def on_approval_panel_emptied(self, event: Message) -> None:
        self.composer.prompt.focus(scroll_visible=False)

    def on_scrollback_link_clicked(self, event: Scrollback.LinkClicked) -> None:
        self.back.act(self.back.desk.follow(event.address))

    def on_app_focus(self) -> None:
        self.manners.present = True

    def on_app_blur(self) -> None:
        self.manners.present = False

    # ---- keys ------------------------------------------------------------------------------------------

    def _escape(self) -> None:
        if self.back.interrupt():
            return
        empty = self.composer.empty
        if not self._twice.press("escape"):
            self.activity.tell(AGAIN["rewind" if empty else "clear"], Twice.WITHIN_S)
        elif empty:
            self.back.act(self.back.desk.open("rewind"))
        else:
            self.composer.clear()
            self.activity.tell("Cleared; ↑ has it")

    def action_interrupt(self) -> None:
        """Ctrl+C: the nearest thing first; pressed twice it always quits."""
        written = "" if self.composer.replaceable else self.composer.prompt.selected_text
        if selected := self.screen.get_selected_text() or written:
            self.copy_to_clipboard(selected)
            return
        if self._twice.press("ctrl+c"):
            self.action_leave()
            return
        self.activity.tell(AGAIN["quit"], Twice.WITHIN_S)
        if isinstance(self.screen, ModalScreen):
            self.screen.dismiss(None)
        elif not self.composer.empty:
            self.composer.clear()
        elif self._back is not None:
            self._back.interrupt()

    def action_cycle_mode(self) -> None:
        if self._back is not None and not isinstance(self.screen, ModalScreen):
            self._back.cycle_mode()

    def action_unfold(self) -> None:
        if self._back is not None:
            self._back.scrollback.toggle_folds()

    def action_toggle_plan(self) -> None:
        if self._back is not None:
            self._back.plan.toggle()

    def action_help(self) -> None:
        if self._back is not None:
            self._back.act(self._back.desk.open("help"))
