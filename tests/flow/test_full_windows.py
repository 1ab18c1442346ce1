"""One thing that is larger than the window: it is cut with the file that holds the whole named, the turn is
done, and nothing said is lost. The provider counts by its own counter and refuses what is too long."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deeptide.emulator.counting import count_tokens
from deeptide.emulator.emulator import Emulator
from deeptide.emulator.says import Call, Say
from deeptide.model.tokens import estimate
from deeptide.protocol.events import Event, Notice, TurnEnded, UnitsDropped
from deeptide.session.session import Session
from deeptide.wiring.recalling import SessionRecall
from tests.deep import count
from tests.fakes.houses import of, once, say, sent, talk

WINDOWS = [4_096, 8_192, 16_384, 65_536]
ENGLISH = "The tide rises and falls twice a day, and nobody asks it why. "
CHINESE = "潮水一天涨落两次，没有人问它为什么。"
HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 "
CODE = "    if (x[i] != 0) { total += f(x[i], y->z); }  // {0}\n"


@pytest.fixture
def window(own_home: Path) -> Callable[[int], None]:
    def configured(size: int) -> None:
        own_home.mkdir(parents=True, exist_ok=True)
        (own_home / "config.toml").write_text(f'[models."deepseek-flash"]\nwindow = {size}\n')

    return configured


def long(text: str, tokens: int) -> str:
    """A text of about `tokens` by the provider's count."""
    return text * (tokens // count_tokens(text) + 1)


def allowed(size: int, text: str) -> int:
    """Refusals that may happen: one where the provider's counter is further from our estimate than the 15 %
    that the estimator promises for the real one. In the smallest window the tools alone make that so."""
    return 1 if size == 4_096 or count_tokens(text * 99) > 1.18 * estimate(text * 99) else 0


def assert_taken(service: Emulator, seen: list[Event], overflows: int = 0) -> None:
    refused = [request.error for request in service.requests if request.status != 200]
    assert len(refused) <= overflows, refused
    assert all("maximum context length" in error for error in refused)
    assert [event.reason for event in of(seen, TurnEnded)] == ["done"]


def spilled(session: Session) -> list[str]:
    return [path.read_text() for path in sorted(session.path.parent.rglob("view-*.txt"))]


@pytest.mark.parametrize("text", [ENGLISH, CHINESE, CODE])
@pytest.mark.parametrize("size", WINDOWS)
async def test_a_message_over_the_window_is_cut_and_the_turn_is_done(
    tmp_path: Path, window: Callable[[int], None], size: int, text: str
) -> None:
    window(size)
    words = "begin here. " + long(text, 3 * size) + " the needle xylophone." + long(text, size) + " end here."
    service = Emulator(lambda request, n: Say("Understood."), window=size)
    async with talk(tmp_path / "w", service._script, emulator=service) as (session, _):
        seen = await say(session, words)
        assert_taken(service, seen, overflows=allowed(size, text))
        shown = sent(service)["messages"][-1]["content"]
        assert shown.startswith("begin here.") and shown.endswith("end here.")
        assert words in spilled(session)
        assert any(f"view-{session.fold.last_user.seq}" in part for part in [shown])  # type: ignore[union-attr]
        assert words in [str(getattr(record.event, "text", "")) for record in session.records]
        found = await SessionRecall(session.fold).search("needle xylophone", None, 3)
        assert any("xylophone" in hit.excerpt for hit in found.hits)
        assert any("cut in the middle" in event.text for event in of(seen, Notice))
        assert_taken(service, await say(session, "and now?"), overflows=allowed(size, text))


@pytest.mark.parametrize("size", WINDOWS)
async def test_results_over_the_window_are_cut_before_the_next_request(
    tmp_path: Path, window: Callable[[int], None], size: int
) -> None:
    window(size)
    workspace = tmp_path / "w"
    workspace.mkdir()
    calls = []
    for n in range(size // 8_192 + 1):
        (workspace / f"{n}.txt").write_text(f"first of {n}\n" + f"{CHINESE}\n" * 1_000)
        calls.append(Call("read", {"path": f"{n}.txt"}))

    def script(request: dict[str, Any], n: int) -> Say:
        return Say("", thinking="I look.", calls=tuple(calls)) if n == 1 else Say("Read.")

    service = Emulator(script, window=size)
    async with talk(workspace, script, emulator=service) as (session, _):
        assert_taken(service, await say(session, "read them all"))
        results = [m["content"] for m in sent(service)["messages"] if m["role"] == "tool"]
        assert len(results) == len(calls)
        if size < 65_536:
            assert any("characters were cut here" in result for result in results)


@pytest.mark.parametrize("size", WINDOWS[:3])
async def test_a_mentioned_file_over_the_window_is_cut_and_the_words_stay_whole(
    tmp_path: Path, window: Callable[[int], None], size: int
) -> None:
    window(size)
    workspace = tmp_path / "w"
    workspace.mkdir()
    (workspace / "big.txt").write_text(HEX * 400)
    service = Emulator(lambda request, n: Say("Seen."), window=size)
    async with talk(workspace, service._script, emulator=service) as (session, _):
        assert_taken(service, await say(session, "what is in @big.txt ?"), overflows=allowed(size, HEX))
        contents = [str(message["content"]) for message in sent(service)["messages"]]
        assert contents[-1].endswith("what is in @big.txt ?")
        assert any("mentioned big.txt" in text and "were cut here" in text for text in contents)
        assert any(HEX * 300 in text for text in spilled(session))


@pytest.mark.parametrize("part", ["arguments", "reasoning", "text"])
async def test_a_response_over_a_window_that_became_smaller_is_cut_and_the_turn_goes_on(
    tmp_path: Path, window: Callable[[int], None], part: str
) -> None:
    """The provider allows less than is configured: the first refusal says so, and there is no second."""
    window(65_536)
    big = long(ENGLISH, 14_000)
    service: Emulator

    def script(request: dict[str, Any], n: int) -> Say:
        if n > 1:
            return Say("Written.")
        service.window = 24_000
        content = big if part == "arguments" else "short"
        call = Call("write", {"path": "new.txt", "content": content})
        thinking, text = big if part == "reasoning" else "I write.", big if part == "text" else ""
        return Say(text, thinking=thinking, calls=(call,))

    service = Emulator(script, window=65_536)
    async with talk(tmp_path / "w", script, emulator=service) as (session, _):
        seen = await say(session, "write it", once)
        assert_taken(service, seen, overflows=1)
        assert len([request for request in service.requests if request.status != 200]) == 1
        response = next(m for m in sent(service)["messages"] if m["role"] == "assistant")
        arguments = json.loads(response["tool_calls"][0]["function"]["arguments"])
        assert arguments["path"] == "new.txt"
        assert (tmp_path / "w" / "new.txt").read_text() == (big if part == "arguments" else "short")
        assert any(big in text for text in spilled(session))
        assert any("24,000" in event.text and "window" in event.advice for event in of(seen, Notice))
        assert_taken(service, await say(session, "go on"), overflows=1)


@pytest.mark.parametrize("size", WINDOWS[1:])
async def test_a_provider_that_counts_far_more_than_we_estimate_refuses_once(
    tmp_path: Path, window: Callable[[int], None], size: int
) -> None:
    window(size)
    service = Emulator(lambda request, n: Say("Yes."), window=size, count=lambda text: len(text) * 2 // 5)
    async with talk(tmp_path / "w", service._script, emulator=service) as (session, _):
        assert_taken(service, await say(session, long(ENGLISH, 2 * size)), overflows=1)
        assert_taken(service, await say(session, "and now?"), overflows=1)
        assert_taken(service, await say(session, long(CHINESE, size)), overflows=2)


async def test_a_request_that_cannot_fit_is_not_sent_and_the_error_says_what_to_do(
    tmp_path: Path, window: Callable[[int], None]
) -> None:
    window(2_048)
    service = Emulator(lambda request, n: Say("Yes."), window=2_048)
    async with talk(tmp_path / "w", service._script, emulator=service) as (session, _):
        (ended,) = of(await say(session, "hello"), TurnEnded)
        assert ended.reason == "error" and "cannot be made to fit" in ended.error
        assert "larger window" in ended.advice and "/model" in ended.advice
        assert service.requests == []
        assert session.fold.last_user is not None and session.fold.last_user.message.text == "hello"
        service.window = 131_072
        session.set_model("deepseek-pro")
        assert [event.reason for event in of(await say(session, "again"), TurnEnded)] == ["done"]


async def test_a_cut_view_is_the_same_after_a_resume(tmp_path: Path, window: Callable[[int], None]) -> None:
    window(8_192)
    service = Emulator(lambda request, n: Say("Yes."), window=8_192)
    async with talk(tmp_path / "w", service._script, emulator=service) as (session, _):
        seen = await say(session, long(CODE, 20_000))
        assert of(seen, UnitsDropped)
        again = type(session.fold).of(session.records)
        assert again.messages() == session.fold.messages()
        assert again.used() == session.fold.used() and again.at_most() == session.fold.at_most()


sizes = st.lists(
    st.tuples(st.sampled_from([ENGLISH, CHINESE, CODE, HEX]), st.integers(1, 400)), min_size=2, max_size=4
)


@settings(
    max_examples=count(6, 150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.sampled_from(WINDOWS), sizes)
def test_whatever_is_said_and_read_every_turn_is_done(
    tmp_path_factory: pytest.TempPathFactory,
    window: Callable[[int], None],
    size: int,
    said: list[tuple[str, int]],
) -> None:
    """Turns of words and files of up to four windows each."""
    window(size)
    workspace = tmp_path_factory.mktemp("w")

    def script(request: dict[str, Any], n: int) -> Say:
        if request["messages"][-1]["role"] == "tool":
            return Say("Read.", thinking="So that is it.")
        return Say("", thinking="I look.", calls=(Call("read", {"path": "f.txt"}),))

    async def run() -> None:
        service = Emulator(script, window=size)
        async with talk(workspace, script, emulator=service) as (session, _):
            for text, percent in said:
                words = long(text, size * percent // 100)
                (workspace / "f.txt").write_text(words.replace(" ", "\n"))
                assert_taken(service, await say(session, words), overflows=1)
                assert words in [str(getattr(record.event, "text", "")) for record in session.records]

    asyncio.run(run())
