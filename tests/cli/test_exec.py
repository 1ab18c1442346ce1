"""`deeptide exec` as a process of its own, against the emulator as a real server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

Serve = Callable[[list[dict[str, object]]], str]
LIMIT = 60


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts `deeptide emulator` with these script lines; returns its address."""
    with ExitStack() as servers:

        def start(lines: list[dict[str, object]]) -> str:
            script = tmp_path / "script.jsonl"
            script.write_text("\n".join(json.dumps(line) for line in lines))
            server = subprocess.Popen(
                [sys.executable, "-m", "deeptide", "emulator", "--port", "0", "--script", str(script)],
                stdout=subprocess.PIPE,
                text=True,
            )
            servers.callback(server.wait)
            servers.callback(server.terminate)
            assert server.stdout is not None
            return server.stdout.readline().strip()

        yield start


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def command(url: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "deeptide", "exec", "--base-url", url, *arguments]


def test_the_answer_is_on_standard_output_and_nothing_else(serve: Serve, project: Path) -> None:
    url = serve([{"text": "pong"}])
    done = subprocess.run(command(url, "ping"), capture_output=True, text=True, cwd=project, timeout=LIMIT)
    assert (done.returncode, done.stdout) == (0, "pong\n"), done.stderr


def test_an_open_pipe_on_standard_input_does_not_hang_a_run(serve: Serve, project: Path) -> None:
    url = serve([{"text": "pong"}])
    reading, writing = os.pipe()
    try:
        done = subprocess.run(
            command(url, "ping"), stdin=reading, capture_output=True, text=True, cwd=project, timeout=LIMIT
        )
    finally:
        os.close(reading)
        os.close(writing)
    assert done.returncode == 0


def test_a_prompt_can_be_piped_in_and_a_session_continued(serve: Serve, project: Path) -> None:
    url = serve([])
    first = subprocess.run(
        command(url, "--json"), input="记住 7319", capture_output=True, text=True, cwd=project, timeout=LIMIT
    )
    assert first.returncode == 0, first.stderr
    result = json.loads(first.stdout)
    assert result["answer"] == "You said: 记住 7319"
    second = subprocess.run(
        command(url, "again", "--continue", "--json"),
        capture_output=True,
        text=True,
        cwd=project,
        timeout=LIMIT,
    )
    assert json.loads(second.stdout)["session"] == result["session"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_in_order_with_its_code(
    serve: Serve, project: Path, number: signal.Signals, code: int
) -> None:
    url = serve([{"text": "slow " * 500, "delay": 0.05}])
    process = subprocess.Popen(
        command(url, "go", "--output", "stream-json"), stdout=subprocess.PIPE, text=True, cwd=project
    )
    assert process.stdout is not None
    for line in process.stdout:
        if '"text_delta"' in line:
            break
    process.send_signal(number)
    rest = process.stdout.read().splitlines()
    assert process.wait(LIMIT) == code
    result = json.loads(rest[-1])
    assert (result["type"], result["exit_code"], result["reason"]) == ("result", code, "interrupted")


def test_a_reader_that_goes_away_ends_it_without_a_traceback(serve: Serve, project: Path) -> None:
    url = serve([{"text": "slow " * 500, "delay": 0.01}])
    process = subprocess.Popen(
        command(url, "go", "--output", "stream-json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=project,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    said = process.stderr.read()
    assert process.wait(LIMIT) == 1
    assert "Traceback" not in said and "Exception ignored" not in said


def test_a_missing_key_is_said_with_what_to_do(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "deeptide", "exec", "ping"],
        capture_output=True,
        text=True,
        cwd=project,
        timeout=LIMIT,
    )
    assert done.returncode == 1
    assert "key" in done.stderr and "deeptide login" in done.stderr and "Traceback" not in done.stderr


def test_wrong_use_is_exit_2_in_the_chosen_format(project: Path) -> None:
    wrong = command("http://127.0.0.1:9", "x", "--cwd", "/nowhere/at/all", "--json")
    done = subprocess.run(wrong, capture_output=True, text=True, cwd=project, timeout=LIMIT)
    assert done.returncode == 2 and json.loads(done.stdout)["exit_code"] == 2


def test_a_killed_run_leaves_a_session_that_goes_on(serve: Serve, project: Path) -> None:
    url = serve([{"turn": 1, "text": "slow " * 500, "delay": 0.05}, {"text": "back"}])
    process = subprocess.Popen(
        command(url, "go", "--output", "stream-json"), stdout=subprocess.PIPE, text=True, cwd=project
    )
    assert process.stdout is not None
    session = json.loads(process.stdout.readline())["session"]
    for line in process.stdout:
        if '"text_delta"' in line:
            break
    process.kill()
    process.wait()
    process.stdout.close()
    time.sleep(0.1)
    again = command(url, "go on", "--resume", session[:6], "--json")
    done = subprocess.run(again, capture_output=True, text=True, cwd=project, timeout=LIMIT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["answer"] == "back"


def test_words_with_something_on_standard_input_leave_it_alone_and_say_so(
    serve: Serve, project: Path
) -> None:
    url = serve([{"text": "pong"}])
    done = subprocess.run(
        command(url, "ping"), input="data", capture_output=True, text=True, cwd=project, timeout=LIMIT
    )
    assert done.returncode == 0
    assert "Standard input was not read" in done.stderr and "data" not in done.stdout
