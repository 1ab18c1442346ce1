"""How the app looks, in fixed sizes and without anything that moves by itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from deeptide.emulator.emulator import Emulator
from deeptide.emulator.script import Script
from deeptide.emulator.transport import EmulatorTransport
from deeptide.model.catalog import ModelSpec
from deeptide.protocol.approvals import Approval
from deeptide.protocol.events import (
    AssistantMessage,
    Notice,
    PlanChanged,
    QueueChanged,
    Record,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnStarted,
    UserMessage,
)
from deeptide.protocol.messages import ToolResult, assistant
from deeptide.protocol.plan import Plan, PlanItem
from deeptide.session.checkpoints import Checkpoint
from deeptide.session.rewinding import TurnPoint
from deeptide.session.store import SessionInfo
from deeptide.tui.app import DeepTideApp
from deeptide.tui.palette import CONTRAST, DARK, LIGHT, MONO, Palette
from deeptide.tui.screens.ask import confirm, trust
from deeptide.tui.screens.login import Login
from deeptide.tui.screens.models import ModelPicker
from deeptide.tui.screens.points import PointPicker
from deeptide.tui.screens.sessions import SessionPicker
from deeptide.tui.screens.sheet import Sheet
from deeptide.wiring.house import House, Options

Compare = Callable[..., bool]
Act = Callable[[DeepTideApp, Pilot[Any]], Awaitable[None]]
NOW = 1_795_000_000.0

COMMAND = Approval(
    "a1", "c1", "shell", "$ pytest -q",
    preview="pytest -q && rm -rf \x1b]0;owned\x07build/\u202egpj.exe", preview_kind="command",
    rule="mode ask", reason="rm changes files", scope="shell(pytest *)",
)  # fmt: skip
DIFF = Approval(
    "a2", "c2", "edit", "edit src/上传.py",
    preview="--- a/src/上传.py\n+++ b/src/上传.py\n@@ -1,3 +1,4 @@\n import asyncio\n-RETRIES = 1\n+RETRIES = 3\n"
    "+# 三次之后放弃\n\tDELAY = 20\n",
    preview_kind="diff", rule="mode ask", reason="edits are asked in this mode", scope="edit(src/**)",
)  # fmt: skip
QUESTION = Approval(
    "a3", "c3", "ask_user", "Which database should the tests use?", kind="question",
    options=("SQLite in memory", "PostgreSQL in a container", "两者都要"),
)  # fmt: skip
PLAN = Plan(
    (
        PlanItem("Read the failing test", "completed"),
        PlanItem("找出竞争条件 in upload.py", "in_progress"),
        PlanItem("Write a fix"),
        PlanItem("Run the test 50 times"),
    )
)
TALK: list[Any] = [
    Record(2, NOW, TurnStarted(1)),
    Record(3, NOW, UserMessage("The upload test fails once in ten runs. 请找出原因。")),
    Record(
        4,
        NOW,
        AssistantMessage(assistant("I will **read** the test first.", thinking="Where?"), "tool_calls", "m"),
    ),
    Record(5, NOW, ToolStarted("c1", "read", "read tests/test_upload.py")),
    Record(6, NOW, ToolFinished(ToolResult("c1", "read", "1\timport asyncio"), "ok", 12, "42 lines")),
]


@pytest.fixture
def shot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snap_compare: Compare) -> Compare:
    """`shot(act, size=…, palette=…)`: the app after `act`, as a picture."""
    monkeypatch.setenv("HOME", str(tmp_path))
    workspace = tmp_path / "project"
    (workspace / "src").mkdir(parents=True)
    for name in ("src/composer.py", "src/complete words.py", "README.md"):
        (workspace / name).write_text("")

    def build() -> House:
        transport = EmulatorTransport(Emulator(Script.of([])))
        return House(Options(workspace=workspace, home=tmp_path / "home", transport=transport))

    def compare(act: Act, size: tuple[int, int] = (80, 24), palette: Palette = DARK) -> bool:
        app = DeepTideApp(build, workspace=workspace, palette=palette, still=True)

        async def before(pilot: Pilot[Any]) -> None:
            while not app.status.facts.model:
                await pilot.pause(0.02)
            await act(app, pilot)
            while any(worker.group == "files" and worker.is_running for worker in app.workers):
                await pilot.pause(0.02)
            await pilot.pause(0.1)
            app.back.scrollback.flush()
            await pilot.pause()

        return snap_compare(app, terminal_size=size, run_before=before)

    return compare


async def nothing(app: DeepTideApp, pilot: Pilot[Any]) -> None:
    return


def asking(*approvals: Approval) -> Act:
    async def act(app: DeepTideApp, pilot: Pilot[Any]) -> None:
        app.back.approval.show(approvals)

    return act


def pressing(*keys: str) -> Act:
    async def act(app: DeepTideApp, pilot: Pilot[Any]) -> None:
        await pilot.press(*keys)

    return act


def showing(make: Callable[[DeepTideApp], Any]) -> Act:
    async def act(app: DeepTideApp, pilot: Pilot[Any]) -> None:
        app.push_screen(make(app))

    return act


async def busy(app: DeepTideApp, pilot: Pilot[Any]) -> None:
    bridge = app.back.lobby.bridge
    assert bridge is not None
    bridge.show([*TALK, Record(7, NOW, PlanChanged(PLAN)), QueueChanged(("then lint", "最后提交", "c", "d"))])
    app.back.plan.show(PLAN, working=True)
    app.activity.work("Running shell")


async def talk(app: DeepTideApp, pilot: Pilot[Any]) -> None:
    bridge = app.back.lobby.bridge
    assert bridge is not None
    bridge.show([*TALK, ThinkingDelta("hm"), Notice("The key is kept in a file.", "info", "Send it again.")])


@pytest.mark.parametrize("cols", [60, 80, 120])
def test_an_empty_talk(shot: Compare, cols: int) -> None:
    assert shot(nothing, (cols, 24))


@pytest.mark.parametrize("cols", [60, 80, 120])
def test_a_busy_talk_with_plan_and_queue(shot: Compare, cols: int) -> None:
    assert shot(busy, (cols, 30))


def test_commands_are_offered_with_their_help(shot: Compare) -> None:
    assert shot(pressing("slash", "c"))


def test_files_are_offered(shot: Compare) -> None:
    assert shot(pressing(*"see @comp"))


def test_several_lines_of_wide_characters(shot: Compare) -> None:
    async def act(app: DeepTideApp, pilot: Pilot[Any]) -> None:
        app.composer.prompt.insert("请看一下 src 的代码\nand tell me what you think 🙂")

    assert shot(act)


@pytest.mark.parametrize("cols", [60, 80, 120])
def test_a_command_to_allow_with_its_escapes_written_out(shot: Compare, cols: int) -> None:
    assert shot(asking(COMMAND, DIFF), (cols, 26))


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (100, 30), (120, 40)], ids=lambda size: str(size[0]))
def test_a_diff_to_allow_in_a_busy_talk(shot: Compare, size: tuple[int, int]) -> None:
    async def act(app: DeepTideApp, pilot: Pilot[Any]) -> None:
        await busy(app, pilot)
        app.back.approval.show((DIFF,))
        app.activity.work("Waiting for you", waiting=True)

    assert shot(act, size)


def test_a_question_on_a_low_screen(shot: Compare) -> None:
    assert shot(asking(QUESTION), (60, 16))


def test_a_reason_for_a_denial(shot: Compare) -> None:
    async def act(app: DeepTideApp, pilot: Pilot[Any]) -> None:
        app.back.approval.grace_s = 0
        app.back.approval.show((DIFF,))
        await pilot.pause()
        await pilot.press("n", *"use two")

    assert shot(act, (80, 30))


@pytest.mark.parametrize("size", [(60, 30), (90, 44)], ids=["60", "90"])
def test_help(shot: Compare, size: tuple[int, int]) -> None:
    assert shot(pressing("f1"), size)


def listed(
    name: str, here: str, title: str, first: str, last: str, updated: float, turns: int
) -> SessionInfo:
    return SessionInfo(name, Path("/x"), here, title, first, last, "deepseek-flash", NOW, updated, turns)


def test_sessions(shot: Compare) -> None:
    def make(app: DeepTideApp) -> SessionPicker:
        here = str(app.back.lobby.house.workspace)
        infos = [
            listed("a1b2c3d4e5", here, "Fix the flaky upload test", "it fails", "again", NOW - 60, 3),
            listed("a1b2c3d4e6", here, "", "上传测试偶尔失败，请找出原因并修复", "好的", NOW - 9000, 1),
        ]
        return SessionPicker(infos, app.back.lobby.house.workspace, "a1b2c3d4e5", NOW)

    async def act(app: DeepTideApp, pilot: Pilot[Any]) -> None:
        await showing(make)(app, pilot)
        await pilot.pause()
        await pilot.press("down")

    assert shot(act, (80, 26))


def test_places_to_rewind_to(shot: Compare) -> None:
    points = [
        Checkpoint("ab12cd34", "before the migration", 3, NOW - 3000, 4),
        Checkpoint("ab12cd35", "before compaction", 5, NOW - 300, 24, True),
    ]

    async def act(app: DeepTideApp, pilot: Pilot[Any]) -> None:
        turns = [TurnPoint(1, "The upload test fails once in ten runs. 请找出原因。", NOW - 3600, 4)]
        app.push_screen(PointPicker(turns, points, TALK, NOW))
        await pilot.pause()
        await pilot.press("down", "down")

    assert shot(act)


def test_models(shot: Compare) -> None:
    def make(app: DeepTideApp) -> ModelPicker:
        models: list[ModelSpec] = list(app.back.lobby.house.models())  # type: ignore[arg-type]
        return ModelPicker(models, models[0].id, "high")

    assert shot(showing(make))


def test_a_missing_key(shot: Compare) -> None:
    assert shot(showing(lambda app: Login()))


def test_a_refused_key(shot: Compare) -> None:
    assert shot(showing(lambda app: Login("The provider refused the key: Authentication Fails")), (60, 24))


def test_trust(shot: Compare) -> None:
    assert shot(showing(lambda app: trust(Path("/srv/somewhere/项目"))))


def test_a_confirmation(shot: Compare) -> None:
    assert shot(showing(lambda app: confirm("Drop all 3 checkpoints?")))


def test_a_sheet_of_markdown(shot: Compare) -> None:
    text = "| what | tokens |\n|---|---|\n| 系统 | 1,200 |\n| talk | 30 |\n\nThe **next** request costs `$0.01`.\n"
    assert shot(showing(lambda app: Sheet("Context", text, app.palette)))


@pytest.mark.parametrize("palette", [LIGHT, CONTRAST, MONO], ids=lambda palette: palette.name)
def test_other_palettes(shot: Compare, palette: Palette) -> None:
    assert shot(talk, palette=palette)


def test_yolo_is_seen(shot: Compare) -> None:
    async def act(app: DeepTideApp, pilot: Pilot[Any]) -> None:
        app.back.lobby.session.set_mode("yolo")
        await pilot.pause(0.1)

    assert shot(act)
