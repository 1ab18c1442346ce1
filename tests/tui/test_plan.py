"""The pinned plan: it belongs to a turn, and goes or grows dim when that is over."""

from __future__ import annotations

from pathlib import Path

from deeptide.emulator.script import Call, Say
from deeptide.tui.ports import Start
from tests.tui.stage import OnStage, on_stage


def todo(*states: str) -> Call:
    return Call("todo", {"items": [{"text": f"step {n}", "status": state} for n, state in enumerate(states)]})


def pinned(stage: OnStage) -> str:
    return str(stage.app.back.plan.render()) if stage.app.back.plan.display else ""


async def test_an_unfinished_plan_stays_as_an_earlier_one_and_goes_with_its_turn(tmp_path: Path) -> None:
    says = [Say(calls=(todo("completed", "pending"),)), Say("half"), Say("other")]
    async with on_stage(tmp_path, says) as stage:
        await stage.say("go")
        await stage.idle()
        assert "Plan 1/2" in pinned(stage)
        assert "earlier" not in pinned(stage)
        await stage.say("something else")
        await stage.idle()
        assert "of an earlier turn" in pinned(stage)
        await stage.say("/undo")
        await stage.until(lambda: stage.answers == ["half"])
        await stage.pilot.press(*"/undo", "enter")
        await stage.until(lambda: not stage.answers)
        await stage.until(lambda: not pinned(stage))


async def test_a_finished_plan_is_gone_in_the_next_turn_and_after_a_restart(tmp_path: Path) -> None:
    slow = Say("word " * 200, delay=0.02)
    async with on_stage(tmp_path, [Say(calls=(todo("completed"),)), Say("done"), slow]) as stage:
        await stage.say("go")
        await stage.idle()
        assert not pinned(stage)
        await stage.say("more")
        await stage.until(lambda: len(stage.answers) == 2)
        assert not pinned(stage)
    async with on_stage(tmp_path, start=Start("resume")) as stage:
        assert not pinned(stage)
