"""Tables, bars and numbers."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.commands.figures import cell, length, many, percent, shares, short, table
from tests.deep import count


def test_a_table_lines_up_and_a_cell_cannot_break_it() -> None:
    assert table(("a", "b"), [("x|y", "1\n2")]) == "| a | b |\n| --- | --: |\n| x\\|y | 1 2 |"
    assert cell("a | b") == "a \\| b"


def test_numbers_read_well() -> None:
    assert [many(1, "turn"), many(1200, "turn"), many(0, "reply", "replies")] == [
        "1 turn",
        "1,200 turns",
        "0 replies",
    ]
    assert [percent(1, 3), percent(1, 0)] == ["33 %", "-"]
    assert [length(5), length(90), length(7200), length(200_000)] == ["5 s", "2 min", "2 h", "2 d"]
    assert short("a  b\nc" + "d" * 100, 10) == "a b cdddd…"


@given(st.lists(st.integers(0, 10**7), max_size=9), st.integers(0, 10**8), st.integers(1, 60))
@settings(max_examples=count(150, 5000))
def test_a_bar_never_overflows_and_shows_whatever_there_is(sizes: list[int], more: int, width: int) -> None:
    whole = sum(sizes) + more
    cells = shares(sizes, whole, width)
    assert len(cells) == len(sizes) and sum(cells) <= width and min(cells, default=0) >= 0
    assert all(not size or number or max(cells) <= 1 for size, number in zip(sizes, cells, strict=True))
    assert all(not number for size, number in zip(sizes, cells, strict=True) if not size)
