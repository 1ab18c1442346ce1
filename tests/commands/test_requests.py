"""Why a request was not read from the cache, told from the log alone."""

from __future__ import annotations

from deeptide.commands.requests import requests
from deeptide.protocol.events import (
    DURABLE,
    AssistantMessage,
    Compacted,
    CycleHandedOff,
    EffortChanged,
    ModelChanged,
    Record,
    Rewound,
    SessionStarted,
    TurnStarted,
    UnitsDropped,
)
from deeptide.protocol.messages import assistant
from deeptide.protocol.usage import Usage

START = SessionStarted("s", "/w", "sys", (), "deepseek-flash", "high", "ask", "0.1", 1_000_000)


def answer(prompt: int, hit: int, model: str = "deepseek-flash") -> AssistantMessage:
    usage = Usage(prompt=prompt, completion=10, hit=hit, miss=prompt - hit)
    return AssistantMessage(assistant("x"), "stop", model, usage)


def log(*events: DURABLE, times: dict[int, float] | None = None) -> list[Record]:
    return [Record(seq, (times or {}).get(seq, float(seq)), event) for seq, event in enumerate(events, 1)]


def why(*events: DURABLE, times: dict[int, float] | None = None) -> list[str]:
    return [one.why for one in requests(log(START, TurnStarted(1), *events, times=times))]


def test_the_first_request_has_nothing_to_read() -> None:
    assert why(answer(1000, 0)) == ["first request"]
    assert why(answer(1000, 960)) == [""]


def test_a_warm_request_needs_no_reason_whatever_happened() -> None:
    assert why(answer(1000, 0), EffortChanged("max"), answer(1200, 960)) == ["first request", ""]


def test_each_break_of_the_prefix_is_named_and_several_together() -> None:
    compacted = Compacted(3, "[context-summary]", "manual", 3, 900, 300)
    breaks = {
        "switched to deepseek-v4-pro": ModelChanged("deepseek-v4-pro", 1_000_000),
        "effort set to off": EffortChanged("off"),
        "after a compaction": compacted,
        "after the hand-off of cycle 2": CycleHandedOff(2, "seed", "b", "a", 4, 900, 100),
        "after a rewind": Rewound(2, 3),
        "after old messages were dropped": UnitsDropped((3,), "p", 900, 300),
    }
    for words, event in breaks.items():
        assert why(answer(1000, 0), event, answer(1000, 0))[-1] == words
    both = why(answer(1000, 0), Rewound(2, 3), Rewound(2, 3), EffortChanged("off"), answer(1000, 0))
    assert both[-1] == "after a rewind, effort set to off"


def test_a_break_is_forgotten_after_the_next_request() -> None:
    assert why(answer(1000, 0), Rewound(2, 3), answer(1000, 0), answer(1000, 64))[-1].startswith(
        "the provider"
    )


def test_short_prompts_and_long_pauses_explain_themselves() -> None:
    assert why(answer(100, 0), answer(120, 0))[-1] == "too short to be cached"
    assert why(answer(1000, 0), answer(1000, 0), times={4: 3 * 3600 + 3.0})[-1] == "3 h without a request"


def test_the_requests_of_compactions_are_listed_with_their_work() -> None:
    folded = Compacted(
        3, "[context-summary]", "manual", 3, 900, 300, usage=Usage(prompt=1100, hit=960, miss=140)
    )
    rows = requests(log(START, TurnStarted(1), answer(1000, 0), folded, TurnStarted(2), answer(400, 0)))
    assert [(one.work, one.turn, one.why) for one in rows] == [
        ("answer", 1, "first request"),
        ("compaction", 1, ""),
        ("answer", 2, "after a compaction"),
    ]
    assert rows[1].model == "deepseek-flash"


def test_answers_without_usage_are_left_out() -> None:
    assert requests(log(START, AssistantMessage(assistant("x"), "interrupted", "m"))) == ()
