"""Tokens and ranks."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.recall.bm25 import rank, spans, tokenize
from tests.deep import count

SMALL = settings(max_examples=count(100, 3_000), deadline=None)
WORDS = st.sampled_from(
    ["timeout", "retry", "getUser", "get_user", "user", "错误", "修复错误", "2", "src/a.py", "the"]
)
TEXTS = st.lists(st.lists(WORDS, max_size=8).map(" ".join), max_size=8)


def test_identifiers_are_split_on_case_and_underscore_and_kept_whole() -> None:
    assert tokenize("getHTTPResponse") == ["gethttpresponse", "get", "http", "response"]
    assert tokenize("max_retry_count2") == ["max_retry_count2", "max", "retry", "count", "2"]
    assert tokenize("__init__") == ["init"]
    assert tokenize("The end") == ["the", "end"]


def test_paths_and_calls_are_their_words() -> None:
    assert tokenize("src/a.py:12 foo(bar)") == ["src", "a", "py", "12", "foo", "bar"]


def test_cjk_runs_become_bigrams_and_a_lone_character_stays() -> None:
    assert tokenize("修复错误") == ["修复", "复错", "错误"]
    assert tokenize("错") == ["错"]
    assert tokenize("fix修复bug") == ["fix", "修复", "bug"]
    assert tokenize("データ 한국어") == ["デー", "ータ", "한국", "국어"]


def test_full_width_and_accented_words_are_folded() -> None:
    assert tokenize("ＡＰＩ Straße Café") == ["api", "strasse", "café"]


def test_text_without_words_has_no_tokens() -> None:
    assert tokenize("… —— ！？ \n\t ___") == []


@SMALL
@given(st.text(max_size=200))
def test_every_token_has_its_place_in_the_text(text: str) -> None:
    for token, start, end in spans(text):
        assert token
        assert 0 <= start < end <= len(text)


def test_a_match_is_worth_something_with_one_two_and_three_documents() -> None:
    for total in (1, 2, 3):
        documents = ["the timeout is 30"] + ["something else"] * (total - 1)
        [(index, score)] = rank("timeout", documents)
        assert index == 0
        assert score > 0
        assert all(score > 0 for _, score in rank("timeout", ["timeout"] * total))


def test_the_score_is_okapi_with_the_injected_idf() -> None:
    documents = ["alpha alpha beta", "alpha gamma gamma gamma gamma", "delta"]
    scores = dict(rank("alpha beta", documents))
    average = (3 + 5 + 1) / 3

    def part(frequency: int, length: int, containing: int) -> float:
        idf = math.log(1 + (3 - containing + 0.5) / (containing + 0.5))
        return idf * frequency * 2.5 / (frequency + 1.5 * (0.25 + 0.75 * length / average))

    assert math.isclose(scores[0], part(2, 3, 2) + part(1, 3, 1))
    assert math.isclose(scores[1], part(1, 5, 2))
    assert 2 not in scores


@SMALL
@given(TEXTS, st.lists(WORDS, min_size=1, max_size=4).map(" ".join))
def test_a_hit_is_any_shared_token_and_nothing_else(documents: list[str], query: str) -> None:
    ranked = rank(query, documents)
    sharing = {n for n, text in enumerate(documents) if set(tokenize(text)) & set(tokenize(query))}
    assert {index for index, _ in ranked} == sharing
    scores = [score for _, score in ranked]
    assert all(score > 0 for score in scores)
    assert scores == sorted(scores, reverse=True)


def test_a_rare_word_outweighs_a_common_one() -> None:
    documents = ["common common common"] * 5 + ["common rare"]
    assert rank("common rare", documents)[0][0] == 5


def test_empty_documents_and_no_documents_are_no_trouble() -> None:
    assert rank("x", []) == []
    assert rank("x", ["", "…", "x"])[0][0] == 2
