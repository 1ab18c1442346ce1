"""Text hygiene: nothing that acts on a terminal gets through, nothing is hidden from an approval."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.protocol.text import LINE_LIMIT, StreamCleaner, clean, has_hidden, scrub, visible
from tests.deep import count

ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
PIECES = st.sampled_from(
    [
        "\x1b",
        "[",
        "]",
        "0;title",
        "\x07",
        "\x1b\\",
        "\x9b",
        "31m",
        "\x9d",
        "\x9c",
        "P",
        "_",
        "^",
        "X",
        "\u202e",
        "\u2066",
        "a",
        "b",
        "%",
        "q",
        "(B",
        "你好",
        "😀",
        "�",
        "�",
        *list("\r\n\t\x00\x08"),
    ]
)
DIRTY = st.lists(PIECES | st.text(max_size=3), max_size=40).map("".join)


@settings(max_examples=count(300, 5000))
@given(DIRTY)
def test_cleaned_text_holds_no_escape_control_bidi_or_surrogate(text: str) -> None:
    assert not ACTIVE.search(clean(text))


@settings(max_examples=count(300, 5000))
@given(DIRTY)
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@settings(max_examples=count(200, 3000))
@given(DIRTY, DIRTY)
def test_cleaning_works_line_by_line(first: str, second: str) -> None:
    assert clean(first + "\n" + second) == clean(first) + "\n" + clean(second)


@settings(max_examples=count(300, 5000))
@given(DIRTY, st.lists(st.integers(0, 60), max_size=8))
def test_a_stream_cut_anywhere_cleans_to_the_same_text(text: str, cuts: list[int]) -> None:
    cleaner = StreamCleaner()
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    out = "".join(cleaner.feed(text[a:b]) for a, b in pairwise(edges))
    assert out + cleaner.finish() == clean(text)


@settings(max_examples=count(60, 1000))
@given(DIRTY, st.integers(1, 4000))
def test_an_endless_line_is_given_out_in_parts_without_leaking_an_escape(text: str, step: int) -> None:
    endless = (text.replace("\n", "") + "plain") * 800
    cleaner = StreamCleaner()
    out = "".join(cleaner.feed(endless[at : at + step]) for at in range(0, len(endless), step))
    out += cleaner.finish()
    assert not ACTIVE.search(out)
    assert "31m" not in out or "31m" in clean(endless)


def test_a_monstrous_title_sequence_does_not_fill_the_memory() -> None:
    cleaner = StreamCleaner()
    out = cleaner.feed("before\x1b]0;")
    for _ in range(20):
        out += cleaner.feed("x" * LINE_LIMIT)
    out += cleaner.feed("\x07after") + cleaner.finish()
    assert out == "beforeafter"


@pytest.mark.parametrize(
    ("dirty", "wanted"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP1;2|data\x1b\\after", "after"),
        ("\x9b31mred", "red"),
        ("\x1b(Bascii", "ascii"),
        ("a\r\nb\r\n", "a\nb\n"),
        (" 10%\r 50%\r100%\n", "100%\n"),
        (" 10%\r 50%\r", " 50%"),
        ("safe\u202egnp.exe", "safegnp.exe"),
        ("tab\tstays", "tab\tstays"),
        ("\ud83d\ude00", "😀"),
        ("broken \ud83d", "broken \ufffd"),
        ("中文，照旧。", "中文，照旧。"),
    ],
)
def test_known_sequences_are_taken_out(dirty: str, wanted: str) -> None:
    assert clean(dirty) == wanted


def test_plain_text_is_handed_back_itself() -> None:
    text = "nothing special, 没有特别的\n" * 100
    assert clean(text) is text
    assert scrub(text) is text


@settings(max_examples=count(200, 3000))
@given(DIRTY)
def test_a_visible_text_hides_nothing(text: str) -> None:
    assert not has_hidden(visible(text))
    assert has_hidden(text) == (visible(text) != text)


def test_a_visible_text_writes_escapes_out() -> None:
    assert visible("rm \x1b[8m-rf\u202e \u200b/") == "rm \\x1b[8m-rf\\u202e \\u200b/"


@settings(max_examples=count(200, 3000))
@given(st.text(alphabet=st.characters(exclude_categories=[]) | st.sampled_from("\ud83d\ude00")))
def test_scrubbed_text_can_be_sent_and_only_surrogates_change(text: str) -> None:
    scrubbed = scrub(text)
    scrubbed.encode("utf-8")
    kept = re.sub("[\ud800-\udfff]", "", text)
    assert kept == "" or set(kept) <= set(scrubbed)


def test_joiners_and_variation_selectors_survive_and_direction_controls_do_not() -> None:
    family = "👨\u200d👩\u200d👧 ❤\ufe0f می\u200cروم"
    assert clean(family) == family
    assert clean(f"\x1b[1m{family}\u202e") == family
    assert visible(family) == family
