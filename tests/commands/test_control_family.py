"""/mode /model /effort /plan /queue /steer /permissions, and /checkpoint /rewind /undo /redo."""

from __future__ import annotations

import re
from typing import Any

import pytest

from deeptide.commands.results import Confirm, Nothing, Open
from deeptide.emulator.script import Call, Fault, Say, Script
from deeptide.protocol.errors import UsageError
from deeptide.protocol.events import Steered, UserMessage
from tests.commands.conftest import Desk, Opener, talker


async def test_modes_are_shown_set_and_yolo_is_confirmed(desk: Desk) -> None:
    text = await desk.read("/mode")
    assert "**ask** (now)" in text and all(name in text for name in ("plan", "auto-edit", "yolo"))
    assert (await desk.read("/mode PLAN")).startswith("The agent looks")
    assert (await desk.read("/mode plan")).startswith("It is plan already: the agent looks")
    assert desk.session.fold.mode == "plan"
    question = await desk.type("/mode yolo")
    assert isinstance(question, Confirm) and desk.session.fold.mode == "plan"
    assert (await desk.read(question.line)).startswith("Everything runs")
    assert desk.session.fold.mode == "yolo"
    with pytest.raises(UsageError, match="no mode 'fast'") as caught:
        await desk.type("/mode fast")
    assert "auto-edit" in caught.value.advice


async def test_models_switch_with_a_price_and_a_typing_error_is_asked_about(desk: Desk) -> None:
    assert "deepseek-v4-pro" in await desk.read("/model pro")
    assert desk.session.fold.model == "deepseek-v4-pro"
    question = await desk.type("/model deepseek-flsh")
    assert isinstance(question, Confirm) and "deepseek-flash" in question.question
    assert desk.session.fold.model == "deepseek-v4-pro"
    assert "not in the catalogue" in await desk.read(question.line)
    assert desk.session.fold.model == "deepseek-flsh"
    strange = await desk.type("/model foo")
    assert isinstance(strange, Confirm) and "foo is not in the catalogue" in strange.question
    assert desk.session.fold.model == "deepseek-flsh"
    with pytest.raises(UsageError, match="retired"):
        await desk.type("/model deepseek-chat")


async def test_effort_is_one_of_four_that_the_model_has(open_desk: Opener) -> None:
    desk = await open_desk()
    assert (await desk.read("/effort MAX")).startswith("It thinks as long as it can")
    assert (await desk.read("/effort max")).startswith("It is max already")
    assert "without thinking" in await desk.read("/effort off")
    assert desk.session.fold.effort == "off"
    with pytest.raises(UsageError, match="no effort 'huge'"):
        await desk.type("/effort huge")


async def test_the_plan_is_shown(open_desk: Opener) -> None:
    items = [{"text": "look", "status": "completed"}, {"text": "修改", "status": "in_progress"}]
    desk = await open_desk(Script.of([Say("", "t", (Call("todo", {"items": items}),)), Say("done", "t")]))
    assert "no plan" in await desk.read("/plan")
    await desk.say("go")
    text = await desk.read("/plan")
    assert "1 of 2 done" in text and "[x] look" in text and "[~] 修改" in text


async def test_what_is_sent_while_busy_waits_and_can_be_taken_back(open_desk: Opener) -> None:
    desk = await open_desk(Script.of([Say("x", "t", fault=Fault("stall", at=1))], rest=talker))
    assert "Nothing waits" in await desk.read("/queue") and "Nothing waits" in await desk.read("/queue drop")
    for text in ("one", "two", "three", "four"):
        desk.session.submit(text)
    assert (await desk.read("/queue")).split("\n") == ["1. two", "2. three", "3. four"]
    assert await desk.read("/queue drop") == "Taken back: four"
    assert await desk.read("/queue clear") == "2 messages taken back."
    with pytest.raises(UsageError) as caught:
        await desk.type("/queue push")
    assert caught.value.advice == "Usage: /queue [drop|clear]"
    await desk.session.cancel()


async def test_steering_reaches_the_running_turn_and_starts_one_when_idle(open_desk: Opener) -> None:
    turns = [Say("", "t", (Call("list"),), delay=0.01), Say("then", "t"), Say("again", "t")]
    desk = await open_desk(Script.of(turns))
    desk.session.submit("go")
    assert await desk.type("/steer look at 购物篮 too") == Nothing()
    await desk.session.wait_idle()
    said: list[Any] = [r.event for r in desk.session.records if isinstance(r.event, Steered)]
    assert [event.text for event in said] == ["look at 购物篮 too"]
    await desk.type("/steer hello")
    await desk.session.wait_idle()
    assert any(isinstance(r.event, UserMessage) and r.event.text == "hello" for r in desk.session.records)
    with pytest.raises(UsageError, match="what to tell"):
        await desk.type("/steer")


async def test_permissions_show_the_rules_in_force(open_desk: Opener) -> None:
    desk = await open_desk(**{"permissions.deny": ("run rm *",)})
    text = await desk.read("/permissions")
    assert "Mode **ask**" in text and "- `run rm *`" in text and "- none" in text


# ---- going back ------------------------------------------------------------------------------------------


async def test_checkpoints_are_saved_listed_dropped_and_cleared_after_a_question(desk: Desk) -> None:
    assert "no checkpoints" in await desk.read("/checkpoints") and "no checkpoints" in await desk.read(
        "/rewind"
    )
    said = await desk.read("/checkpoint reset db before migration")
    assert "“reset db before migration”" in said and "(1 in all)" in said
    await desk.type("/snap")
    await desk.type("/snapshot save list")
    text = await desk.read("/checkpoint list")
    assert text == await desk.read("/checkpoints")
    assert [row.split(" | ")[2] for row in text.split("\n")[2:]] == ["reset db before migration", "", "list"]
    assert "dropped; 2 left" in await desk.read("/checkpoint drop 2")
    question = await desk.type("/checkpoint clear")
    assert isinstance(question, Confirm) and question.question == "Drop all 2 checkpoints?"
    assert len(desk.session.checkpoints.list()) == 2
    assert "2 checkpoints dropped" in await desk.read(question.line)
    assert "no checkpoints" in await desk.read("/checkpoint clear")
    assert "at most 64" in await desk.read("/checkpoint help")
    with pytest.raises(UsageError, match="needs to know which"):
        await desk.type("/checkpoint drop")


async def test_rewind_undo_and_redo_tell_what_the_next_request_costs(desk: Desk) -> None:
    await desk.say("one")
    await desk.type("/checkpoint after one")
    view = desk.session.fold.messages()
    await desk.say("two")
    assert await desk.type("/rewind") == Open("rewind")
    said = await desk.read('/rewind "after one"')
    assert "Rewound to after one" in said and re.search(r"next request reads about [\d,]+ tokens: \$", said)
    assert desk.session.fold.messages() == view
    assert "taken back" in await desk.read("/redo")
    assert len(desk.session.fold.messages()) > len(view)
    assert "You had said: “two”" in await desk.read("/undo")
    assert desk.session.fold.messages() == view
    with pytest.raises(UsageError, match="No checkpoint is 'nothing'"):
        await desk.type("/rewind nothing")


async def test_the_help_of_going_back_says_that_files_stay(desk: Desk) -> None:
    for name in ("rewind", "undo"):
        command = desk.house.commands.find(name)
        assert command is not None and "files stay" in command.summary and "files stay" in command.detail
    await desk.type("/checkpoint")
    question = await desk.type("/checkpoint clear")
    assert isinstance(question, Confirm) and question.question == "Drop the one checkpoint?"
    assert await desk.read(question.line) == "1 checkpoint dropped."


async def test_going_back_is_refused_while_the_agent_works(open_desk: Opener) -> None:
    desk = await open_desk(Script.of([Say("x", "t", fault=Fault("stall", at=1))]))
    desk.session.submit("go")
    for line in ("/rewind", "/undo", "/redo", "/compact", "/compact undo", "/cycle now"):
        with pytest.raises(UsageError) as caught:
            await desk.type(line)
        assert "Esc" in caught.value.advice
    await desk.session.cancel()
