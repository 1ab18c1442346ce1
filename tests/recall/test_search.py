"""Search: hits, excerpts, notes and errors."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.protocol.errors import ToolError
from deeptide.recall.search import EXCERPT, Document, excerpt, search
from tests.deep import count


def documents(*texts: str, cycle: int = 1) -> list[Document]:
    return [Document(cycle, index, "user", text, index + 1) for index, text in enumerate(texts)]


def test_a_hit_names_cycle_message_role_score_and_excerpt() -> None:
    [hit] = search(documents("nothing", "the port is 8443"), "port").hits
    assert (hit.cycle, hit.index, hit.role, hit.excerpt) == (1, 1, "user", "the port is 8443")
    assert hit.score > 0


@pytest.mark.parametrize("query", ["", "   ", "…?!", "___"])
def test_a_query_without_a_word_is_a_clear_error(query: str) -> None:
    with pytest.raises(ToolError, match="no word to search for"):
        search(documents("x"), query)


def test_with_nothing_archived_the_answer_is_empty_with_a_note() -> None:
    found = search([], "anything")
    assert found.hits == ()
    assert "Nothing has left the view" in found.note


def test_no_match_and_an_unknown_cycle_are_said() -> None:
    assert "other words" in search(documents("alpha"), "beta").note
    assert "cycle 7" in search(documents("alpha"), "alpha", cycle=7).note


def test_the_number_of_results_is_three_unless_asked_and_never_above_ten() -> None:
    many = documents(*(f"needle {n}" for n in range(30)))
    assert len(search(many, "needle").hits) == 3
    assert len(search(many, "needle", max_results=99).hits) == 10
    assert len(search(many, "needle", max_results=0).hits) == 1
    assert search(many, "needle").note == "27 more messages match."


def test_one_cycle_can_be_searched_with_the_same_scores() -> None:
    both = documents("needle one") + documents("needle two", cycle=2)
    [hit] = search(both, "needle", cycle=2).hits
    assert hit.cycle == 2
    assert {h.score for h in search(both, "needle").hits} == {hit.score}


def test_chinese_is_found_by_a_part_of_the_sentence() -> None:
    found = search(documents("今天天气不错", "我们把数据库端口改成了八千"), "数据库的端口")
    assert found.hits[0].index == 1


def test_the_excerpt_is_centred_on_the_densest_match() -> None:
    text = "port " + "filler " * 200 + "the database port is 8443 now " + "filler " * 200
    shown = excerpt(text, "database port 8443")
    assert "database port is 8443" in shown
    assert len(shown) <= EXCERPT
    middle = shown.index("database") + 10
    assert abs(middle - len(shown) // 2) < 30
    assert shown.startswith("…")
    assert shown.endswith("…")


def test_a_match_at_either_end_is_shown_with_all_the_room() -> None:
    text = "needle " + "filler " * 100
    assert excerpt(text, "needle").startswith("needle")
    assert len(excerpt(text, "needle")) > 230
    assert excerpt("filler " * 100 + "needle", "needle").endswith("needle")


@settings(max_examples=count(150, 3_000), deadline=None)
@given(st.text(max_size=900), st.text(max_size=20))
def test_an_excerpt_is_one_short_line(text: str, query: str) -> None:
    shown = excerpt(text, query)
    assert len(shown) <= EXCERPT
    assert "\n" not in shown


@settings(max_examples=count(60, 2_000), deadline=None)
@given(st.integers(0, 400), st.integers(0, 400))
def test_the_one_match_is_always_in_the_excerpt(before: int, after: int) -> None:
    assert "needle" in excerpt("a " * before + "needle" + " b" * after, "needle")
