"""When a turn stops by itself, and when it must not."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.agent.limits import Budget, Limits, RepetitionGuard, Stop
from deeptide.protocol.messages import ToolCall
from deeptide.protocol.usage import Money
from tests.deep import count


def call(name: str, arguments: str = "{}") -> ToolCall:
    return ToolCall("id", name, arguments)


def test_each_cap_stops_with_its_reason_and_an_advice() -> None:
    spent = Money(1.0)
    table = [
        (Limits(steps=3), 3, Money(1.0), "turns"),
        (Limits(turn_cost=0.5), 0, Money(1.6), "money"),
        (Limits(session_cost=2.0), 0, Money(2.0), "money"),
    ]
    for limits, steps, total, reason in table:
        stop = Budget(limits, spent).check(steps, total)
        assert stop is not None and stop.reason == reason and stop.advice


def test_no_cap_and_not_yet_reached_go_on() -> None:
    assert Budget(Limits(), Money()).check(10_000, Money(99.0)) is None
    assert Budget(Limits(steps=3, turn_cost=1.0), Money(5.0)).check(2, Money(5.9)) is None


def test_the_same_call_with_the_same_result_is_noted_once_and_then_stopped() -> None:
    guard = RepetitionGuard(Limits(repeat_warn=3, repeat_stop=5))
    said = [guard.observe([(call("list"), "same", False)]) for _ in range(5)]
    assert [type(each) for each in said] == [type(None), type(None), str, type(None), Stop]


def test_a_new_result_is_progress() -> None:
    guard = RepetitionGuard(Limits())
    assert all(guard.observe([(call("shell", "poll"), f"{n} %", False)]) is None for n in range(50))


def test_editing_and_testing_again_is_progress_even_if_the_test_says_the_same() -> None:
    guard = RepetitionGuard(Limits())
    for n in range(30):
        assert guard.observe([(call("edit", f"try {n}"), "ok", True)]) is None
        assert guard.observe([(call("shell", "pytest"), "1 failed", False)]) is None


def test_an_edit_that_is_made_and_taken_back_for_ever_is_stopped() -> None:
    guard = RepetitionGuard(Limits())
    stops = []
    for _ in range(20):
        stops.append(guard.observe([(call("edit", "a to b"), "ok", True)]))
        stops.append(guard.observe([(call("edit", "b to a"), "ok", True)]))
    assert any(isinstance(each, Stop) for each in stops)


@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=60))
@settings(max_examples=count(100, 2000))
def test_it_never_stops_before_one_batch_was_seen_as_often_as_the_limit_says(results: list[str]) -> None:
    guard = RepetitionGuard(Limits(repeat_warn=3, repeat_stop=6))
    for at, result in enumerate(results):
        if isinstance(guard.observe([(call("read"), result, False)]), Stop):
            assert results[: at + 1].count(result) >= 6
            return
    assert all(results.count(result) < 6 for result in set(results))
