"""Small screens: what is asked, where it is written and the status line are always in sight."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Static

from deeptide.protocol.approvals import Approval
from deeptide.protocol.events import PlanChanged, QueueChanged, Record
from deeptide.protocol.plan import Plan, PlanItem
from deeptide.tui.widgets.choices import Choices
from tests.tui.stage import OnStage, on_stage

DIFF = "--- a/price.py\n+++ b/price.py\n@@ -8,40 +8,40 @@\n" + "".join(f" line {n}\n" for n in range(20))
EDIT = Approval(
    "1", "c1", "edit", "edit price.py", preview=DIFF + "-old\n+new\n" + " after\n" * 20, preview_kind="diff",
    reason="edits are asked in this mode", rule="mode ask", scope="edit(**)",
)  # fmt: skip
PLAN = Plan((PlanItem("look", "completed"), PlanItem("mend", "in_progress"), PlanItem("test")))
SIZES = [(60, 16), (60, 20), (80, 24), (100, 30), (120, 40)]


def ask(stage: OnStage) -> None:
    bridge = stage.app.back.lobby.bridge
    assert bridge is not None
    bridge.show([Record(2, 0.0, PlanChanged(PLAN)), QueueChanged(("then lint", "最后提交"))])
    stage.app.back.plan.show(PLAN, working=True)
    stage.app.back.approval.grace_s = 0
    stage.app.back.approval.show((EDIT,))


def rows_of(stage: OnStage) -> list[str]:
    """What the preview shows."""
    scroll = stage.app.back.approval.query_one("#approval-scroll")
    lines = str(stage.app.back.approval.query_one("#approval-preview", Static).render()).split("\n")
    return lines[scroll.scroll_offset.y :][: scroll.region.height]


@pytest.mark.parametrize("size", SIZES)
async def test_beside_a_question_composer_and_status_stay_and_the_diff_shows_its_change(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with on_stage(tmp_path, size=size) as stage:
        ask(stage)
        for keys in ((), ("n",), ("escape",)):
            await stage.pilot.press(*keys)
            for _ in range(5):
                await stage.pilot.pause()
            app, panel = stage.app, stage.app.back.approval
            assert app.screen.max_scroll_y == 0
            assert app.status.region.bottom == size[1]
            assert panel.region.bottom <= app.activity.region.y
            assert panel.query_one(Choices).region.height == 4
            assert panel.query_one(Choices).region.bottom <= panel.region.bottom
            assert "-old" in rows_of(stage)
            assert "+new" in rows_of(stage)


async def test_what_stands_before_the_change_can_be_read(tmp_path: Path) -> None:
    async with on_stage(tmp_path, size=(60, 20)) as stage:
        ask(stage)
        await stage.pilot.pause()
        await stage.pilot.press("pageup", "pageup", "pageup", "pageup", "pageup", "pageup")
        await stage.pilot.pause()
        assert rows_of(stage)[0].startswith("--- a/price.py")
