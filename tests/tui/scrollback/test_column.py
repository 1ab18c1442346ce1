from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from deeptide.transcript.blocks import AnswerBlock, Change, NoteBlock, ThinkingBlock, ToolBlock, UserBlock
from deeptide.transcript.prose import Growth
from deeptide.tui.scrollback.column import Column
from deeptide.tui.scrollback.heights import Heights
from deeptide.tui.scrollback.stack import KEPT_LINES
from tests.deep import count
from tests.tui.scrollback.pages import adds, column, talk, whole, window


class HeightsAgree(RuleBasedStateMachine):
    """The tree against a plain list."""

    def __init__(self) -> None:
        super().__init__()
        self.plain: list[int] = []
        self.tree = Heights()

    @initialize(values=st.lists(st.integers(0, 9), max_size=20))
    def begin(self, values: list[int]) -> None:
        self.plain = list(values)
        self.tree.rebuild(values)

    @rule(value=st.integers(0, 9))
    def append(self, value: int) -> None:
        self.plain.append(value)
        self.tree.append(value)

    @rule(values=st.lists(st.integers(0, 9), max_size=20))
    def extend(self, values: list[int]) -> None:
        self.plain.extend(values)
        self.tree.extend(values)

    @precondition(lambda self: self.plain)
    @rule(at=st.integers(0, 10_000), value=st.integers(0, 9))
    def change(self, at: int, value: int) -> None:
        index = at % len(self.plain)
        grown = value - self.plain[index]
        self.plain[index] = value
        assert self.tree.set(index, value) == grown

    @rule(at=st.integers(0, 10_000))
    def truncate(self, at: int) -> None:
        kept = at % (len(self.plain) + 1)
        assert self.tree.truncate(kept) == self.plain[kept:]
        del self.plain[kept:]

    @invariant()
    def equal(self) -> None:
        assert self.tree.total == sum(self.plain)
        for index in range(len(self.plain) + 1):
            assert self.tree.before(index) == sum(self.plain[:index])
        line = 0
        for index, height in enumerate(self.plain):
            for _ in range(height):
                assert self.tree.find(line) == index
                line += 1


TestHeights = HeightsAgree.TestCase
TestHeights.settings = settings(max_examples=count(20, 300), stateful_step_count=20, deadline=None)


def test_twenty_thousand_blocks_are_taken_in_without_laying_them_out() -> None:
    made = column(talk(20_000), height=30)
    assert made.laid < 40
    assert sum(entry.body is not None for entry in made.entries()) < 40
    assert window(made)[-1].strip() == "Note 19999" or "Note 19999" in window(made)[-1]


def test_new_blocks_do_not_move_what_a_reader_reads() -> None:
    made = column(talk(300))
    made.move(-200)
    before = window(made)
    laid = made.laid
    for number in range(300, 400):
        made.apply(adds(talk(1, number)))
        assert window(made) == before
    assert made.laid == laid


def test_a_growing_answer_does_not_move_what_a_reader_reads() -> None:
    growth = Growth()
    growth.append("start")
    made = column([*talk(50), AnswerBlock("now", growth.view(), open=True)])
    made.move(-30)
    before = window(made)
    for number in range(200):
        growth.append(f"\n\nParagraph {number} " + "word " * 30)
        made.apply([Change("update", AnswerBlock("now", growth.view(), open=True))])
        assert window(made) == before
    assert not made.following


def test_the_end_is_followed_until_the_reader_goes_up_and_again_when_they_come_back() -> None:
    made = column(talk(80))
    made.apply(adds([NoteBlock("x", "warning", "the newest")]))
    assert "the newest" in window(made)[-1]
    made.move(-5)
    assert not made.following
    made.apply(adds([NoteBlock("y", "warning", "newer still")]))
    assert "newer still" not in "\n".join(window(made))
    made.move(5)
    assert not made.following
    made.move(50)
    assert made.following
    assert "newer still" in window(made)[-1]


@settings(max_examples=count(40, 1500), deadline=None)
@given(st.lists(st.integers(-70, 70), min_size=1, max_size=25), st.sampled_from((24, 60, 113)))
def test_moving_by_lines_shows_the_same_lines_as_a_page_laid_out_whole(moves: list[int], width: int) -> None:
    blocks = talk(60)
    lines = whole(column(blocks, width))
    made = column(blocks, width)
    top = len(lines) - made.height
    for lines_down in moves:
        made.move(lines_down)
        top = max(0, min(top + lines_down, len(lines) - made.height))
        assert window(made) == lines[top : top + made.height]


@settings(max_examples=count(25, 800), deadline=None)
@given(st.integers(0, 400), st.lists(st.sampled_from((20, 37, 60, 90, 140)), min_size=1, max_size=4))
def test_after_a_resize_the_block_at_the_top_is_still_at_the_top(up: int, widths: list[int]) -> None:
    made = column(talk(120))
    made.move(-up)
    following = made.following
    place = made.locate(made.settle())
    for width in widths:
        made.resize(width, 20)
        now = made.locate(made.settle())
        if following:
            assert made.following
        else:
            assert (now.entry, now.section) == (place.entry, place.section) or made.following


def test_heights_are_corrected_by_what_was_seen() -> None:
    blocks = talk(200)
    made = column(blocks)
    made.jump_to(0)
    window(made)
    for _ in range(400):
        made.move(10)
        window(made)
    assert made.following
    assert made.total == len(whole(made)) == len(whole(column(blocks)))


def test_a_jump_by_the_scroll_bar_lands_near_and_shows_whole_lines() -> None:
    made = column(talk(2_000))
    made.jump_to(made.total // 2)
    middle = made.locate(made.settle()).entry.index
    assert 700 < middle < 1_300
    assert made.laid < 120


def test_blocks_that_leave_and_come_back_are_shown_where_they_were() -> None:
    blocks = talk(40)
    made = column(blocks)
    before = whole(made)
    made.apply([Change("remove", block) for block in reversed(blocks[20:])])
    assert whole(made) == whole(column(blocks[:20]))
    made.apply(adds(blocks[20:]))
    assert whole(made) == before


def test_a_block_put_before_another_is_shown_there() -> None:
    blocks = talk(12)
    made = column([*blocks[:5], *blocks[6:]])
    whole(made)
    moved = made.apply([Change("add", blocks[5], before=blocks[6].id)])
    assert moved
    assert whole(made) == whole(column(blocks))


def test_the_block_at_the_top_may_be_removed() -> None:
    blocks = talk(100)
    made = column(blocks)
    made.move(-60)
    top = made.locate(made.settle()).entry
    made.apply([Change("remove", top.block)])
    assert len(window(made)) == made.height
    made.apply([Change("remove", block) for block in blocks if block is not top.block])
    assert window(made) == [""] * made.height


def test_what_was_looked_at_long_ago_is_let_go() -> None:
    made = column(talk(3_000))
    for _ in range(3_000):
        made.move(-10)
        made.settle()
    held = sum(
        len(section.sheet.lines)
        for entry in made.entries()
        if entry.body
        for section in entry.body.sections
        if section.sheet
    )
    assert held <= KEPT_LINES + 5 * made.height


def test_unfolding_keeps_the_head_of_the_block_where_it_was() -> None:
    output = "\n".join(f"line {number}" for number in range(50))
    card = ToolBlock("card", "c", "shell", "$ make", output=output, status="ok")
    made = column([*talk(30), card, *talk(5, 30)], height=60)
    row = next(y for y, line in enumerate(window(made)) if "$ make" in line)
    entry = made.entry("card")
    assert entry is not None
    made.unfold(entry, True)
    assert "$ make" in window(made)[row]
    assert "line 0" in window(made)[row + 1]
    made.unfold(entry, False)
    assert "$ make" in window(made)[row]


def test_an_unfolded_card_hides_nothing() -> None:
    output = "\n".join(f"line {number} " + "中" * 200 for number in range(300))
    made = column([ToolBlock("card", "c", "shell", "$ make", output=output, status="ok")])
    folded = whole(made)
    assert len(folded) < 10
    assert "294 lines more" in "\n".join(folded)
    entry = made.entry("card")
    assert entry is not None
    made.unfold(entry, True)
    text = "\n".join(whole(made))
    assert all(f"line {number} " in text for number in range(300))
    assert text.count("中") == 300 * 200


def test_thinking_is_one_line_until_it_is_unfolded() -> None:
    thought = ThinkingBlock("t", "First.\nSecond.\nThird.", 4_200)
    made = column([thought, UserBlock("u", "hi")])
    assert whole(made)[0] == "  ∴ Thought for 4.2 s ▸"
    made.unfold_all(True)
    assert [line.strip(" │") for line in whole(made)[1:4]] == ["First.", "Second.", "Third."]
    made.apply(adds([ThinkingBlock("t2", "Later.", 100)]))
    assert "Later." in "\n".join(whole(made))


def test_only_the_open_end_of_a_streaming_answer_is_laid_out_again() -> None:
    growth = Growth()
    made = column([AnswerBlock("a", growth.view(), open=True)])
    work: list[int] = []
    for number in range(600):
        growth.append(f"Paragraph {number} with a few words in it.\n\n")
        before = made.laid
        made.apply([Change("update", AnswerBlock("a", growth.view(), open=True))])
        made.settle()
        work.append(made.laid - before)
    assert max(work[100:]) <= 3


def test_a_megabyte_in_one_line_costs_a_window_not_a_megabyte() -> None:
    text = "x" * 1_000_000
    for block in (
        AnswerBlock("a", text),
        UserBlock("u", text),
        ToolBlock("t", "c", "shell", "$ cat", output=text, status="ok"),
        ToolBlock("w", "c", "read", text, output=text, status="error"),
    ):
        made = column([block])
        window(made)
        assert made.laid <= 8
        assert max(len(line) for line in window(made)) <= 60
        made.unfold_all(True)
        made.jump_to(0)
        window(made)
        assert made.laid <= 20


def test_an_empty_column_shows_nothing_and_stays_at_its_end() -> None:
    made = Column(column([]).inks)
    assert made.settle() == 0
    made.move(-3)
    made.jump_to(5)
    assert made.following
