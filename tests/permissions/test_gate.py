"""Every question gets exactly one answer."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.permissions.gate import Gate
from deeptide.protocol.approvals import Approval, Decision
from tests.deep import count


def question(name: str, *, strong: bool = False) -> Approval:
    return Approval(id=name, call_id="c", tool="shell", title="$ x", strong=strong)


async def test_an_answer_reaches_its_asker_once() -> None:
    gate = Gate()
    first, second = (asyncio.ensure_future(gate.ask(question(name))) for name in "ab")
    await asyncio.sleep(0)
    assert [approval.id for approval in gate.pending] == ["a", "b"]
    assert gate.answer("b", Decision("session"))
    assert not gate.answer("b", Decision("deny"))
    assert [approval.id for approval in gate.pending] == ["a"]
    assert await second == Decision("session")
    assert gate.answer("a", Decision("deny", "no"))
    assert await first == Decision("deny", "no")
    assert gate.pending == ()
    assert not gate.answer("a", Decision("once"))
    assert not gate.answer("unknown", Decision("once"))


async def test_a_strong_question_is_answered_for_this_time_only() -> None:
    gate = Gate()
    asked = asyncio.ensure_future(gate.ask(question("a", strong=True)))
    await asyncio.sleep(0)
    gate.answer("a", Decision("always", "fine"))
    assert await asked == Decision("once", "fine")


async def test_a_cancelled_asker_takes_its_question_along() -> None:
    gate = Gate()
    asked = asyncio.ensure_future(gate.ask(question("a")))
    await asyncio.sleep(0)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert gate.pending == ()
    assert not gate.answer("a", Decision("once"))


async def test_cancelling_all_answers_all_with_no() -> None:
    gate = Gate()
    asked = [asyncio.ensure_future(gate.ask(question(str(n)))) for n in range(3)]
    await asyncio.sleep(0)
    gate.cancel_all()
    gate.cancel_all()
    assert {decision.choice for decision in await asyncio.gather(*asked)} == {"deny"}
    assert gate.pending == ()


async def test_the_same_question_cannot_wait_twice() -> None:
    gate = Gate()
    asked = asyncio.ensure_future(gate.ask(question("a")))
    await asyncio.sleep(0)
    with pytest.raises(ValueError, match="already"):
        await gate.ask(question("a"))
    assert gate.answer("a", Decision("once"))
    await asked


@settings(max_examples=count(50, 1000), deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["answer", "cancel", "all"])), max_size=12))
def test_in_any_order_no_asker_is_left_waiting(acts: list[tuple[str, str]]) -> None:
    async def play() -> None:
        gate = Gate()
        tasks = {name: asyncio.ensure_future(gate.ask(question(name))) for name in "abc"}
        await asyncio.sleep(0)
        for name, act in acts:
            if act == "answer":
                open_before = name in {approval.id for approval in gate.pending}
                assert gate.answer(name, Decision("once")) == open_before
            elif act == "cancel":
                tasks[name].cancel()
            else:
                gate.cancel_all()
            await asyncio.sleep(0)
        gate.cancel_all()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
        assert gate.pending == ()

    asyncio.run(play())
