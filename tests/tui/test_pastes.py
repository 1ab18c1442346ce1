"""Long pastes become a placeholder and come back whole."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.tui.pastes import CHARACTERS, LINES, Pastes
from tests.deep import count

LONG = "\n".join(f"line {number}" for number in range(57))


def test_a_short_paste_is_left_as_it_is() -> None:
    assert Pastes().collapse("two\nlines") == "two\nlines"


def test_a_long_paste_becomes_a_placeholder_that_says_its_size() -> None:
    assert Pastes().collapse(LONG) == "[pasted #1: 57 lines]"


def test_one_very_long_line_is_collapsed_too() -> None:
    assert Pastes().collapse("x" * (CHARACTERS + 1)) == f"[pasted #1: {CHARACTERS + 1:,} characters]"


@given(st.lists(st.text(), max_size=4))
@settings(max_examples=count(60, 2000), deadline=None)
def test_expanding_what_was_collapsed_gives_every_text_back(texts: list[str]) -> None:
    pastes = Pastes()
    texts = [text + "\nx" * LINES for text in texts]
    shown = " and ".join(pastes.collapse(text) for text in texts)
    assert pastes.expand(shown) == " and ".join(texts)


def test_a_newline_at_the_end_is_not_another_line() -> None:
    assert "50 lines" in Pastes().collapse("x\n" * 50)
    assert "50 lines" in Pastes().collapse("\n".join("x" * 50))


def test_a_placeholder_typed_by_hand_stays() -> None:
    assert Pastes().expand("[pasted #7: 57 lines]") == "[pasted #7: 57 lines]"


def test_a_placeholder_inside_a_paste_is_not_expanded_again() -> None:
    pastes = Pastes()
    inner = pastes.collapse(LONG)
    outer = pastes.collapse(inner + "\n" * LINES)
    assert pastes.expand(outer) == inner + "\n" * LINES


def test_numbers_go_on_after_forgetting() -> None:
    pastes = Pastes()
    first = pastes.collapse(LONG)
    pastes.forget()
    assert pastes.collapse(LONG) != first
    assert pastes.expand(first) == first
