from __future__ import annotations

import pytest
from rich.cells import cell_len

from deeptide.protocol.plan import Plan, PlanItem
from deeptide.protocol.usage import Money, Usage
from deeptide.transcript.blocks import (
    AnswerBlock,
    Block,
    DividerBlock,
    NoteBlock,
    PlanBlock,
    SummaryBlock,
    ThinkingBlock,
    ToolBlock,
    TurnBlock,
    UserBlock,
)
from deeptide.tui.palette import DARK
from deeptide.tui.scrollback.cards import foldable, parts_of
from deeptide.tui.scrollback.glyphs import ASCII
from deeptide.tui.scrollback.inks import Inks
from tests.tui.scrollback.pages import INKS, column, whole

DIFF = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"
LONG = "\n".join(f"line {number}" for number in range(40))

BLOCKS: list[Block] = [
    UserBlock("u", "hello"),
    UserBlock("u2", LONG, steered=True),
    ThinkingBlock("t", LONG, 12_000),
    ThinkingBlock("t2", "So far", open=True),
    AnswerBlock("a", "Half of", mark="length"),
    ToolBlock("c", "c", "read", "read a.py", output=LONG, status="ok", summary="40 lines"),
    ToolBlock("c2", "c", "edit", "edit a.py", output="done", diff=DIFF, status="ok", trace="approved once"),
    ToolBlock(
        "c3",
        "c",
        "shell",
        "$ make\n$ make test",
        output=LONG,
        status="error",
        summary="exit 2",
        elapsed_ms=4000,
    ),
    ToolBlock("c4", "c", "write", "write", status="writing", summary="1,200 characters"),
    NoteBlock("n", "warning", "Careful.", "Do this."),
    NoteBlock("n2", "model", "Monday\nmain", label="date, git"),
    NoteBlock("n3", "shell", f"The user ran a command.\n$ seq 40\n{LONG}\n(exit 1)"),
    DividerBlock("d", "Rewound to here", "3 messages"),
    PlanBlock(
        "p", Plan(tuple(PlanItem(f"step {n}", "completed" if n < 9 else "pending") for n in range(20)))
    ),
    SummaryBlock("s", "Compacted", "12 entries", "# The gist\n\n- a\n\n```py\nx\n```"),
    TurnBlock("e", 1, "done", 61_000, "deepseek-flash", Usage(1200, 80, 900, 300), Money(0.0042), 3),
]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.id)
@pytest.mark.parametrize("width", [20, 60, 120])
def test_a_card_fits_its_page_folded_and_unfolded(block: Block, width: int) -> None:
    for unfolded in (False, True):
        made = column([block], width)
        made.unfold_all(unfolded)
        lines = whole(made)
        assert lines
        assert all(cell_len(line) <= width for line in lines)
        assert unfolded or len(lines) <= 30


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.id)
def test_what_cannot_be_folded_looks_the_same_either_way(block: Block) -> None:
    if isinstance(block, AnswerBlock):
        return
    folded, unfolded = parts_of(block, False), parts_of(block, True)
    assert (folded != unfolded) == foldable(block)


def lines_of(block: Block, unfolded: bool = False, width: int = 60) -> list[str]:
    made = column([block], width)
    made.unfold_all(unfolded)
    return whole(made)


def test_a_quiet_tool_is_one_line_and_a_failed_one_says_why() -> None:
    quiet = ToolBlock("c", "c", "read", "read a.py", output=LONG, status="ok", summary="40 lines")
    assert lines_of(quiet) == ["  ✓ read a.py ▸  40 lines"]
    failed = ToolBlock("c", "c", "read", "read a.py", output="There is no file a.py.", status="error")
    assert lines_of(failed) == ["  ✗ read a.py ▸", "    │ There is no file a.py."]


def test_a_shell_card_shows_its_last_lines() -> None:
    lines = lines_of(ToolBlock("c", "c", "shell", "$ make", output=LONG, status="ok", summary="exit 0"))
    assert lines[0] == "  ✓ $ make ▸  exit 0"
    assert lines[1].strip() == "… 34 lines more"
    assert lines[-1] == "    │ line 39"


def test_an_edit_shows_its_diff_with_numbers() -> None:
    lines = lines_of(ToolBlock("c", "c", "edit", "edit x", output="ok", diff=DIFF, status="ok"))
    assert [line.rstrip() for line in lines] == [
        "  ✓ edit x ▸",
        "    1   one",
        "    2 - two",
        "    2 + three",
    ]


def test_a_command_of_the_users_own_shows_the_command_and_how_it_ended() -> None:
    lines = lines_of(NoteBlock("n", "shell", "The user ran a command.\n$ ls\na\nb\n(exit 2)"))
    assert lines == ["  ✗ $ ls  exit 2", "    │ a", "    │ b"]


def test_facts_for_the_model_are_one_faint_line_until_unfolded() -> None:
    note = NoteBlock("n", "model", "Monday\nmain", label="date, git")
    assert lines_of(note) == ["  + for the model: date, git"]
    assert [line.strip(" │") for line in lines_of(note, True)[1:]] == ["Monday", "main"]


def test_a_long_plan_shows_what_is_being_worked_on() -> None:
    items = tuple(PlanItem(f"step {n}", "completed" if n < 9 else "pending") for n in range(20))
    lines = lines_of(PlanBlock("p", Plan(items)))
    assert lines[0].startswith("  Plan 9 of 20 done")
    assert "  ☐ step 9" in lines
    assert len(lines) == 7
    assert len(lines_of(PlanBlock("p", Plan(items)), True)) == 21


def test_a_summary_taken_back_says_so() -> None:
    lines = lines_of(SummaryBlock("s", "Compacted", "12 entries", "gist", undone=True))
    assert lines[0].startswith("── Compacted · 12 entries · undone ▸ ─")
    assert len(lines) == 1


def test_an_unfinished_answer_says_why_it_ends() -> None:
    assert lines_of(AnswerBlock("a", "Half of", mark="interrupted")) == [
        "  Half of",
        "",
        "  [interrupted here]",
    ]


def test_the_ascii_signs_need_no_other_characters() -> None:
    inks = Inks.of(DARK, ASCII)
    for block in BLOCKS:
        for part in parts_of(block, False):
            for line in part.draw(60, inks).lines:
                signs = line.plain.replace("·", "").replace("…", "").replace("→", "")
                assert signs.isascii(), line.plain
    assert INKS.glyphs.bar not in ASCII.bar
