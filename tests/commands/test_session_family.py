"""/new /sessions /resume /rename /export /copy /quit /help /status /doctor /login."""

from __future__ import annotations

import json

import pytest

from deeptide.commands.results import Confirm, Copy, Open, Quit, Switch
from deeptide.protocol.errors import SessionError, UsageError
from tests.commands.conftest import Desk, Opener


async def test_plain_requests_to_the_front_end_are_values(desk: Desk) -> None:
    expected = {
        "/new": Switch("new"), "/clear": Switch("new"), "/sessions": Open("sessions"), "/resume": Open("sessions"),
        "/quit": Quit(), "/exit": Quit(), "/help": Open("help"), "/help compress": Open("help", "compact"),
        "/? /undo": Open("help", "undo"), "/login": Open("login"), "/model": Open("model"), "/effort": Open("effort"),
    }  # fmt: skip
    assert {line: await desk.type(line) for line in expected} == expected


async def test_help_for_what_does_not_exist_names_the_nearest(desk: Desk) -> None:
    with pytest.raises(UsageError, match="no command /compactt") as caught:
        await desk.type("/help compactt")
    assert "/compact" in caught.value.advice


async def test_resume_finds_by_prefix_and_knows_its_own(open_desk: Opener) -> None:
    first, second = await open_desk(), await open_desk()
    await first.say("remember the basket")
    await second.say("another")
    assert await second.type(f"/resume {first.session.id[:6]}") == Switch("resume", first.session.id)
    assert "this session" in await second.read(f"/resume {second.session.id}")
    with pytest.raises(SessionError, match="nothing-like-it"):
        await second.type("/resume nothing-like-it")


async def test_a_title_is_given_and_one_is_needed(desk: Desk) -> None:
    assert "购物篮" in await desk.read("/rename  购物篮 的 折扣 ")
    assert desk.session.title == "购物篮 的 折扣"
    with pytest.raises(UsageError) as caught:
        await desk.type("/rename")
    assert caught.value.advice == "Usage: /rename <title>"


async def test_export_writes_markdown_or_json_and_asks_before_writing_over(desk: Desk) -> None:
    await desk.say("what holds the basket?")
    folder = desk.house.workspace
    path = folder / f"deeptide-{desk.session.id}.md"
    assert str(path) in await desk.read("/export")
    text = path.read_text(encoding="utf-8")
    assert "what holds the basket?" in text and "Answer 1" in text
    question = await desk.type("/export")
    assert isinstance(question, Confirm) and str(path) in question.question
    path.write_text("mine")
    assert str(path) in await desk.read(question.line)
    assert path.read_text(encoding="utf-8") == text
    await desk.type("/export notes.json")
    whole = json.loads((folder / "notes.json").read_text(encoding="utf-8"))
    assert whole["session"] == desk.session.id and len(whole["records"]) == len(desk.session.records)
    await desk.type("/export md my talk.txt")
    assert (folder / "my talk.txt").read_text(encoding="utf-8") == text
    (folder / "sub").mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        await desk.type("/export json sub")


async def test_copy_gives_the_last_answer(desk: Desk) -> None:
    with pytest.raises(UsageError, match="no answer to copy"):
        await desk.type("/copy")
    await desk.say("one", "two")
    copied = await desk.type("/copy")
    assert isinstance(copied, Copy) and copied.text.startswith("Answer 2:")


async def test_status_and_doctor_say_where_things_stand(desk: Desk) -> None:
    await desk.say("hello")
    status = await desk.read("/status")
    for word in (
        desk.session.id,
        str(desk.house.workspace),
        "deepseek-flash, effort high",
        "| turns | 1 |",
        "idle",
    ):
        assert word in status
    doctor = await desk.read("/doctor")
    assert "All is well" in doctor and "WRONG" not in doctor and "shell checks more" in doctor


async def test_doctor_names_what_is_wrong_and_shows_no_key(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "| WRONG | key | none; /login stores one |" in await desk.read("/doctor")
    monkeypatch.setenv("DEEPSEEK_API_KEY", "sk-very-secret")
    text = await desk.read("/doctor")
    assert "environment DEEPSEEK_API_KEY" in text and "very-secret" not in text
    desk.house.store.root.parent.chmod(0o755)
    assert "others can read it" in await desk.read("/doctor")
    desk.house.store.root.parent.chmod(0o700)
