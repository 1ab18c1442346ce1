"""The prefix cache follows the documented rule: whole units, quanta of 64, one owner."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.emulator.cache import PrefixCache, common_prefix
from deeptide.emulator.counting import count_tokens
from deeptide.emulator.emulator import Emulator
from deeptide.emulator.script import Say, Script
from tests.deep import count
from tests.fakes.scripts import post, request, tool

ME = ("key", "", "deepseek-flash")


def read(cache: PrefixCache, text: str, owner: Any = ME) -> int:
    """One character counts one token."""
    return cache.read(owner, [text], [len(text)])


def test_the_same_prompt_again_hits_in_quanta_of_sixty_four() -> None:
    cache = PrefixCache()
    assert read(cache, "a" * 1000) == 0
    assert read(cache, "a" * 1000) == 960


def test_a_prompt_under_the_smallest_unit_never_hits() -> None:
    cache = PrefixCache()
    assert [read(cache, "b" * 98) for _ in range(3)] == [0, 0, 0]


def test_a_growing_talk_hits_all_that_was_said_before() -> None:
    cache = PrefixCache()
    assert read(cache, "a" * 640) == 0
    cache.write(ME, ["a" * 640, "b" * 64], [640, 64])
    assert read(cache, "a" * 640 + "b" * 64 + "c" * 500) == 704


def test_two_askers_of_one_document_teach_the_third() -> None:
    cache = PrefixCache(step=10**9)
    document = "d" * 640
    assert read(cache, document + "B" * 300) == 0
    assert read(cache, document + "C" * 300) == 0
    assert read(cache, document + "D" * 300) == 640


def test_long_text_has_units_at_fixed_steps() -> None:
    cache = PrefixCache(step=1024)
    assert read(cache, "d" * 5000 + "B") == 0
    assert read(cache, "d" * 5000 + "C") == 4096


def test_a_changed_byte_at_the_front_loses_everything_behind_it() -> None:
    cache = PrefixCache()
    read(cache, "x" + "a" * 9000)
    assert read(cache, "y" + "a" * 9000) == 0


def test_nothing_crosses_between_keys_users_and_models() -> None:
    cache = PrefixCache()
    for owner in (ME, ("other", "", "deepseek-flash"), ("key", "u", "deepseek-flash"), ("key", "", "pro")):
        assert read(cache, "a" * 1000, owner) == 0
    cache.clear()
    assert read(cache, "a" * 1000) == 0


def test_old_texts_are_forgotten_by_number_and_by_size() -> None:
    cache = PrefixCache(recent=2)
    for letter in "abc":
        read(cache, letter * 640)
    assert read(cache, "a" * 640) == 0
    small = PrefixCache(budget=1000)
    read(small, "a" * 900)
    read(small, "b" * 900)
    assert read(small, "a" * 900) == 0


@given(st.text("ab", max_size=200), st.text("ab", max_size=200))
@settings(max_examples=count(60, 1000))
def test_the_common_prefix_is_the_longest_one(left: str, right: str) -> None:
    same = common_prefix(left, right)
    assert left[:same] == right[:same]
    assert same in (len(left), len(right)) or left[same] != right[same]


def test_the_common_prefix_of_long_texts_is_found_past_a_block() -> None:
    assert common_prefix("a" * 200_000 + "x", "a" * 200_000 + "y") == 200_000


@given(st.integers(0, 2**32), st.integers(1, 500))
@settings(max_examples=count(40, 1000), deadline=None)
def test_a_hit_is_always_a_true_prefix_seen_before_and_a_multiple_of_64(seed: int, step: int) -> None:
    chance, cache, seen = random.Random(seed), PrefixCache(step=step, least=64), []
    for _ in range(12):
        base = chance.choice(seen)[: chance.randrange(1, 900)] if seen else ""
        text = base + "".join(chance.choice("ab") for _ in range(chance.randrange(1, 400)))
        hit = read(cache, text)
        assert hit % 64 == 0
        assert hit <= max((common_prefix(text, old) for old in seen), default=0)
        seen.append(text)


async def test_a_session_that_only_appends_stays_warm_and_a_moved_tool_does_not() -> None:
    tools = [tool("read"), tool("write")]
    system = {"role": "system", "content": "You are careful. " * 200}
    emulator = Emulator(Script.of([Say("one", "r1"), Say("two", "r2"), Say("three", "r3")]))
    first = [system, {"role": "user", "content": "start " * 100}]
    reply = (await post(emulator, request(*first, tools=tools))).json()
    said = reply["choices"][0]["message"]
    grown = [*first, {"role": "assistant", **{k: said[k] for k in ("content", "reasoning_content")}},
             {"role": "user", "content": "go on"}]  # fmt: skip
    warm = (await post(emulator, request(*grown, tools=tools))).json()["usage"]
    assert warm["prompt_cache_hit_tokens"] > 0.9 * reply["usage"]["total_tokens"]
    moved = (await post(emulator, request(*grown, tools=tools[::-1]))).json()["usage"]
    assert moved["prompt_cache_hit_tokens"] < count_tokens(system["content"])


async def test_the_user_id_and_the_key_isolate_the_cache() -> None:
    emulator = Emulator()
    body = request({"role": "user", "content": "word " * 500})
    await post(emulator, body)
    hits = []
    for more, key in (({"user_id": "u"}, "k"), ({}, "other"), ({}, "k")):
        hits.append((await post(emulator, body | more, key=key)).json()["usage"]["prompt_cache_hit_tokens"])
    assert hits[0] == hits[1] == 0 and hits[2] > 400


async def test_tools_left_out_by_tool_choice_cost_nothing() -> None:
    emulator = Emulator()
    usage = [
        (await post(emulator, request(tools=[tool()], **more))).json()["usage"]["prompt_tokens"]
        for more in ({}, {"tool_choice": "none"})
    ]
    assert usage[0] > usage[1]


async def test_reasoning_is_counted_only_when_tools_are_offered() -> None:
    said = {"role": "assistant", "content": "a", "reasoning_content": "long " * 300}
    emulator = Emulator()
    ask = [{"role": "user", "content": "x"}, said, {"role": "user", "content": "y"}]
    bare = (await post(emulator, request(*ask))).json()["usage"]["prompt_tokens"]
    with_tools = (await post(emulator, request(*ask, tools=[tool()]))).json()["usage"]["prompt_tokens"]
    assert with_tools > bare + 300
