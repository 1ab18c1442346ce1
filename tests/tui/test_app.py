"""The whole app over a real session: what a key or a sent line leads to."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from threading import Event

from textual.events import Key
from textual.widgets import Input, Static

from deeptide.emulator.script import Call, Say
from deeptide.protocol.errors import ConfigError
from deeptide.transcript.blocks import UserBlock
from deeptide.tui.ports import Start
from deeptide.tui.screens.ask import Ask
from deeptide.tui.screens.help import Help
from deeptide.tui.screens.login import Login
from deeptide.tui.screens.models import ModelPicker
from deeptide.tui.screens.points import PointPicker
from deeptide.tui.screens.sessions import SessionPicker
from deeptide.tui.screens.sheet import Sheet
from deeptide.tui.widgets.rows import Rows
from tests.tui.stage import OnStage, on_stage

SLOW = Say("word " * 400, delay=0.02)
TOUCH = Say(calls=(Call("shell", {"command": "touch made && echo 完成"}),))


async def asked(stage: OnStage) -> None:
    await stage.until(lambda: stage.app.back.approval.current is not None)
    await stage.until(lambda: not stage.app.back.approval.in_grace)


async def test_a_message_is_answered_and_its_cost_is_shown(tmp_path: Path) -> None:
    async with on_stage(tmp_path, [Say("你好! **Tide** is here.", thinking="greet")]) as stage:
        assert stage.app.welcome.display
        await stage.say("hello")
        await stage.idle()
        assert stage.answers == ["你好! **Tide** is here."]
        assert not stage.app.welcome.display
        assert stage.app.status.facts.cost
        assert stage.app.status.facts.percent is not None


async def test_what_is_typed_before_the_session_is_open_is_said_in_order(tmp_path: Path) -> None:
    gate = Event()
    says = [Say("one"), Say("two")]
    async with on_stage(tmp_path, says, ready=False, before=lambda: gate.wait(10) and None) as stage:
        await stage.say("first")
        await stage.say("second")
        assert stage.app.back.lobby.bridge is None
        gate.set()
        await stage.until(lambda: len(stage.answers) == 2)
        users = [block.text for block in stage.blocks if isinstance(block, UserBlock)]
        assert users == ["first", "second"]


async def test_a_message_while_busy_is_queued_and_up_takes_it_back(tmp_path: Path) -> None:
    async with on_stage(tmp_path, [SLOW]) as stage:
        await stage.say("go")
        await stage.until(lambda: stage.session.busy)
        await stage.say("then this")
        await stage.until(lambda: stage.app.back.queue.items == ("then this",))
        assert stage.app.status.facts.queued == 1
        await stage.pilot.press("up")
        await stage.until(lambda: stage.app.composer.text == "then this")
        assert stage.session.queue == ()


async def test_alt_enter_goes_into_the_running_turn(tmp_path: Path) -> None:
    async with on_stage(
        tmp_path, [Say("looking", calls=(Call("list", {"path": "."}),), delay=0.05), Say("ok")]
    ) as stage:
        await stage.say("go")
        await stage.until(lambda: bool(stage.answers))
        await stage.say("and be quick", "alt+enter")
        await stage.idle()
        steered = [block.text for block in stage.blocks if isinstance(block, UserBlock) and block.steered]
        assert steered == ["and be quick"]
        assert "and be quick" in stage.emulator.requests[-1].body.decode()


async def test_escape_interrupts_a_turn(tmp_path: Path) -> None:
    async with on_stage(tmp_path, [SLOW]) as stage:
        await stage.say("go")
        await stage.until(lambda: bool(stage.answers))
        await stage.pilot.press("escape")
        await stage.idle()
        assert not stage.app.activity.beating


async def test_escape_twice_when_idle_opens_the_rewind_picker_and_once_does_not(tmp_path: Path) -> None:
    async with on_stage(tmp_path, [Say("ok")]) as stage:
        await stage.say("go")
        await stage.idle()
        await stage.pilot.press("escape")
        assert not isinstance(stage.app.screen, PointPicker)
        await stage.pilot.press("escape")
        await stage.until(lambda: isinstance(stage.app.screen, PointPicker))
        await stage.pilot.press("enter")
        await stage.until(lambda: not any(isinstance(block, UserBlock) for block in stage.blocks))
        await stage.until(lambda: stage.app.composer.text == "go")


async def test_every_turn_can_be_gone_back_to_and_its_words_are_offered_again(tmp_path: Path) -> None:
    async with on_stage(tmp_path, [Say("one"), Say("two"), Say("three")]) as stage:
        for words in ("first", "second", "third"):
            await stage.say(words)
            await stage.idle()
        await stage.pilot.press("escape", "escape")
        await stage.until(lambda: isinstance(stage.app.screen, PointPicker))
        labels = [row.label for row in stage.app.screen.query_one(Rows).rows]
        assert labels == ["third", "second", "first"]
        await stage.pilot.press("down", "enter")
        await stage.until(lambda: stage.app.composer.text == "second")
        assert stage.answers == ["one"]


async def test_undo_offers_the_words_again_unless_something_is_written(tmp_path: Path) -> None:
    async with on_stage(tmp_path, [Say("one"), Say("two")]) as stage:
        for words in ("first", "second"):
            await stage.say(words)
            await stage.idle()
        await stage.say("/undo")
        await stage.until(lambda: stage.app.composer.text == "second")
        await stage.pilot.press("escape", "escape")
        await stage.say("/undo")
        stage.app.composer.put("something else")
        await stage.until(lambda: not stage.answers)
        assert stage.app.composer.text == "something else"


async def test_a_remark_that_holds_no_more_goes_away(tmp_path: Path) -> None:
    async with on_stage(tmp_path, [SLOW]) as stage:
        await stage.say("go")
        await stage.until(lambda: bool(stage.answers))
        await stage.pilot.press("escape")
        await stage.idle()
        assert not stage.app.activity.hint
        stage.app.composer.prompt.insert("half a thought")
        await stage.pilot.press("ctrl+c")
        assert "again to quit" in stage.app.activity.hint
        await stage.pilot.press("a")
        assert not stage.app.activity.hint
        await stage.pilot.press("ctrl+c")
        assert stage.app.return_value is None


async def test_escape_twice_clears_what_is_written_and_up_has_it(tmp_path: Path) -> None:
    async with on_stage(tmp_path) as stage:
        stage.app.composer.prompt.insert("half a thought")
        await stage.pilot.press("escape")
        assert "again to clear" in stage.app.activity.hint
        assert stage.app.composer.text == "half a thought"
        await stage.pilot.press("escape")
        assert stage.app.composer.empty
        assert not isinstance(stage.app.screen, PointPicker)
        await stage.pilot.press("up")
        assert stage.app.composer.text == "half a thought"


async def test_ctrl_c_clears_first_and_quits_when_pressed_twice(tmp_path: Path) -> None:
    async with on_stage(tmp_path) as stage:
        stage.app.composer.prompt.insert("half a thought")
        await stage.pilot.press("ctrl+c")
        assert stage.app.composer.empty
        assert "again to quit" in stage.app.activity.hint
        await stage.pilot.press("ctrl+c")
        await stage.until(lambda: stage.app.return_value == 0)


async def test_shift_tab_goes_round_the_modes_and_never_into_yolo(tmp_path: Path) -> None:
    async with on_stage(tmp_path) as stage:
        seen = []
        for _ in range(4):
            await stage.pilot.press("shift+tab")
            await stage.pilot.pause(0.1)
            seen.append(stage.session.fold.mode)
        assert seen == ["auto-edit", "plan", "ask", "auto-edit"]
        assert stage.app.composer.has_class("-auto-edit")


async def test_an_allowed_command_runs_and_the_focus_comes_back(tmp_path: Path) -> None:
    async with on_stage(tmp_path, [TOUCH, Say("made it")]) as stage:
        await stage.say("make it")
        await asked(stage)
        await stage.pilot.press("y")
        await stage.idle()
        assert (stage.workspace / "made").exists()
        assert "完成" in stage.tools[0].output
        assert stage.app.composer.prompt.has_focus


async def test_panels_that_come_and_go_do_not_stop_the_transcript_from_following(tmp_path: Path) -> None:
    long = Say("line\n\n" * 40, calls=TOUCH.calls)
    async with on_stage(tmp_path, [long, Say("the end")]) as stage:
        await stage.say("go")
        await asked(stage)
        await stage.pilot.press("y")
        await stage.idle()
        await stage.until(lambda: "the end" in stage.app.back.scrollback.visible_text())
        assert stage.app.back.scrollback.at_end


async def test_a_reason_typed_with_a_denial_reaches_the_model(tmp_path: Path) -> None:
    async with on_stage(tmp_path, [TOUCH, Say("understood")]) as stage:
        await stage.say("make it")
        await asked(stage)
        await stage.pilot.press("n", *"not now", "enter")
        await stage.idle()
        assert not (stage.workspace / "made").exists()
        assert "not now" in stage.emulator.requests[-1].body.decode()


async def test_letters_typed_when_a_question_appears_stay_in_the_composer(tmp_path: Path) -> None:
    async with on_stage(tmp_path, [TOUCH, Say("ok")]) as stage:
        stage.app.back.approval.grace_s = 30.0
        await stage.say("make it")
        stage.app.composer.prompt.insert("I was sa")
        await stage.until(lambda: stage.app.back.approval.current is not None)
        await stage.pilot.press("y")
        await stage.until(lambda: stage.app.composer.text == "I was say")
        assert stage.app.back.approval.current is not None


async def test_a_burst_of_typing_over_a_question_is_written_and_enter_sends_it(tmp_path: Path) -> None:
    async with on_stage(tmp_path, [TOUCH, Say("ok"), Say("heard")]) as stage:
        stage.app.back.approval.grace_s = 30.0
        await stage.say("make it")
        await stage.until(lambda: stage.app.back.approval.current is not None)
        await stage.pilot.press(*"y" * 25)
        await stage.until(lambda: stage.app.composer.text == "y" * 25)
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.session.queue == ("y" * 25,))
        assert stage.app.back.approval.current is not None
        stage.app.back.approval.grace_s = 0.0
        await stage.pilot.press("y")
        await stage.until(lambda: len(stage.answers) == 2)


async def test_while_an_allowed_command_runs_it_is_named(tmp_path: Path) -> None:
    wait = Say(calls=(Call("shell", {"command": "until [ -e go ]; do sleep 0.05; done; touch made"}),))
    async with on_stage(tmp_path, [wait, Say("ok")]) as stage:
        await stage.say("make it")
        await asked(stage)
        await stage.pilot.press("y")
        await stage.until(lambda: stage.app.activity.label.startswith("Running $ until"))
        (stage.workspace / "go").touch()
        await stage.idle()


async def test_an_unknown_command_comes_back_with_a_reason(tmp_path: Path) -> None:
    async with on_stage(tmp_path) as stage:
        await stage.say("/sessoins now", "enter")
        await stage.until(lambda: bool(stage.notes))
        assert "There is no command /sessoins" in stage.notes[-1]
        assert stage.app.composer.text == "/sessoins now"
        await stage.pilot.press(*"/cost", "enter")
        await stage.until(lambda: isinstance(stage.app.screen, Sheet))


async def test_a_wrong_command_can_be_mended_and_ctrl_c_still_clears_it(tmp_path: Path) -> None:
    async with on_stage(tmp_path) as stage:
        await stage.say("/sessoins", "enter")
        await stage.until(lambda: stage.app.composer.text == "/sessoins")
        await stage.pilot.press("end", "backspace")
        assert stage.app.composer.text == "/sessoin"
        await stage.say("/nothing", "ctrl+c")
        assert stage.app.composer.empty


async def test_a_path_at_the_start_is_words_not_a_command(tmp_path: Path) -> None:
    async with on_stage(tmp_path, [Say("ok")]) as stage:
        await stage.say("/usr/bin/env is missing")
        await stage.idle()
        assert stage.answers == ["ok"]


async def test_commands_open_their_screens_and_escape_leaves_them(tmp_path: Path) -> None:
    async with on_stage(tmp_path) as stage:
        for line, screen in (
            ("/help", Help),
            ("/sessions", SessionPicker),
            ("/model", ModelPicker),
            ("/cost", Sheet),
        ):
            await stage.say(line)
            await stage.until(lambda screen=screen: isinstance(stage.app.screen, screen))
            await stage.pilot.press("escape")
            await stage.until(lambda: len(stage.app.screen_stack) == 1)


async def test_a_shell_line_of_the_user_runs_without_a_question(tmp_path: Path) -> None:
    async with on_stage(tmp_path) as stage:
        await stage.say("!echo mine > mine.txt; cat mine.txt")
        await stage.until(lambda: any("mine" in note for note in stage.notes))
        assert (stage.workspace / "mine.txt").read_text() == "mine\n"


async def test_yolo_needs_a_yes(tmp_path: Path) -> None:
    async with on_stage(tmp_path) as stage:
        await stage.say("/mode yolo")
        await stage.until(lambda: isinstance(stage.app.screen, Ask))
        await stage.pilot.press("enter")
        await stage.until(lambda: len(stage.app.screen_stack) == 1)
        assert stage.session.fold.mode == "ask"
        await stage.say("/mode yolo")
        await stage.until(lambda: isinstance(stage.app.screen, Ask))
        await stage.pilot.press("y")
        await stage.until(lambda: stage.session.fold.mode == "yolo")


async def test_a_new_session_shows_an_empty_page_and_the_old_one_can_be_resumed(tmp_path: Path) -> None:
    async with on_stage(tmp_path, [Say("old answer")]) as stage:
        await stage.say("old question")
        await stage.idle()
        old = stage.session.id
        await stage.say("/new")
        await stage.until(lambda: stage.session.id != old)
        await stage.until(lambda: stage.app.welcome.display)
        await stage.say(f"/resume {old}")
        await stage.until(lambda: stage.session.id == old)
        await stage.until(lambda: stage.answers == ["old answer"])


async def test_a_folder_with_instructions_asks_for_trust_once(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "AGENTS.md").write_text("Always answer in verse.\n")
    async with on_stage(tmp_path, [Say("ok")], ready=False) as stage:
        await stage.until(lambda: isinstance(stage.app.screen, Ask))
        await stage.pilot.press("y")
        await stage.until(lambda: bool(stage.app.status.facts.model))
        assert "Always answer in verse." in stage.session.fold.system
    async with on_stage(tmp_path) as stage:
        assert len(stage.app.screen_stack) == 1


async def test_without_trust_instructions_stay_unread(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "AGENTS.md").write_text("Always answer in verse.\n")
    async with on_stage(tmp_path, ready=False) as stage:
        await stage.until(lambda: isinstance(stage.app.screen, Ask))
        await stage.pilot.press("n")
        await stage.until(lambda: bool(stage.app.status.facts.model))
        assert "verse" not in stage.session.fold.system


async def test_a_missing_key_is_asked_for_and_kept_privately(tmp_path: Path) -> None:
    async with on_stage(tmp_path, ready=False, transport=None) as stage:
        await stage.until(lambda: isinstance(stage.app.screen, Login) and bool(stage.app.screen.query(Input)))
        stage.app.screen.query_one(Input).value = "sk-0123"
        await stage.pilot.press("enter")
        await stage.until(lambda: bool(stage.app.status.facts.model))
        files = [
            path
            for path in (tmp_path / "home").rglob("*")
            if path.is_file() and b"sk-0123" in path.read_bytes()
        ]
        assert len(files) == 1
        assert stat.S_IMODE(files[0].stat().st_mode) == 0o600


async def test_what_cannot_be_a_key_is_not_kept_and_the_screen_says_why_and_stays(tmp_path: Path) -> None:
    async with on_stage(tmp_path, ready=False, transport=None) as stage:
        await stage.until(lambda: isinstance(stage.app.screen, Login) and bool(stage.app.screen.query(Input)))

        async def complaint(key: str) -> str:
            stage.app.screen.query_one(Input).value = key
            await stage.pilot.press("enter")
            await stage.pilot.pause(0.1)
            return str(stage.app.screen.query_one(".complaint", Static).render())

        assert "one word" in await complaint("fix the failing test")
        assert "begin with sk-" in await complaint("refactor")
        assert "at least" in await complaint("sk-1")
        assert not list((tmp_path / "home").rglob("auth*"))
        assert "begin with sk-" in await complaint("another-provider")
        await stage.pilot.press("enter")
        await stage.until(lambda: len(stage.app.screen_stack) == 1)


async def test_a_family_of_emoji_stays_together(tmp_path: Path) -> None:
    family = "👨\u200d👩\u200d👧 ❤\ufe0f"
    async with on_stage(tmp_path, [Say(family)]) as stage:
        for letter in family:
            stage.app.composer.prompt.post_message(Key(letter, letter))
            await stage.pilot.pause()
        await stage.pilot.press("enter")
        await stage.idle()
        assert stage.answers == [family]
        assert family in stage.app.back.scrollback.visible_text()
        said = stage.emulator.requests[0].json["messages"][-1]["content"]
        assert said.endswith(family)


async def test_a_refused_key_opens_the_same_screen_with_the_reason(tmp_path: Path) -> None:
    async with on_stage(tmp_path, [Say("ok")], key="sk-right") as stage:
        await stage.say("hello")
        await stage.until(lambda: isinstance(stage.app.screen, Login))
        await stage.pilot.press("escape")
        await stage.until(lambda: len(stage.app.screen_stack) == 1)


async def test_a_prompt_given_at_the_start_is_said(tmp_path: Path) -> None:
    async with on_stage(tmp_path, [Say("done")], start=Start("new", "", "do it")) as stage:
        await stage.until(lambda: stage.answers == ["done"])


async def test_a_session_that_cannot_be_opened_ends_the_app_with_its_error(tmp_path: Path) -> None:
    async with on_stage(tmp_path, start=Start("resume", "ffffff"), ready=False) as stage:
        await stage.until(lambda: stage.app.failure is not None)
        assert stage.app.return_code == stage.app.failure.exit_code  # type: ignore[union-attr]


async def test_settings_that_cannot_be_read_end_the_app_with_their_error(tmp_path: Path) -> None:
    def broken() -> None:
        raise ConfigError("The file is wrong.", "Mend it.")

    async with on_stage(tmp_path, ready=False, before=broken) as stage:
        await stage.until(lambda: stage.app.failure is not None)
        assert stage.app.return_code == 2


async def test_a_burst_is_drawn_in_few_frames_and_nothing_of_it_is_lost(tmp_path: Path) -> None:
    text = "".join(f"token{number} " for number in range(3000))
    async with on_stage(tmp_path, [Say(text)]) as stage:
        frames = 0
        apply = stage.app.back.scrollback.apply

        def counted(changes: object) -> None:
            nonlocal frames
            frames += 1
            apply(changes)  # type: ignore[arg-type]

        stage.app.back.scrollback.apply = counted  # type: ignore[method-assign,assignment]
        await stage.say("go")
        await stage.idle()
        assert stage.answers == [text.strip()] or stage.answers == [text]
        assert frames < 600


async def test_nothing_beats_while_idle(tmp_path: Path) -> None:
    async with on_stage(tmp_path, [Say("ok")]) as stage:
        await stage.say("go")
        await stage.idle()
        stage.app.activity.tell("")
        await stage.pilot.pause()
        assert not stage.app.activity.beating


def test_nothing_slow_is_imported_before_the_first_paint() -> None:
    code = (
        "import sys, asyncio\n"
        "from pathlib import Path\n"
        "from deeptide.tui.app import DeepTideApp\n"
        "import deeptide.tui.run\n"
        "seen = []\n"
        "class Probe(DeepTideApp):\n"
        "    def on_ready(self, event):\n"
        "        event.prevent_default()\n"
        "        seen.extend(sys.modules)\n"
        "        self.exit(0)\n"
        "Probe(lambda: None, workspace=Path('.')).run(headless=True)\n"
        "slow = {'openai', 'httpx', 'numpy', 'rank_bm25', 'pygments', 'markdown_it', 'tree_sitter_bash',\n"
        "        'deeptide.session.session', 'deeptide.agent.loop', 'deeptide.wiring.house'}\n"
        "print(sorted(slow & set(seen)))\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environ, check=True
    )
    assert done.stdout.strip() == "[]"
