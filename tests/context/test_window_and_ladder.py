"""Truth tables: the window's shares, the tiers and their latch, the policy, the /auto-compact grammar."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deeptide.context.auto_compact import AutoCompact
from deeptide.context.ladder import Action, Automatic, Phase, Policy, earlier, next_action
from deeptide.context.window import Latch, Reading, Window, tier, warning_text
from deeptide.protocol.errors import UsageError


def at(percent: float) -> Reading:
    return Reading(int(percent * 10), 1_000, percent, tier(percent), False)


# ---- the window ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "reserve", "usable"),
    [
        (1_048_576, 64_000, 983_552),
        (131_072, 32_768, 97_280),
        (8_192, 2_048, 5_120),
        (256_000, 64_000, 190_976),
    ],
)
def test_usable_is_the_window_less_reserve_and_safety(size: int, reserve: int, usable: int) -> None:
    window = Window.of(size)
    assert (window.reserve, window.usable) == (reserve, usable)


@given(st.integers(-5, 3_000_000))
def test_any_window_leaves_something_usable_and_adds_up(size: int) -> None:
    window = Window.of(size)
    assert window.usable > 0
    assert window.usable + window.reserve + window.safety == window.size


@pytest.mark.parametrize(
    ("percent", "expected"),
    [(0, 0), (79.99, 0), (80, 80), (89.99, 80), (90, 90), (94.99, 90), (95, 95), (140, 95)],
)
def test_tiers(percent: float, expected: int) -> None:
    assert tier(percent) == expected


def test_each_tier_speaks_once_and_a_jump_speaks_only_the_highest() -> None:
    latch = Latch()
    assert [latch.observe(p) for p in (50, 81, 82, 79, 83, 91, 96, 99)] == [
        None,
        80,
        None,
        None,
        None,
        90,
        95,
        None,
    ]
    assert Latch().observe(97) == 95


def test_after_a_change_of_the_view_the_latch_stands_where_the_meter_stands() -> None:
    latch = Latch()
    latch.observe(96)
    latch.rearm(40)
    assert latch.observe(80) == 80
    latch.rearm(92)
    assert latch.observe(94) is None
    assert latch.observe(95) == 95


@pytest.mark.parametrize("step", [80, 90, 95])
def test_a_warning_says_percent_tokens_model_and_what_to_do(step: int) -> None:
    text = warning_text(step, Reading(12_345, 15_000, 82.3, 80, False), "deepseek-flash")
    for part in ("82 %", "12,345", "15,000", "deepseek-flash", "/compact"):
        assert part in text
    assert "\n" not in text


# ---- the ladder ----------------------------------------------------------------------------------------

_LEVELS = (10.0, 79.9, 80.0, 84.9, 85.0, 97.9, 98.0, 120.0)
_QUIET: dict[float, Action] = {p: "hard" if p >= 98 else "none" for p in _LEVELS}
_ACTS: dict[float, Action] = {
    10.0: "none", 79.9: "none", 80.0: "evict", 84.9: "evict", 85.0: "evict", 97.9: "evict", 98.0: "evict",
    120.0: "evict",
}  # fmt: skip
_ASKS: dict[float, Action] = {p: "ask" if p >= 85 else "none" for p in _LEVELS}
_TABLE: dict[tuple[Automatic, Phase], dict[float, Action]] = {
    ("guard", "between"): _QUIET,
    ("guard", "inside"): _ACTS,
    ("ladder", "between"): _ACTS,
    ("ladder", "inside"): _ACTS,
    ("ask", "between"): _ASKS,
    ("ask", "inside"): _ACTS,
    ("off", "between"): _QUIET,
    ("off", "inside"): _QUIET,
}


@pytest.mark.parametrize(("automatic", "phase"), list(_TABLE))
def test_the_policy_table(automatic: Automatic, phase: Phase) -> None:
    policy = Policy(automatic, eviction=True)
    expected = _TABLE[automatic, phase]
    assert {p: next_action(at(p), policy, phase) for p in _LEVELS} == expected


@pytest.mark.parametrize(("automatic", "phase"), list(_TABLE))
def test_without_eviction_the_next_rung_takes_its_place(automatic: Automatic, phase: Phase) -> None:
    for percent, action in _TABLE[automatic, phase].items():
        if action == "evict":
            action = "compact" if percent >= 85 else "none"
        assert next_action(at(percent), Policy(automatic), phase) == action


def test_each_rung_is_taken_once_then_the_next_and_at_last_the_hard_limit() -> None:
    policy = Policy("guard", eviction=True)
    assert next_action(at(99), policy, "inside", ("evict",)) == "compact"
    assert next_action(at(99), policy, "inside", ("evict", "compact")) == "hard"
    assert next_action(at(90), policy, "inside", ("evict", "compact")) == "none"
    assert next_action(at(99), Policy("ask"), "between", ("ask",)) == "hard"


def test_without_a_person_to_ask_ask_behaves_as_guard() -> None:
    for percent, phase in itertools.product(_LEVELS, ("between", "inside")):
        alone = next_action(at(percent), Policy("ask", asks=False), phase)
        assert alone == next_action(at(percent), Policy("guard"), phase)


def test_the_limits_are_settings() -> None:
    policy = Policy("ladder", soft_limit=50, evict_at=40, hard_limit=60, eviction=True)
    assert [next_action(at(p), policy, "between") for p in (39, 40)] == ["none", "evict"]
    assert next_action(at(55), policy, "between", ("evict",)) == "compact"
    assert next_action(at(60), policy, "between", ("evict", "compact")) == "hard"


def test_what_acts_before_auto_compact_is_said() -> None:
    assert earlier(Policy("off"), 95) == ""
    assert earlier(Policy("guard"), 70) == ""
    assert "a running turn is compacted at 85 %" in earlier(Policy("guard"), 95)
    both = earlier(Policy("ladder", eviction=True), 95)
    assert "before any request, cleared of old tool output at 80 % and compacted at 85 %" in both


# ---- /auto-compact -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "on", "threshold", "save"),
    [
        ("on", True, 95, False),
        ("ON", True, 95, False),
        ("80", True, 80, False),
        ("80%", True, 80, False),
        ("50", True, 50, False),
        ("99", True, 99, False),
        ("threshold 70", False, 70, False),
        ("off", False, 95, False),
        ("", False, 95, False),
        ("status", False, 95, False),
        ("reset", False, 95, False),
        ("help", False, 95, False),
        ("on --save", True, 95, True),
        ("--save 60", True, 60, True),
        ("threshold 60 --save", False, 60, True),
    ],
)
def test_the_grammar(line: str, on: bool, threshold: int, save: bool) -> None:
    auto = AutoCompact()
    reply = auto.command(line)
    assert (auto.on, auto.threshold, reply.save) == (on, threshold, save)
    assert reply


@pytest.mark.parametrize(
    "line",
    ["49", "100", "0", "-80", "+80", "80.5", "8 0", "80 %", "８０", "threshold", "threshold x", "threshold 101",
     "threshold 80 90", "yes", "on off", "on 80", "reset --save", "help --save", "1" * 5_000],
)  # fmt: skip
def test_anything_else_is_refused_and_changes_nothing(line: str) -> None:
    auto = AutoCompact(on=True, threshold=77)
    auto.record_fired(1)
    with pytest.raises(UsageError) as caught:
        auto.command(line)
    assert (auto.on, auto.threshold, auto.fired) == (True, 77, 1)
    assert "50 to 99" in caught.value.advice or "--save" in caught.value.advice


def test_the_refusal_of_a_number_says_the_range() -> None:
    with pytest.raises(UsageError) as caught:
        AutoCompact().command("120")
    assert "50 to 99" in caught.value.advice


def test_switching_on_keeps_the_threshold_that_was_set() -> None:
    auto = AutoCompact()
    auto.command("threshold 66")
    auto.command("on")
    assert (auto.on, auto.threshold) == (True, 66)


def test_it_fires_at_the_threshold_and_once_per_turn() -> None:
    auto = AutoCompact(on=True, threshold=80)
    assert not auto.should_fire(at(79.9), 1)
    assert auto.should_fire(at(80), 1)
    auto.record_fired(1)
    assert not auto.should_fire(at(99), 1)
    assert auto.should_fire(at(99), 2)
    assert not AutoCompact(on=False, threshold=80).should_fire(at(99), 1)


def test_status_tells_state_threshold_count_and_what_acts_earlier() -> None:
    auto = AutoCompact(on=True, threshold=95)
    auto.record_fired(1)
    auto.record_fired(2)
    status = auto.command("status", Policy("ladder"))
    assert "on at 95 %" in status
    assert "It has fired 2 times." in status
    assert "85 %" in status
    auto.command("reset")
    assert "It has not fired yet." in auto.command("")


def test_what_is_off_is_said_to_be_off_and_what_acts_all_the_same_is_told_apart() -> None:
    assert AutoCompact().command("", Policy("guard")) == (
        "Auto-compact is off. (If on, it would fire at 95 %.) "
        "Independently of it, a running turn is compacted at 85 % so that it cannot overflow."
    )
    assert "Independently" in AutoCompact(threshold=60).command("", Policy("guard"))
    assert AutoCompact().command("", Policy("off")).endswith("95 %.)")
    used = AutoCompact(on=True)
    used.record_fired(1)
    assert "It has fired once." in used.command("off")
