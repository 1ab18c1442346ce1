from __future__ import annotations

from hypothesis import given, settings

from deeptide.protocol.events import Record
from deeptide.protocol.plan import Plan, PlanItem
from deeptide.transcript.blocks import AnswerBlock, NoteBlock, PlanBlock, ToolBlock, UserBlock
from deeptide.transcript.build import Transcript
from deeptide.transcript.export import markdown, seconds
from tests.deep import count
from tests.transcript.talks import Log, sessions, turn


def test_an_export_reads_like_the_talk() -> None:
    transcript = Transcript()
    log = Log()
    turn(log, 1, "It is **done**.")
    transcript.apply_all(log.records)
    text = markdown(transcript.blocks)
    for expected in (
        "## You\n\nQuestion 1",
        "Thought for",
        "**`read a`** ok · 2 lines",
        "It is **done**.",
        "2 calls",
    ):
        assert expected in text
    assert text.index("Question 1") < text.index("read a") < text.index("It is **done**.")


def test_output_with_fences_cannot_leave_its_own_fence() -> None:
    text = markdown(
        [ToolBlock("c", "c", "shell", "$ cat a.md", output="```\n````x\n# not a heading", status="ok")]
    )
    assert "`````text\n" in text
    assert text.rstrip().endswith("`````")


def test_a_title_with_backticks_stays_in_its_code_span() -> None:
    text = markdown([ToolBlock("c", "c", "shell", "$ echo `date`", status="ok")])
    assert "`` $ echo `date` ``" in text


def test_facts_for_the_model_are_left_out_and_nothing_gives_an_empty_file() -> None:
    assert markdown([NoteBlock("n", "model", "Monday", label="date")]) == ""
    assert markdown([]) == ""


def test_a_plan_becomes_a_task_list() -> None:
    plan = Plan((PlanItem("a", "completed"), PlanItem("b", "in_progress"), PlanItem("c")))
    assert markdown([PlanBlock("p", plan)]) == "- [x] a\n- [ ] b\n- [ ] c\n"


def test_durations_are_for_people() -> None:
    assert [seconds(ms) for ms in (0, 420, 9_990, 12_000, 200_000)] == [
        "0.0 s",
        "0.4 s",
        "10 s",
        "12 s",
        "3 min 20 s",
    ]


def test_an_answer_is_exported_verbatim_with_a_word_on_how_it_ended() -> None:
    text = markdown([UserBlock("u", "go"), AnswerBlock("a", "Half an ans", mark="cut")])
    assert text == "## You\n\ngo\n\nHalf an ans\n\n*[the connection broke here]*\n"


@settings(max_examples=count(30, 500), deadline=None)
@given(sessions())
def test_any_session_can_be_exported(records: list[Record]) -> None:
    transcript = Transcript()
    transcript.apply_all(records)
    text = markdown(transcript.blocks)
    assert text.endswith("\n")
