from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.transcript.blocks import AnswerBlock, Change
from deeptide.transcript.prose import Growth
from deeptide.tui.scrollback.split import FENCE_LINES, LONG, Splitter, split
from tests.deep import count
from tests.tui.scrollback.pages import MARKDOWN, column, drawn, whole

snippets = st.sampled_from(
    [
        "word", " ", "\n", "\n\n", "- ", "* item\n", "1. ", "2) x\n", "# ", "## Head\n", "```", "```py\n", "~~~\n",
        "> ", "| a | b |\n", "|---|---|\n", "---\n", "***", "    ", "  ", "`code`", "**b**", "[x](y)", "中文，", "😀",
        "===\n", "\t", "<b>", "\\", "x" * 90 + " ", "[ ] ", "![i](u)", "https://a.b/c ",
    ]
)  # fmt: skip
texts = st.lists(snippets, max_size=40).map("".join)


def feed(text: str, seed: int) -> Splitter:
    random = Random(seed)
    splitter = Splitter()
    while text:
        size = random.choice((1, 2, 3, 11, 200))
        splitter.feed(text[:size])
        text = text[size:]
        splitter.tail()
    splitter.finish()
    return splitter


@settings(max_examples=count(150, 5000), deadline=None)
@given(texts, st.integers(0, 1000))
def test_sections_are_the_same_under_any_chunking(text: str, seed: int) -> None:
    assert feed(text, seed).closed == split(text)


@settings(max_examples=count(60, 2000), deadline=None)
@given(texts, st.integers(0, 1000))
def test_an_answer_streamed_in_pieces_shows_what_the_finished_one_shows(text: str, seed: int) -> None:
    random = Random(seed)
    growth = Growth()
    streamed = column([AnswerBlock("a", growth.view(), open=True)])
    rest = text
    while rest:
        size = random.choice((1, 3, 11, 200))
        growth.append(rest[:size])
        rest = rest[size:]
        streamed.apply([Change("update", AnswerBlock("a", growth.view(), open=True))])
        if random.random() < 0.5:
            streamed.settle()
    streamed.apply([Change("update", AnswerBlock("a", text))])
    assert whole(streamed) == whole(column([AnswerBlock("a", text)]))


@settings(max_examples=count(100, 3000), deadline=None)
@given(texts)
def test_no_word_is_lost_between_sections(text: str) -> None:
    kept = "".join(source.text for source in split(text)) + "".join(source.info for source in split(text))
    for word in ("word", "item", "Head", "中文"):
        assert kept.count(word) >= text.count(word)


def test_a_list_is_cut_into_its_items_and_keeps_counting() -> None:
    sections = split("1. a\n2. b\n\n   still b\n1. c\n\n- x\n- y\n")
    assert [(source.kind, source.number, source.gap) for source in sections] == [
        ("item", 1, 0), ("item", 2, 0), ("item", 3, 0), ("item", -1, 1), ("item", -1, 0),
    ]  # fmt: skip


def test_a_fence_is_cut_into_stretches_of_lines_and_only_the_first_is_named() -> None:
    sections = split("```py\n" + "x = 1\n" * (FENCE_LINES * 2 + 5) + "```\nafter")
    fences = sections[:-1]
    assert [source.row for source in fences] == [0, FENCE_LINES, FENCE_LINES * 2]
    assert [source.last for source in fences] == [False, False, True]
    assert sections[-1].text == "after"


def test_markdown_inside_a_fence_is_code() -> None:
    (fence,) = split("```\n# no\n- no\n\n| no |\n```")
    assert fence.text == "# no\n- no\n\n| no |\n"
    assert fence.info == "text"


def test_a_setext_heading_and_a_rule_are_told_apart() -> None:
    assert [source.text for source in split("Title\n---\n\n---\ntext")] == ["Title\n---", "---", "text"]


def test_one_line_of_a_megabyte_becomes_sections_that_are_small() -> None:
    text = "word " * 200_000
    sections = split(text)
    assert max(len(source.text) for source in sections) <= LONG
    assert "".join(source.text for source in sections) == text


def test_a_table_that_is_cut_keeps_its_columns() -> None:
    rows = "".join(f"| row {number} | {'x' * 60} |\n" for number in range(400))
    sections = split("| head | b |\n|---|---|\n" + rows)
    assert len(sections) > 1
    assert all(source.header.startswith("| head") for source in sections[1:])
    lines = drawn("| head | b |\n|---|---|\n" + rows, 90)
    assert sum("head" in line for line in lines) == 1
    assert sum("row" in line for line in lines) == 400


def test_work_per_piece_does_not_grow_with_the_message() -> None:
    splitter = Splitter()
    sizes: list[int] = []
    for number in range(3_000):
        splitter.feed(f"Paragraph {number} with words.\n\n")
        sizes.append(sum(len(source.text) for source in splitter.tail()) + len(splitter._lines))
        splitter.closed.clear()
    assert max(sizes) < 200


def test_the_sample_is_drawn_as_it_should_look() -> None:
    lines = drawn(MARKDOWN, 60)
    text = "\n".join(lines)
    for expected in (
        "  A title",
        "  • two with 中文 and emoji",
        "    ◦ nested",
        "  7. seven",
        "  ▌ quoted words",
        "  苹果 │   12 │ red",
        "  │ def f(x):",
        "  ☐ to do",
        "  ☑ done",
    ):
        assert expected in text, expected
