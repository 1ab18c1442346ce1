"""Where people write: prompt, suggestions, history, pastes. It knows words, not sessions.

Invariant: nothing typed is ever lost: a text leaves the composer only by being posted, by being put into the
history, or by the user's own editing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Static, TextArea

from deeptide.protocol.approvals import MODES, Mode
from deeptide.protocol.errors import DeepTideError
from deeptide.tui.history import History
from deeptide.tui.keys import NEWLINE, STEER
from deeptide.tui.mentions import best, open_mention
from deeptide.tui.palette import DARK, Palette
from deeptide.tui.pastes import Pastes
from deeptide.tui.ports import CommandInfo, CommandList
from deeptide.tui.widgets.prompt import Prompt
from deeptide.tui.widgets.suggestions import ROWS, Suggestion, Suggestions

FILES_FRESH_S = 10.0
PLACEHOLDER = "Ask for something; / commands, @ files, ! shell"
SEARCHING = "Search earlier prompts (Enter takes, Esc goes back)"

Wish = Literal[
    "escape", "quit", "take-back", "send-waiting", "editor", "page-up", "page-down", "top", "bottom"
]


class Composer(Vertical):
    class Sent(Message):
        """`steer` says it is meant for the running turn."""

        def __init__(self, text: str, steer: bool = False) -> None:
            super().__init__()
            self.text = text
            self.steer = steer

    class Written(Message):
        """The text is another, and not empty."""

    class Wished(Message):
        """A key that only the app can act on."""

        def __init__(self, wish: Wish) -> None:
            super().__init__()
            self.wish = wish

    def __init__(self, history: History, palette: Palette = DARK) -> None:
        super().__init__(id="composer")
        self.history = history
        self.commands: CommandList | None = None
        self.queued = False
        self.list_files: Callable[[], Sequence[str]] = tuple
        self._files: Sequence[str] | None = None
        self._files_at = 0.0
        self._draft: str | None = None
        self._quiet_for: str | None = None
        self._listed_for = ""
        self._pastes = Pastes()
        self.prompt = Prompt(self._offer, self._pastes)
        self.prompt.placeholder = PLACEHOLDER
        self.suggestions = Suggestions(palette)

    def compose(self) -> ComposeResult:
        with Horizontal(id="prompt-row"):
            yield Static("❯", id="glyph", markup=False)
            yield self.prompt

    def on_mount(self) -> None:
        self.call_after_refresh(self._add_suggestions)

    async def _add_suggestions(self) -> None:
        # Not in the first frame, which has nothing to suggest and would wait for them.
        if self.is_attached:
            await self.mount(self.suggestions, before=0)

    # ---- text ------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """What would be sent: every collapsed paste in full."""
        return self._pastes.expand(self.prompt.text)

    @property
    def empty(self) -> bool:
        return not self.prompt.text

    def put(self, text: str) -> None:
        self._quiet_for = text
        self.prompt.put(text)

    def put_back(self, text: str) -> None:
        """Words that could not be taken, or were taken back: they come back unless something new is being written
        (then ↑ has them), and selected: who types on replaces them, who moves the caret mends them."""
        if self.empty and text:
            self.put(text)
            self.prompt.select_all()

    @property
    def replaceable(self) -> bool:
        """Whether everything is selected, as after `put_back`."""
        return not self.empty and self.prompt.selected_text == self.prompt.text

    def clear(self) -> None:
        """Empty it; what was there can be had back with ↑."""
        self.history.add(self.text)
        self.put("")

    def set_mode(self, mode: Mode) -> None:
        for name in MODES:
            self.set_class(name == mode, f"-{name}")

    def type_through(self, key: str, character: str) -> None:
        """A key of writing, pressed while something else had just taken the focus: it does what it does here."""
        if character:
            self.prompt.insert(character)
        elif key == "backspace":
            self.prompt.action_delete_left()
        else:
            self._offer(key)

    # ---- keys ------------------------------------------------------------------------------------------

    def _offer(self, key: str) -> bool:
        if self.suggestions.open and self.prompt.text != self._listed_for:
            # Keys can outrun the message of the last change: these rows are for what stood there before.
            self.refresh_suggestions()
        if self.suggestions.open and self._offer_list(key):
            return True
        if self._draft is not None and key in ("escape", "enter", "ctrl+c"):
            self._end_search(None)
            return True
        if key in NEWLINE:
            self.prompt.insert("\n")
            return True
        if key == "enter":
            return self._enter()
        if key in STEER:
            self._send(steer=True)
            return True
        if key in ("up", "down"):
            return self._edge(-1 if key == "up" else 1)
        return self._offer_rest(key)

    def _offer_list(self, key: str) -> bool:
        if key in ("up", "down", "ctrl+p", "ctrl+n"):
            self.suggestions.move(-1 if key in ("up", "ctrl+p") else 1)
        elif key in ("tab", "enter") and (chosen := self.suggestions.chosen):
            self._take(chosen, send=key == "enter")
        elif key == "escape" and self._draft is None:
            self._quiet_for = self.prompt.text
            self.suggestions.hide()
        else:
            return False
        return True

    def _offer_rest(self, key: str) -> bool:
        wishes: dict[str, Wish] = {
            "escape": "escape", "ctrl+g": "editor", "pageup": "page-up", "pagedown": "page-down",
            "ctrl+home": "top", "ctrl+end": "bottom",
        }  # fmt: skip
        if key == "tab":
            return True
        if key == "ctrl+r":
            self._begin_search()
            return True
        if key == "ctrl+o":
            return self.prompt.expand_paste()
        if key == "ctrl+d" and self.empty:
            self.post_message(self.Wished("quit"))
            return True
        if wish := wishes.get(key):
            self.post_message(self.Wished(wish))
            return True
        return False

    def _enter(self) -> bool:
        if self.prompt.before_caret.endswith("\\"):
            row, column = self.prompt.cursor_location
            self.prompt.replace("\n", (row, column - 1), (row, column), maintain_selection_offset=False)
        else:
            self._send(steer=False)
        return True

    def _send(self, *, steer: bool) -> None:
        text = self.text
        if not text.strip():
            if self.empty and self.queued:
                self.post_message(self.Wished("send-waiting"))
            return
        self.history.add(text)
        self.put("")
        self._pastes.forget()
        self.post_message(self.Sent(text, steer))

    def _edge(self, direction: int) -> bool:
        prompt = self.prompt
        at_edge = prompt.cursor_at_first_line if direction < 0 else prompt.cursor_at_last_line
        if not at_edge or not prompt.selection.is_empty:
            return False
        if direction < 0 and self.empty and self.queued:
            self.post_message(self.Wished("take-back"))
            return True
        text = self.history.step(direction, self.text)
        if text is None:
            return False
        self.put(text)
        return True

    # ---- suggestions -----------------------------------------------------------------------------------

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        text = self.prompt.text
        self.set_class(text.startswith("!"), "-shell")
        if text:
            self.post_message(self.Written())
        if text != self._quiet_for:
            self.history.leave()
        if self._draft is None and text == self._quiet_for:
            self.suggestions.hide()
            return
        self._quiet_for = None
        self.refresh_suggestions()

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        event.stop()

    def refresh_suggestions(self) -> None:
        text = self._listed_for = self.prompt.text
        if self._draft is not None:
            found = self.history.search(text)
            rows = [Suggestion(entry, entry.replace("\n", " ⏎ ")) for entry in found]
            self.suggestions.show(rows, "" if found else "no earlier prompt has these words")
        elif text.startswith("/") and "\n" not in text:
            self._suggest_commands(text[1:])
        elif (query := open_mention(self.prompt.before_caret)) is not None:
            self._suggest_files(query)
        else:
            self.suggestions.hide()

    def _suggest_commands(self, typed: str) -> None:
        if self.commands is None:
            return
        name, space, _ = typed.partition(" ")
        if space:
            command = self.commands.find(name)
            hint = f"/{command.name} {command.usage}  {command.summary}" if command else ""
            self.suggestions.show((), hint)
            return
        rows = [_command_row(command) for command in self.commands.complete(name)]
        self.suggestions.show(rows, "" if rows else f"there is no /{name}; / lists all commands")

    def _suggest_files(self, query: str) -> None:
        now = asyncio.get_running_loop().time()
        if self._files is None or now - self._files_at > FILES_FRESH_S:
            self._files_at = now
            self.run_worker(self._load_files(), group="files", exclusive=True)
        found = best(query, self._files or (), ROWS)
        hint = "" if found else ("looking for files …" if self._files is None else "no file fits")
        self.suggestions.show([Suggestion(path, path) for path in found], hint)

    async def _load_files(self) -> None:
        try:
            self._files = await asyncio.to_thread(self.list_files)
        except (OSError, DeepTideError):
            self._files = ()
        self.refresh_suggestions()

    def on_suggestions_taken(self, event: Suggestions.Taken) -> None:
        event.stop()
        self._take(event.suggestion, send=False)

    def _take(self, chosen: Suggestion, *, send: bool) -> None:
        if self._draft is not None:
            self._end_search(chosen.value)
        elif self.prompt.text.startswith("/") and chosen.value.startswith("/"):
            self.put(chosen.value if chosen.run else chosen.value + " ")
            if send and chosen.run:
                self._send(steer=False)
            else:
                self.call_after_refresh(self.refresh_suggestions)
        else:
            self._take_file(chosen.value)

    def _take_file(self, path: str) -> None:
        row, column = self.prompt.cursor_location
        query = open_mention(self.prompt.before_caret) or ""
        word = f'"{path}"' if any(letter.isspace() for letter in path) else path
        start = (row, column - len(query))
        self.prompt.replace(word + " ", start, (row, column), maintain_selection_offset=False)
        self.suggestions.hide()

    def _begin_search(self) -> None:
        if self._draft is None:
            self._draft = self.prompt.text
            self.prompt.placeholder = SEARCHING
            self.prompt.put("")
            self.call_after_refresh(self.refresh_suggestions)

    def _end_search(self, text: str | None) -> None:
        draft, self._draft = self._draft or "", None
        self.prompt.placeholder = PLACEHOLDER
        self.put(draft if text is None else text)
        self.suggestions.hide()


def _command_row(command: CommandInfo) -> Suggestion:
    label = f"/{command.name} {command.usage}".rstrip()
    needs_words = command.usage.lstrip().startswith("<")
    return Suggestion(f"/{command.name}", label, command.summary, run=not needs_words)
