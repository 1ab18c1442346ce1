"""What waits and what can be interrupted: steers, queued words, the user's own commands."""

from __future__ import annotations

from pathlib import Path

from deeptide.emulator.script import Call, Say
from tests.tui.stage import OnStage, on_stage

SLOW = Say("word " * 400, delay=0.02)


def shown(stage: OnStage) -> str:
    return str(stage.app.back.queue.render())


async def test_a_command_of_the_users_own_is_seen_running_and_escape_ends_it(tmp_path: Path) -> None:
    for key in ("escape", "ctrl+c"):
        async with on_stage(tmp_path) as stage:
            await stage.say("!sleep 600")
            await stage.until(lambda: "sleep 600" in stage.app.activity.label)
            await stage.pilot.press(key)
            await stage.until(lambda: stage.session.shells == 0)
            await stage.until(lambda: not stage.app.activity.label)
            assert stage.app.return_value is None


async def test_words_for_the_running_turn_and_words_for_the_next_stand_apart(tmp_path: Path) -> None:
    call = Call("shell", {"command": "until [ -e go ]; do sleep 0.05; done"})
    async with on_stage(
        tmp_path, [Say(calls=(call,)), Say("ok"), Say("linted")], flags={"permissions.mode": "yolo"}
    ) as stage:
        await stage.say("go")
        await stage.until(lambda: stage.app.activity.label.startswith("Running"))
        await stage.say("be quick", "alt+enter")
        await stage.say("then lint")
        await stage.until(lambda: bool(stage.app.back.queue.items and stage.app.back.queue.steers))
        lines = shown(stage).split("\n")
        assert lines[0] == "┊ be quick"
        assert lines[1] == "└ goes into this turn before the next request"
        assert lines[2] == "┊ then lint"
        assert lines[3].startswith("└ sent when this turn ends")
        (stage.workspace / "go").touch()
        await stage.until(lambda: stage.answers == ["ok", "linted"])
        assert not stage.app.back.queue.display


async def test_what_waits_after_an_interruption_says_so_and_enter_sends_it(tmp_path: Path) -> None:
    async with on_stage(tmp_path, [SLOW, Say("first done"), Say("second done")]) as stage:
        await stage.say("go")
        await stage.until(lambda: bool(stage.answers))
        await stage.say("first")
        await stage.say("second")
        await stage.until(lambda: len(stage.app.back.queue.items) == 2)
        await stage.pilot.press("escape")
        await stage.idle()
        assert stage.session.queue == ("first", "second")
        await stage.until(lambda: "waiting · Enter sends" in shown(stage))
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.answers[-2:] == ["first done", "second done"])
