"""What the keys of the composer do, in an app that holds nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from deeptide.tui.history import History
from deeptide.tui.keys import teach_legacy_keys
from deeptide.tui.palette import DARK
from deeptide.tui.widgets.composer import Composer

LONG = "\n".join(f"line {number}" for number in range(30))


@dataclass(frozen=True)
class Known:
    name: str
    usage: str = ""
    summary: str = "does things"
    aliases: tuple[str, ...] = ()
    detail: str = ""


class Commands:
    known = (Known("checkpoint", "[label]"), Known("compact", "[focus]"), Known("rename", "<title>"))

    def complete(self, prefix: str) -> Sequence[Known]:
        return [one for one in self.known if one.name.startswith(prefix)]

    def find(self, name: str) -> Known | None:
        return next((one for one in self.known if one.name == name), None)


class Bench(App[None]):
    CSS_PATH = Path(__file__).parents[2] / "deeptide" / "tui" / "app.tcss"

    def __init__(self) -> None:
        super().__init__()
        self.register_theme(DARK.theme())
        self.theme = DARK.theme().name
        self.composer = Composer(History(None))
        self.composer.list_files = lambda: ["src/app.py", "src/my file.py"]
        self.composer.commands = Commands()
        self.sent: list[tuple[str, bool]] = []
        self.wishes: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.composer

    def on_mount(self) -> None:
        self.composer.prompt.focus()

    def on_composer_sent(self, event: Composer.Sent) -> None:
        self.sent.append((event.text, event.steer))

    def on_composer_wished(self, event: Composer.Wished) -> None:
        self.wishes.append(event.wish)


@pytest.fixture
async def pilot() -> AsyncIterator[Pilot[None]]:
    teach_legacy_keys()
    async with Bench().run_test(size=(80, 24)) as pilot:
        yield pilot


def bench(pilot: Pilot[None]) -> Bench:
    assert isinstance(pilot.app, Bench)
    return pilot.app


async def say(pilot: Pilot[None], text: str) -> None:
    bench(pilot).composer.prompt.insert(text)
    await pilot.pause()


async def test_enter_sends_and_empties(pilot: Pilot[None]) -> None:
    await say(pilot, "你好, tide")
    await pilot.press("enter")
    assert bench(pilot).sent == [("你好, tide", False)]
    assert bench(pilot).composer.empty


async def test_enter_on_nothing_sends_nothing(pilot: Pilot[None]) -> None:
    await pilot.press("space", "enter")
    assert bench(pilot).sent == []


@pytest.mark.parametrize("key", ["shift+enter", "ctrl+j"])
async def test_a_new_line_is_typed_not_sent(pilot: Pilot[None], key: str) -> None:
    await pilot.press("a", key, "b")
    assert bench(pilot).composer.text == "a\nb"
    assert bench(pilot).sent == []


async def test_backslash_and_enter_make_a_new_line(pilot: Pilot[None]) -> None:
    await pilot.press("a", "backslash", "enter", "b")
    assert bench(pilot).composer.text == "a\nb"


@pytest.mark.parametrize("key", ["alt+enter", "ctrl+enter"])
async def test_alt_or_ctrl_enter_steers(pilot: Pilot[None], key: str) -> None:
    await pilot.press("a", key)
    assert bench(pilot).sent == [("a", True)]


async def test_up_walks_back_through_prompts_and_down_returns_the_draft(pilot: Pilot[None]) -> None:
    for word in ("one", "two"):
        await pilot.press(*word, "enter")
    await pilot.press(*"dra", "up")
    assert bench(pilot).composer.text == "two"
    await pilot.press("up")
    assert bench(pilot).composer.text == "one"
    await pilot.press("down", "down")
    assert bench(pilot).composer.text == "dra"


async def test_up_inside_several_lines_moves_the_caret_first(pilot: Pilot[None]) -> None:
    await pilot.press(*"old", "enter")
    await say(pilot, "a\nb")
    await pilot.press("up")
    assert bench(pilot).composer.text == "a\nb"
    await pilot.press("up")
    assert bench(pilot).composer.text == "old"


async def test_up_on_empty_takes_a_queued_message_back(pilot: Pilot[None]) -> None:
    await pilot.press(*"old", "enter")
    bench(pilot).composer.queued = True
    await pilot.press("up")
    assert bench(pilot).wishes == ["take-back"]


async def test_a_long_paste_is_collapsed_and_sent_whole(pilot: Pilot[None]) -> None:
    bench(pilot).composer.prompt.post_message(events.Paste(LONG))
    await pilot.pause()
    assert bench(pilot).composer.prompt.text == "[pasted #1: 30 lines]"
    await pilot.press("enter")
    assert bench(pilot).sent == [(LONG, False)]


async def test_ctrl_o_on_a_collapsed_paste_shows_its_text(pilot: Pilot[None]) -> None:
    bench(pilot).composer.prompt.post_message(events.Paste(LONG))
    await pilot.pause()
    await pilot.press("ctrl+o")
    assert bench(pilot).composer.prompt.text == LONG


async def test_backspace_behind_a_collapsed_paste_takes_all_of_it(pilot: Pilot[None]) -> None:
    await say(pilot, "x ")
    bench(pilot).composer.prompt.post_message(events.Paste(LONG))
    await pilot.pause()
    await pilot.press("backspace")
    assert bench(pilot).composer.prompt.text == "x "


async def test_carriage_returns_in_a_paste_become_new_lines(pilot: Pilot[None]) -> None:
    bench(pilot).composer.prompt.post_message(events.Paste("a\rb\r\nc"))
    await pilot.pause()
    assert bench(pilot).composer.text == "a\nb\nc"


async def test_slash_lists_commands_and_enter_runs_the_highlighted_one(pilot: Pilot[None]) -> None:
    await pilot.press("slash", "c")
    labels = [row.label for row in bench(pilot).composer.suggestions.items]
    assert labels == ["/checkpoint [label]", "/compact [focus]"]
    await pilot.press("down", "enter")
    assert bench(pilot).sent == [("/compact", False)]


async def test_a_command_that_needs_words_is_only_completed(pilot: Pilot[None]) -> None:
    await pilot.press("slash", "r", "enter")
    assert bench(pilot).sent == []
    assert bench(pilot).composer.text == "/rename "


async def test_tab_completes_without_sending(pilot: Pilot[None]) -> None:
    await pilot.press("slash", "c", "o", "tab")
    assert bench(pilot).composer.text == "/compact"
    assert bench(pilot).sent == []


async def test_escape_closes_the_list_and_enter_then_sends_what_is_written(pilot: Pilot[None]) -> None:
    await pilot.press("slash", "c", "escape")
    assert not bench(pilot).composer.suggestions.open
    await pilot.press("enter")
    assert bench(pilot).sent == [("/c", False)]


async def test_an_at_sign_offers_files_and_a_path_with_spaces_is_quoted(pilot: Pilot[None]) -> None:
    await say(pilot, "see @my")
    await bench(pilot).workers.wait_for_complete()
    await pilot.pause()
    await pilot.press("tab")
    assert bench(pilot).composer.text == 'see @"src/my file.py" '


async def test_ctrl_r_finds_an_earlier_prompt_and_does_not_send_it(pilot: Pilot[None]) -> None:
    for words in ("fix upload", "run linter"):
        await say(pilot, words)
        await pilot.press("enter")
    await say(pilot, "draft")
    await pilot.press("ctrl+r", *"upl", "enter")
    assert bench(pilot).composer.text == "fix upload"
    assert len(bench(pilot).sent) == 2


async def test_escape_from_a_search_returns_the_draft(pilot: Pilot[None]) -> None:
    await say(pilot, "old")
    await pilot.press("enter")
    await say(pilot, "draft")
    await pilot.press("ctrl+r", "o", "escape")
    assert bench(pilot).composer.text == "draft"


async def test_ctrl_d_quits_only_on_empty(pilot: Pilot[None]) -> None:
    await pilot.press("a", "left", "ctrl+d")
    assert bench(pilot).composer.empty
    assert bench(pilot).wishes == []
    await pilot.press("ctrl+d")
    assert bench(pilot).wishes == ["quit"]


async def test_it_grows_with_its_lines_up_to_a_limit(pilot: Pilot[None]) -> None:
    composer = bench(pilot).composer
    before = composer.size.height
    await say(pilot, "\n".join("abcd"))
    assert composer.size.height == before + 3
    await say(pilot, "\n" * 40)
    assert composer.size.height <= 16


async def test_what_was_cleared_can_be_had_back(pilot: Pilot[None]) -> None:
    await say(pilot, "precious")
    bench(pilot).composer.clear()
    await pilot.pause()
    assert bench(pilot).composer.empty
    await pilot.press("up")
    assert bench(pilot).composer.text == "precious"


async def test_keys_that_outrun_the_list_send_what_was_typed(pilot: Pilot[None]) -> None:
    """A terminal may deliver a whole line and Enter before the change of the first letter is told."""
    composer = bench(pilot).composer
    await pilot.press("/")
    await pilot.pause()
    assert composer.suggestions.open
    for letter in "checkpoint aa bb":
        composer.prompt.insert(letter)
    composer.prompt.post_message(events.Key("enter", None))
    await pilot.pause()
    await pilot.pause()
    assert bench(pilot).sent == [("/checkpoint aa bb", False)]
