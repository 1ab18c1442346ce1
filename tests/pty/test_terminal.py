"""What only a terminal shows: bytes on the wire, cell widths, the real cursor, and the state left behind."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest
from rich.cells import cell_len

from deeptide.emulator.script import Call, Say, Script
from tests.pty.program import Program, column_of, running

EVIL = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\u202etxt"
OWNED = re.compile(rb"\x1b\]\d+;owned|\xe2\x80\xae|\x1b\[2J\x1b\[31mred")
RESTORED = (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?2004l")
FRAME_END = re.compile(rb"\x1b\[\d+;\d+H$")
ANSWER = "潮汐 is ready 🙂, 修好了。"


def say(program: Program, text: str) -> None:
    program.type(text)
    program.wait(text[-12:])
    program.type("\r")


def test_an_answer_appears_and_wide_characters_keep_every_column(tmp_path: Path) -> None:
    for cols in (60, 80, 120):
        with running(Script.of([Say(ANSWER)]), tmp_path, cols=cols) as program:
            say(program, "你好，世界")
            program.wait("修好了")
            program.settle()
            assert all(cell_len(line) <= cols for line in program.lines)
            frame = [line for line in program.lines if line.strip().startswith(("╭", "│", "╰"))]
            assert len(frame) >= 3
            assert len({cell_len(line) for line in frame}) == 1


def test_the_real_cursor_stands_at_the_caret_also_while_an_answer_streams(tmp_path: Path) -> None:
    slow = Say("word " * 400, delay=0.01)
    with running(Script.of([slow]), tmp_path) as program:
        say(program, "go")
        program.wait("word word")
        program.type("再来 once")
        program.wait("再来 once")
        looked = 0
        while looked < 10:
            before = program.raw
            program.read(0.3)
            assert program.raw != before, "nothing streams any more"
            if not FRAME_END.search(program.raw[-12:]):
                continue
            looked += 1
            row = program.row_of("再来 once")
            column = column_of(program.lines[row], "再来 once") + cell_len("再来 once")
            assert program.cursor == (column, row)


def test_ctrl_c_twice_quits_and_gives_the_terminal_back(tmp_path: Path) -> None:
    with running(Script.of([]), tmp_path) as program:
        program.type("\x03")
        program.wait("Ctrl+C again to quit")
        program.type("\x03")
        assert program.end() == 0
        for sequence in RESTORED:
            assert sequence in program.raw[-2000:]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_gives_the_terminal_back(tmp_path: Path, number: int) -> None:
    with running(Script.of([]), tmp_path) as program:
        program.signal(number)
        assert program.end() == 128 + number
        for sequence in RESTORED:
            assert sequence in program.raw[-2000:]


def test_hostile_words_of_the_model_do_not_act(tmp_path: Path) -> None:
    with running(Script.of([Say(f"before {EVIL} after", thinking=EVIL)]), tmp_path) as program:
        say(program, "go")
        program.wait("after")
        program.settle()
        assert not OWNED.search(program.raw)


def test_an_approval_writes_out_what_a_command_would_hide(tmp_path: Path) -> None:
    call = Call("shell", {"command": f"touch x; echo '{EVIL}'"})
    with running(Script.of([Say(calls=(call,)), Say("done")]), tmp_path, cols=120) as program:
        say(program, "go")
        program.wait("\\x1b]0;owned\\x07")
        program.wait("\\u202e")
        assert not OWNED.search(program.raw)


def test_hostile_tool_output_and_file_names_do_not_act(tmp_path: Path) -> None:
    workspace = tmp_path / "project"
    workspace.mkdir()
    (workspace / "evil.txt").write_text(f"file says {EVIL} end of file\n")
    (workspace / "\x1b]0;owned\x07name").write_text("")
    calls = (Call("read", {"path": "evil.txt"}), Call("list", {"path": "."}))
    with running(Script.of([Say(calls=calls), Say("all read")]), tmp_path) as program:
        say(program, "go")
        program.wait("all read")
        program.type("\x0f")
        program.settle()
        program.type("@name")
        program.settle()
        assert not OWNED.search(program.raw)


def test_a_resized_window_is_filled_again(tmp_path: Path) -> None:
    with running(Script.of([Say(ANSWER)]), tmp_path, cols=120, rows=30) as program:
        say(program, "go")
        program.wait("修好了")
        program.resize(60, 20)
        program.wait(lambda: "╭" in program.text and max(cell_len(line) for line in program.lines) <= 60)
        program.settle()
        assert "修好了" in program.text
        assert program.lines[-1].strip().startswith("ask")


def test_an_inherited_size_does_not_win_over_the_terminal(tmp_path: Path) -> None:
    env = {"COLUMNS": "40", "LINES": "12"}
    with running(Script.of([Say(ANSWER)]), tmp_path, cols=100, rows=30, env=env) as program:
        program.wait(lambda: program.lines[-1].strip().startswith("ask"))
        program.wait(lambda: max(cell_len(line) for line in program.lines) > 80)


def test_an_approval_runs_the_command_and_its_output_is_shown(tmp_path: Path) -> None:
    call = Call("shell", {"command": "touch made-by-agent && echo 完成"})
    with running(Script.of([Say(calls=(call,)), Say("The file is there.")]), tmp_path) as program:
        say(program, "make it")
        program.wait("Yes, once")
        program.settle()
        program.type("y")
        program.wait("The file is there.")
    assert (tmp_path / "project" / "made-by-agent").exists()


def test_tomorrow_the_talk_is_there_again(tmp_path: Path) -> None:
    with running(Script.of([Say("Remembered.")]), tmp_path) as program:
        say(program, "remember me")
        program.wait("Remembered.")
        program.settle()
        program.type("\x04")
        assert program.end() == 0
        assert b"--resume" in program.raw
    with running(Script.of([]), tmp_path, "--continue") as program:
        program.wait("Remembered.")
        assert "remember me" in program.text


def test_the_demo_names_the_way_back_into_the_demo(tmp_path: Path) -> None:
    env = {"DEEPTIDE_HOME": str(tmp_path / "home")}
    program = Program(["demo"], cwd=tmp_path, env=env)
    try:
        program.wait("ctx ")
        say(program, "hello there")
        program.wait("Esc interrupts")
        program.type("\x11")
        assert program.end() == 0
    finally:
        program.stop()
    back = re.search(rb"deeptide demo --resume (\S+)", program.raw)
    assert back is not None
    program = Program(["demo", "--resume", back[1].decode()], cwd=tmp_path, env=env)
    try:
        program.wait("hello there")
    finally:
        program.stop()


def test_no_color_means_no_colour_and_an_empty_one_does_not(tmp_path: Path) -> None:
    coloured = re.compile(rb"\x1b\[[\d;]*(?:38;[25]|48;[25])")
    for value, wanted in (("", True), ("1", False)):
        with running(Script.of([]), tmp_path, env={"NO_COLOR": value}) as program:
            program.settle()
            colours = set(re.findall(rb"[34]8;2;(\d+;\d+;\d+)", program.raw))
            grey = all(len(set(colour.split(b";"))) == 1 for colour in colours)
            assert bool(coloured.search(program.raw) and not grey) == wanted


def test_shift_enter_and_legacy_alt_enter_are_told_apart_from_enter(tmp_path: Path) -> None:
    with running(Script.of([Say("steered")]), tmp_path) as program:
        program.type("one\x1b[13;2utwo\nthree\x1b\r")
        program.wait("steered")
        assert all(word in program.text for word in ("one", "two", "three"))


def test_ctrl_g_lends_the_terminal_to_the_editor_and_takes_it_back(tmp_path: Path) -> None:
    script = tmp_path / "editor"
    script.write_text('#!/bin/sh\necho EDITOR RUNS; printf "%s and more" "$(cat "$1")" > "$1"\n')
    script.chmod(0o755)
    with running(Script.of([Say("ok")]), tmp_path, env={"VISUAL": str(script)}) as program:
        program.type("first words")
        program.wait("first words")
        program.type("\x07")
        program.wait("first words and more")
        program.type("\r")
        program.wait("ok")
        assert b"EDITOR RUNS" in program.raw


def test_on_a_low_screen_an_edit_is_asked_about_with_its_change_composer_and_status_in_sight(
    tmp_path: Path,
) -> None:
    workspace = tmp_path / "project"
    workspace.mkdir()
    (workspace / "a.py").write_text("".join(f"line = {number}\n" for number in range(40)))
    calls = (
        Call("read", {"path": "a.py"}),
        Call("edit", {"path": "a.py", "edits": [{"old": "line = 20\n", "new": "line = 2000\n"}]}),
    )
    with running(Script.of([Say(calls=calls), Say("done")]), tmp_path, cols=60, rows=20) as program:
        say(program, "go")
        program.wait("Allow edit?")
        program.wait("line = 2000")
        program.settle()
        assert "-line = 20" in program.text, program.text
        assert program.lines[-1].strip().startswith("ask")
        assert program.lines[-2].strip().startswith("╰")
        program.type("n")
        program.wait("Why not?")
        program.settle()
        assert program.lines[-1].strip().startswith("ask")
        assert "▌ n" in program.text
