"""The small judgements about what a model wrote."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.context.asking import Answer, Bill, cut_at_sentence, is_placeholder, room_for, unusable
from deeptide.context.window import Window
from deeptide.model.tokens import estimate
from deeptide.protocol.usage import Money, Usage
from tests.deep import count

MARKER = "[cut]"


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "…",
        "---",
        "TODO",
        "tbd.",
        "N/A",
        "[summary]",
        "<your text here>",
        "{briefing}",
        "【摘要】",
        "无",
    ],
)
def test_placeholders_are_known(text: str) -> None:
    assert is_placeholder(text)


@pytest.mark.parametrize(
    "text", ["No.", "改用端口八千。", "TODO: fix the parser", "[x] done with the parser, [ ] tests"]
)
def test_short_real_answers_are_not_placeholders(text: str) -> None:
    assert not is_placeholder(text)


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        (Answer(error="no connection"), "no connection"),
        (Answer(text="fine text", called_tool=True), "tool"),
        (Answer(text="fine text", finish="length"), "cut off"),
        (Answer(text="fine text", finish="content_filter"), "content_filter"),
        (Answer(text=""), "empty"),
    ],
)
def test_an_unusable_answer_says_why(answer: Answer, part: str) -> None:
    assert part in unusable(answer)
    assert unusable(Answer(text="fine text")) == ""


def test_room_is_what_the_window_leaves_and_nothing_below_use() -> None:
    window = Window.of(131_072)
    assert room_for(window, 0, 4_096) == 4_096
    assert room_for(window, 131_072 - 1_024 - 2_000, 4_096) == 2_000
    assert room_for(window, 131_072 - 1_024 - 511, 4_096) == 0


def test_a_text_is_cut_at_the_end_of_a_sentence_in_any_language() -> None:
    english = "First sentence here. Second sentence here. " * 20
    assert cut_at_sentence(english, 100, estimate, MARKER).endswith("here.\n[cut]")
    chinese = "第一句话在这里。第二句话在那里。" * 40
    assert cut_at_sentence(chinese, 100, estimate, MARKER).endswith("。\n[cut]")
    assert cut_at_sentence("short", 100, estimate, MARKER) == "short"


@settings(max_examples=count(150, 5_000), deadline=None)
@given(st.text(max_size=400), st.integers(8, 60))
def test_a_cut_text_fits_and_is_a_beginning(text: str, limit: int) -> None:
    shown = cut_at_sentence(text, limit, estimate, MARKER)
    if shown != text:
        assert text.startswith(shown.removesuffix(f"\n{MARKER}"))
        assert estimate(shown) <= limit + 2


def test_a_bill_adds_up() -> None:
    bill = Bill()
    bill.add(Answer(error="x"))
    assert (bill.usage, bill.cost) == (None, None)
    for _ in range(2):
        bill.add(Answer(usage=Usage(10, 1, 5, 5), cost=Money(0.5)))
    assert (bill.usage, bill.cost) == (Usage(20, 2, 10, 10), Money(1.0))
