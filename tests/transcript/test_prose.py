from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.protocol.text import clean
from deeptide.transcript.prose import Growth, Tail
from tests.deep import count

dirty = st.text(alphabet="ab\n\r\t \x1b[0m]\x07\x9b\u202e你\ud800", max_size=20)


@settings(max_examples=count(200, 5000), deadline=None)
@given(st.lists(dirty, max_size=12))
def test_whatever_is_given_out_is_clean_and_views_only_grow(pieces: list[str]) -> None:
    growth = Growth()
    before = ""
    views = []
    for piece in pieces:
        growth.append(piece)
        view = growth.view()
        assert str(view).startswith(before)
        assert str(view) == before + view.since(len(before))
        before = str(view)
        views.append((view, before))
        assert "\x1b" not in before
        assert "\u202e" not in before
    for view, text in views:
        assert view == text
        assert len(view) == len(text)


@settings(max_examples=count(100, 2000), deadline=None)
@given(st.lists(st.text(alphabet="ab\n\t 你\x1b", max_size=12), max_size=12))
def test_text_without_redraws_comes_out_as_if_it_had_been_cleaned_whole(pieces: list[str]) -> None:
    growth = Growth()
    for piece in pieces:
        growth.append(piece)
    growth.append("\n")
    assert growth.view() == clean("".join(pieces) + "\n")


def test_a_view_equals_any_text_with_the_same_characters() -> None:
    one, other = Growth(), Growth()
    one.append("ab")
    other.append("a")
    other.append("b")
    assert one.view() == other.view() == "ab"
    assert hash(one.view()) == hash("ab")
    assert one.view() != "abc"
    assert one.view().grown_from(one.view())
    assert not one.view().grown_from(other.view())


def test_a_tail_keeps_whole_last_lines_and_the_last_state_of_a_redrawn_one() -> None:
    tail = Tail(limit=100)
    for number in range(1_000):
        tail.append(f"line {number}\n")
    tail.append("10%\r20%\r30%")
    assert tail.view().startswith("line ")
    assert tail.view().endswith("line 999\n30%")
    assert len(tail.view()) < 300
