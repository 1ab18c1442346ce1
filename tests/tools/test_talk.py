"""todo, ask_user, recall_archive and read_archive: the tools that touch the talk and not the files."""

from __future__ import annotations

import pytest

from deeptide.protocol.approvals import Decision
from deeptide.protocol.plan import Plan, PlanItem
from tests.tools.workbench import Workbench


async def test_todo_replaces_the_plan(bench: Workbench) -> None:
    items = [
        {"text": "read the code", "status": "completed"},
        {"text": "fix\nit", "status": "in_progress"},
        {"text": "测试", "status": "pending"},
    ]
    output = await bench.output("todo", items=items)
    assert output.plan == Plan(
        (
            PlanItem("read the code", "completed"),
            PlanItem("fix it", "in_progress"),
            PlanItem("测试", "pending"),
        )
    )
    assert output.text == "[x] read the code\n[~] fix it\n[ ] 测试" and output.summary == "1/3"
    assert (await bench.output("todo", items=[])).plan == Plan()


async def test_todo_reminds_of_one_item_at_a_time_and_refuses_an_empty_text(bench: Workbench) -> None:
    both = [{"text": "a", "status": "in_progress"}, {"text": "b", "status": "in_progress"}]
    assert "2 items are in_progress" in await bench.text("todo", items=both)
    assert "has no text" in await bench.refused("todo", items=[{"text": " ", "status": "pending"}])


async def test_a_question_reaches_the_user_and_the_answer_the_model(bench: Workbench) -> None:
    bench.decision = Decision("once", "用 SQLite\x1b[0m")
    text = await bench.text(
        "ask_user", question="Which store?\nIt matters.", options=["SQLite", "SQLite", "files"]
    )
    assert text == "The user answered: 用 SQLite"
    (approval,) = bench.asked
    assert approval.kind == "question" and approval.options == ("SQLite", "files")
    assert approval.preview == "Which store?\nIt matters." and approval.title == "Which store? It matters."
    assert approval.call_id == "call_1" and approval.id


@pytest.mark.parametrize(
    ("decision", "said", "is_error"),
    [
        (Decision("deny"), "The user did not answer the question.", True),
        (Decision("deny", "not now"), "The user did not answer the question and said: not now.", True),
        (Decision("once"), "The user agreed without further words.", False),
    ],
)
async def test_no_answer_is_told_as_no_answer(
    bench: Workbench, decision: Decision, said: str, is_error: bool
) -> None:
    bench.decision = decision
    output = await bench.output("ask_user", question="Go on?")
    assert (output.text, output.is_error) == (said, is_error)


async def test_an_empty_question_is_not_asked(bench: Workbench) -> None:
    assert "nobody was asked" in await bench.refused("ask_user", question=" ")
    assert bench.asked == []


async def test_recall_finds_and_read_archive_reads_the_whole(bench: Workbench) -> None:
    bench.archive.add(1, 0, "we chose the porcupine cache because of latency")
    bench.archive.add(1, 1, "something else entirely")
    bench.archive.add(2, 0, "缓存策略已经确定")
    text = await bench.text("recall_archive", query="porcupine cache")
    assert text.startswith("[cycle 1 · message 0 · user · score ") and "porcupine cache" in text
    assert "缓存策略" in await bench.text("recall_archive", query="缓存", cycle=2)
    whole = await bench.text("read_archive", cycle=1, message_index=0)
    assert whole == "[cycle 1 · message 0]\n[user]\nwe chose the porcupine cache because of latency"


async def test_recall_says_when_there_is_nothing_or_the_query_is_empty(bench: Workbench) -> None:
    assert await bench.text("recall_archive", query="anything")
    assert "query is empty" in await bench.refused("recall_archive", query="  ")
    bench.archive.add(1, 0, "text")
    assert "no word" in await bench.refused("recall_archive", query="?!")


async def test_a_long_message_is_paged_and_the_pages_are_the_whole(bench: Workbench) -> None:
    long = "".join(f"{n} " for n in range(12_000))
    bench.archive.add(1, 0, long)
    pages = [
        (await bench.text("read_archive", cycle=1, message_index=0, page=page)).split("]\n", 1)[1]
        for page in range(1, 5)
    ]
    assert "".join(pages) == f"[user]\n{long}"
    assert "there is no page 5" in await bench.refused("read_archive", cycle=1, message_index=0, page=5)


async def test_a_message_that_is_not_there_is_said(bench: Workbench) -> None:
    assert "no message 4 in cycle 9" in await bench.refused("read_archive", cycle=9, message_index=4)


async def test_only_tools_that_change_nothing_are_read_only(bench: Workbench) -> None:
    changing = [s.name for s in bench.registry.schemas if not bench.registry.get(s.name).read_only]  # type: ignore[union-attr]
    assert changing == ["write", "edit", "shell"]
