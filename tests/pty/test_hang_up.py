"""The terminal goes away, or a signal comes: nothing stays behind, and what was said is there tomorrow."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from deeptide.emulator.script import Call, Say, Script
from deeptide.protocol.events import ToolFinished, UserMessage
from deeptide.session.session import Session
from deeptide.wiring.house import House, Options
from tests.pty.program import PATIENCE_S, Program, running

End = Callable[[Program], int]
"""Does what ends the program; gives its exit status."""

STREAM = Say("word " * 4_000, delay=0.01)
COMMAND = "(setsid sleep 3210 & echo $! > detached); sleep 3210 & echo $! > child; echo started; wait"
RUN = Say(calls=(Call("shell", {"command": COMMAND}),))


def hang_up(program: Program) -> int:
    program.hang_up()
    return program.status()


def terminate(program: Program) -> int:
    program.signal(signal.SIGTERM)
    return program.end()


ENDS = pytest.mark.parametrize(("end", "code"), [(hang_up, 129), (terminate, 143)])


def say(program: Program, text: str) -> None:
    program.type(text)
    program.wait(text[-12:])
    program.type("\r")


async def tomorrow(folder: Path) -> Session:
    house = House(Options(workspace=folder / "project", home=folder / "home", key="sk-test"))
    session = await house.resume()
    await session.close()
    await house.close()
    return session


def said(session: Session) -> list[str]:
    return [record.event.text for record in session.records if isinstance(record.event, UserMessage)]


def gone(pid: int) -> bool:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return False


def pids(folder: Path) -> list[int]:
    return [int((folder / "project" / name).read_text()) for name in ("child", "detached")]


@ENDS
async def test_it_ends_while_idle(tmp_path: Path, end: End, code: int) -> None:
    with running(Script.of([Say("Here I am.")]), tmp_path) as program:
        say(program, "are you there")
        program.wait("Here I am.")
        program.settle()
        assert end(program) == code
    assert said(await tomorrow(tmp_path)) == ["are you there"]


@ENDS
async def test_it_ends_while_an_answer_streams(tmp_path: Path, end: End, code: int) -> None:
    with running(Script.of([STREAM]), tmp_path) as program:
        say(program, "tell me more")
        program.wait("word word")
        assert end(program) == code
    session = await tomorrow(tmp_path)
    assert said(session) == ["tell me more"]
    assert not session.fold.open_calls()
    assert "word word" in str(session.fold.messages()[-1])


@ENDS
async def test_it_ends_with_its_command_and_all_that_it_started(tmp_path: Path, end: End, code: int) -> None:
    with running(Script.of([RUN]), tmp_path, "--yolo") as program:
        say(program, "run it")
        program.wait(lambda: (tmp_path / "project" / "child").exists() and "started" in program.text)
        assert end(program) == code
        assert all(gone(pid) for pid in pids(tmp_path))
    session = await tomorrow(tmp_path)
    assert said(session) == ["run it"]
    assert not session.fold.open_calls()
    assert any(isinstance(record.event, ToolFinished) for record in session.records)


@ENDS
def test_it_ends_with_a_command_of_the_users_own(tmp_path: Path, end: End, code: int) -> None:
    with running(Script.of([]), tmp_path) as program:
        say(program, "!" + COMMAND)
        program.wait(lambda: (tmp_path / "project" / "child").exists())
        time.sleep(0.1)
        assert end(program) == code
        assert all(gone(pid) for pid in pids(tmp_path))


@ENDS
def test_it_ends_before_it_is_open(tmp_path: Path, end: End, code: int) -> None:
    (tmp_path / "project").mkdir()
    env = {"DEEPTIDE_HOME": str(tmp_path / "home"), "DEEPSEEK_API_KEY": "sk-test"}
    program = Program([], cwd=tmp_path / "project", env=env)
    try:
        program.wait("Ask for something")
        assert end(program) == code
    finally:
        program.stop()


async def test_it_ends_although_the_terminal_takes_nothing_any_more(tmp_path: Path) -> None:
    with running(Script.of([STREAM]), tmp_path) as program:
        say(program, "tell me more")
        program.wait("word word")
        # Nobody reads: the terminal's buffer fills, then the writer's queue, then the event loop waits.
        time.sleep(4)
        os.kill(program.pid, signal.SIGTERM)
        assert program.status() == 143
    assert said(await tomorrow(tmp_path)) == ["tell me more"]
