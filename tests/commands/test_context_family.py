"""/compact /auto-compact /pin /cycle /cycles /recall /context /cost /cache."""

from __future__ import annotations

import re

import pytest

from deeptide.commands.picture import parts_of
from deeptide.commands.results import Confirm
from deeptide.protocol.errors import UsageError
from deeptide.protocol.events import Compacted, CycleHandedOff
from tests.commands.conftest import Desk, Opener

PRICE = re.compile(
    r"The next request reads about [\d,]+ tokens: \$[\d.]+ if nothing of it is cached, \$[\d.]+ if all"
)


async def talked(desk: Desk, turns: int = 6) -> Desk:
    await desk.say(*(f"question number {n} about the basket" for n in range(turns)))
    return desk


async def test_compact_folds_tells_the_price_and_is_undone_exactly(desk: Desk) -> None:
    await talked(desk)
    before = desk.session.fold.messages()
    said = await desk.read("/compact keep the basket")
    assert "folded into a summary" in said and PRICE.search(said)
    event = next(r.event for r in desk.session.records if isinstance(r.event, Compacted))
    assert event.focus == "keep the basket" and event.narrative
    assert desk.session.fold.messages() != before
    assert "undone" in await desk.read("/compact undo")
    assert desk.session.fold.messages() == before
    with pytest.raises(UsageError, match="no compaction to undo"):
        await desk.type("/compact undo")


async def test_a_focus_that_begins_with_a_verb_is_a_focus(desk: Desk) -> None:
    await talked(desk)
    await desk.type("/compress undo nothing of the API")
    event = next(r.event for r in desk.session.records if isinstance(r.event, Compacted))
    assert event.focus == "undo nothing of the API"


async def test_the_preview_shows_what_would_go_and_changes_nothing(desk: Desk) -> None:
    assert "would do nothing" in await desk.read("/compact preview")
    await talked(desk)
    await desk.type("/pin the API stays")
    asked, records = len(desk.emulator.requests), len(desk.session.records)
    text = await desk.read("/compact preview")
    for word in ("would be folded", "question number 0", "**Kept**", "- the API stays", "/compact undo"):
        assert word in text
    assert (len(desk.emulator.requests), len(desk.session.records)) == (asked, records)


async def test_auto_compact_speaks_the_grammar_and_saves(desk: Desk) -> None:
    assert "is off. (If on, it would fire at 95 %.)" in await desk.read("/auto-compact")
    assert "on at 70 %" in await desk.read("/auto-compact 70%")
    assert "is off. (If on, it would fire at 70 %.)" in await desk.read("/auto-compact off")
    for wrong in ("49", "100", "7.5", "sometimes", "threshold"):
        with pytest.raises(UsageError, match=r".") as caught:
            await desk.type(f"/auto-compact {wrong}")
        assert "50" in caught.value.advice and "99" in caught.value.advice
    assert "Saved to" in await desk.read("/auto-compact 60 --save")
    text = (desk.house.store.root.parent / "config.toml").read_text()
    assert "auto_compact = true" in text and "auto_compact_at = 60" in text


async def test_pins_are_kept_and_listed(desk: Desk) -> None:
    assert "Nothing is pinned" in await desk.read("/pin")
    assert (await desk.read("/pin API 保持兼容")).startswith("Pinned. It stays")
    assert await desk.read("/pin") == "- API 保持兼容"
    assert (await desk.read("/pin cents")).startswith("Pinned. All 2 pinned lines stay")


async def test_a_cycle_is_handed_off_listed_and_shown(desk: Desk) -> None:
    assert "this is cycle 1" in await desk.read("/cycles")
    await talked(desk, 3)
    said = await desk.read("/cycle now")
    assert "Cycle 1 is archived" in said and PRICE.search(said)
    assert any(isinstance(r.event, CycleHandedOff) for r in desk.session.records)
    assert "| 1 |" in await desk.read("/cycles")
    assert "floats lose cents" in await desk.read("/cycle 1")
    assert "floats lose cents" in await desk.read("/cycle #1")
    for wrong, words in (
        ("/cycle", "now"),
        ("/cycle soon", "neither"),
        ("/cycle 9", "no archive of cycle 9"),
    ):
        with pytest.raises(UsageError, match=words) as caught:
            await desk.type(wrong)
    assert caught.value.advice == "There are: 1."


async def test_without_a_cycle_the_way_to_one_is_named(desk: Desk) -> None:
    with pytest.raises(UsageError) as caught:
        await desk.type("/cycle 1")
    assert "/cycle now" in caught.value.advice and "none" not in caught.value.advice


async def test_the_next_price_is_said_only_where_the_view_was_rewritten(desk: Desk) -> None:
    assert "next request" not in await desk.read("/compact")
    await talked(desk)
    for line in ("/context", "/cost", "/cache", "/compact preview"):
        assert "next request" not in await desk.read(line)
    switched = await desk.read("/model pro")
    assert switched.count("The next request reads") == 1 and "That costs about $" in switched
    assert "next request" not in await desk.read("/model pro")


async def test_recall_finds_what_left_the_view(desk: Desk) -> None:
    assert "Nothing has left the view" in await desk.read("/recall basket")
    await desk.say("the port of the database is 5433, 端口不能改")
    await talked(desk, 5)
    await desk.type("/cycle now")
    for query in ("database port", "端口"):
        assert "5433" in await desk.read(f"/recall {query}")
    assert "No archived message" in await desk.read("/recall zebra")
    with pytest.raises(UsageError, match="no word"):
        await desk.type("/recall ...")
    with pytest.raises(UsageError, match="words to look for"):
        await desk.type("/recall")


async def test_the_picture_adds_up_to_the_meter(desk: Desk) -> None:
    assert "**0 %**" in await desk.read("/context") or "% of" in await desk.read("/context")
    await talked(desk)
    fold = desk.session.fold
    total = sum(parts_of(fold).values())
    assert abs(total - fold.used()) <= 0.02 * fold.used() + 20
    text = await desk.read("/context")
    for word in (
        "system prompt",
        "your words",
        "answers",
        "thinking",
        "free",
        "**Largest**",
        "Auto-compact is off",
    ):
        assert word in text
    await desk.type("/compact")
    await desk.type("/compact undo")
    text = await desk.read("/context")
    assert "compaction (manual)" in text and "(taken back)" in text
    bar = re.search(r"\[([A-Z.]+)\]", text)
    assert bar and len(bar[1]) == 40


async def test_cost_agrees_with_the_log(desk: Desk) -> None:
    assert "No request was answered" in await desk.read("/cost")
    await talked(desk, 3)
    await desk.type("/cycle now")
    text, fold = await desk.read("/cost"), desk.session.fold
    assert f"**{fold.cost}** for 4 requests in 3 turns" in text
    assert f"{fold.usage.prompt:,}" in text and f"{fold.usage.completion:,}" in text
    assert "| turn 3 |" in text and "| hand-off |" in text and "per million tokens" in text
    names = [row.split("|")[1].strip() for row in text.split("\n") if row.startswith("|")]
    assert "flash" in names or "flash, peak" in names


async def test_the_tables_of_cost_fit_a_terminal_of_eighty_columns(desk: Desk) -> None:
    await talked(desk, 2)
    await desk.type("/model pro")
    await talked(desk, 1)
    rows = [row[2:-2].split(" | ") for row in (await desk.read("/cost")).split("\n") if row[:1] == "|"]
    assert sum(max(len(row[column]) for row in rows) for column in range(7)) + 6 * 3 <= 76


async def test_cache_shows_each_request_and_why_it_missed(desk: Desk) -> None:
    assert "No request was answered" in await desk.read("/cache")
    await talked(desk, 3)
    await desk.type("/model pro")
    await talked(desk, 1)
    text = await desk.read("/cache")
    assert "first request" in text and "switched to deepseek-v4-pro" in text and "saved about $" in text
    warm = [seen.usage["prompt_cache_hit_tokens"] for seen in desk.emulator.requests if seen.usage][1:3]
    assert all(hit > 500 for hit in warm)
    assert all(f"{hit:,}" in text for hit in warm)


async def test_an_unknown_price_is_said_to_be_unknown(open_desk: Opener) -> None:
    desk = await open_desk(**{"model.currency": "CNY"})
    question = await desk.type("/model my-own-model")
    assert isinstance(question, Confirm)
    assert "No CNY price is known for my-own-model" in await desk.read(question.line)
    desk.session.pin("x")
    await desk.type("/checkpoint")
    assert "no CNY price is known for my-own-model" in await desk.read("/rewind latest")
