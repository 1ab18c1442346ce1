"""What is written to the terminal besides the picture."""

from __future__ import annotations

import base64
import os
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.tui import terminal
from deeptide.tui.driver import Outlet, gone
from deeptide.tui.manners import LONG_TURN_S, Manners
from tests.deep import count

TMUX = {"TMUX": "/tmp/tmux-1000/default,1,0"}
ANY = st.text(alphabet=st.one_of(st.characters(), st.sampled_from("\x1b\x07\x9c\x9d\x00\r\n\u202e")))


@given(ANY)
@settings(max_examples=count(200, 5000))
def test_no_text_can_end_or_start_a_sequence(text: str) -> None:
    for made in (terminal.title(text), terminal.notice(text, {})):
        inside = made.removeprefix("\x1b]0;").removeprefix("\x1b]9;").rstrip("\x07")
        assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e]", inside)


def test_in_tmux_a_notice_is_passed_through_and_the_bell_is_not() -> None:
    assert terminal.notice("done", TMUX) == "\x1bPtmux;\x1b\x1b]9;done\x07\x1b\\\x07"


def test_the_clipboard_gets_utf_8() -> None:
    sequence = terminal.clipboard("潮汐", {})
    assert sequence.startswith("\x1b]52;c;")
    assert base64.b64decode(sequence[7:-1]).decode() == "潮汐"


def test_in_tmux_the_clipboard_sequence_goes_both_ways() -> None:
    assert terminal.clipboard("x", TMUX).count("]52;c;eA==") == 2


def test_what_is_too_long_for_terminals_is_not_copied_and_said() -> None:
    written: list[str] = []
    said = Manners(written.append, {}).copy("x" * (terminal.CLIPBOARD_LIMIT + 1))
    assert written == []
    assert said.startswith("Not copied")


def test_an_empty_no_color_is_not_set() -> None:
    environ = {"NO_COLOR": ""}
    terminal.forget_empty_no_color(environ)
    assert environ == {}
    environ = {"NO_COLOR": "1"}
    terminal.forget_empty_no_color(environ)
    assert environ == {"NO_COLOR": "1"}


def test_a_title_is_written_only_when_it_changes() -> None:
    written: list[str] = []
    manners = Manners(written.append, {})
    manners.title("one")
    manners.title("one")
    manners.title("two")
    assert written == ["\x1b]0;one · DeepTide\x07", "\x1b]0;two · DeepTide\x07"]


def test_someone_looking_on_is_called_only_after_a_long_turn() -> None:
    written: list[str] = []
    manners = Manners(written.append, {})
    manners.call("done", LONG_TURN_S - 1)
    assert written == []
    manners.call("done", LONG_TURN_S + 1)
    assert len(written) == 1


def test_someone_who_is_elsewhere_is_called_for_a_question() -> None:
    written: list[str] = []
    manners = Manners(written.append, {})
    manners.present = False
    manners.call("question", 0)
    assert written and written[0].endswith("\x07")


def test_with_notices_off_only_the_bell_rings_and_with_both_off_nothing() -> None:
    written: list[str] = []
    manners = Manners(written.append, {})
    manners.present, manners.notify = False, False
    manners.call("done", 0)
    manners.bell = False
    manners.call("done", 0)
    assert written == ["\x07"]


def test_writing_to_a_terminal_that_is_gone_neither_raises_nor_waits() -> None:
    ours, theirs = os.openpty()
    outlet = Outlet(theirs)
    outlet.write("seen 你好")
    outlet.flush()
    assert os.read(ours, 100).decode() == "seen 你好"
    assert not gone(theirs)
    os.close(ours)
    assert gone(theirs)
    for _ in range(100):
        outlet.write("unseen" * 10_000)
        outlet.flush()
    assert outlet.is_cut
    os.close(theirs)
