"""The command line without a session: what it prints, what it refuses, what it leaves behind."""

from __future__ import annotations

import json
import os
import pty
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from deeptide import __version__
from deeptide.cli.main import main
from deeptide.cli.once import prompt_of
from deeptide.protocol.errors import UsageError

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def own_standard_input() -> Iterator[None]:
    """Whatever a test puts in place of descriptor 0 is taken back."""
    before = os.dup(0)
    yield
    os.dup2(before, 0)
    os.close(before)


def read_from(monkeypatch: pytest.MonkeyPatch, descriptor: int) -> None:
    os.dup2(descriptor, 0)
    os.close(descriptor)
    monkeypatch.setattr(sys, "stdin", os.fdopen(0, encoding="utf-8", closefd=False))


def piped(monkeypatch: pytest.MonkeyPatch, text: str | bytes) -> None:
    """Standard input is a pipe that holds `text` and then ends."""
    reading, writing = os.pipe()
    os.write(writing, text.encode() if isinstance(text, str) else text)
    os.close(writing)
    read_from(monkeypatch, reading)


@pytest.mark.parametrize("argv", [["--version"], ["-V"], ["--version", "--yolo"]])
def test_the_version_is_one_line(argv: list[str], capsys: Captured) -> None:
    assert main(argv) == 0
    assert capsys.readouterr().out == f"deeptide {__version__}\n"


@pytest.mark.parametrize("command", ["exec", "demo", "login", "logout", "sessions", "config", "doctor"])
def test_every_command_explains_itself(command: str, capsys: Captured) -> None:
    assert main([command, "--help"]) == 0
    assert f"usage: deeptide {command}" in capsys.readouterr().out


def test_without_a_terminal_the_app_is_refused_with_a_hint(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    piped(monkeypatch, "")
    for argv in ([], ["demo"], ["fix it now"]):
        assert main(argv) == 2
        said = capsys.readouterr()
        assert said.out == "" and "deeptide exec" in said.err


def test_a_dumb_terminal_is_refused_with_a_hint_and_gets_no_escapes(own_home: Path) -> None:
    environ = {**os.environ, "TERM": "dumb"}
    child = pexpect.spawn(sys.executable, ["-m", "deeptide"], env=environ, timeout=30, encoding="utf-8")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 2
    assert "deeptide exec" in (child.before or "") and "\x1b" not in (child.before or "")


def test_wrong_settings_are_said_in_one_sentence_before_any_screen(own_home: Path, capsys: Captured) -> None:
    own_home.mkdir()
    (own_home / "config.toml").write_text("[model]\nnme = 'x'\n")
    assert main(["config"]) == 2
    said = capsys.readouterr().err
    assert "model.nme is not a setting; did you mean model.name?" in said and "Traceback" not in said


def test_a_config_value_is_set_read_and_shown_with_where_it_came_from(
    own_home: Path, capsys: Captured
) -> None:
    assert main(["config", "set", "context.soft_limit", "70"]) == 0
    assert main(["config", "get", "context.soft_limit"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "70"
    assert main(["config"]) == 0
    assert f"soft_limit = 70  # from {own_home / 'config.toml'}" in capsys.readouterr().out
    assert main(["config", "set", "context.soft_limit", "7"]) == 2
    assert "allowed: a whole number from 10 to 99" in capsys.readouterr().err


@pytest.mark.parametrize("argv", [["get"], ["set", "ui.bell"], ["path", "x"], ["get", "ui.bel"]])
def test_config_with_wrong_words_is_exit_2(argv: list[str], capsys: Captured) -> None:
    assert main(["config", *argv]) == 2
    assert capsys.readouterr().err


def test_a_key_is_piped_in_kept_private_never_shown_and_forgotten(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    piped(monkeypatch, "sk-piped-secret\n")
    assert main(["login"]) == 0
    file = own_home / "auth.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and "sk-piped-secret" in file.read_text()
    assert main(["doctor"]) == 0
    assert main(["logout"]) == 0 and main(["logout"]) == 0
    said = capsys.readouterr()
    assert "sk-piped-secret" not in said.out + said.err and "sk-piped-secret" not in file.read_text()


def test_an_empty_key_is_refused(monkeypatch: pytest.MonkeyPatch, own_home: Path, capsys: Captured) -> None:
    piped(monkeypatch, "\n")
    assert main(["login"]) == 2
    assert not (own_home / "auth.json").exists()


def test_a_typed_key_is_not_echoed(own_home: Path) -> None:
    child = pexpect.spawn(sys.executable, ["-m", "deeptide", "login"], timeout=30, encoding="utf-8")
    child.expect("API key for api.deepseek.com")
    child.sendline("sk-typed-secret")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0 and "sk-typed-secret" not in (child.before or "")
    assert json.loads((own_home / "auth.json").read_text())["keys"] == {"api.deepseek.com": "sk-typed-secret"}


def test_the_doctor_finds_what_is_wrong(own_home: Path, capsys: Captured) -> None:
    own_home.mkdir(mode=0o755)
    (own_home / "auth.json").write_text('{"keys": {}}')
    (own_home / "auth.json").chmod(0o644)
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert "FAIL" in said and "chmod 600" in said and "chmod 700" in said


def test_the_doctor_changes_nothing(own_home: Path, capsys: Captured) -> None:
    assert main(["doctor"]) == 0
    assert not own_home.exists()


def test_sessions_of_an_empty_home_say_so(capsys: Captured) -> None:
    assert main(["sessions"]) == 0
    assert "No sessions" in capsys.readouterr().out
    assert main(["sessions", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main(["sessions", "delete", "nope", "--yes"]) == 1
    assert main(["sessions", "delete"]) == 2


def test_standard_input_is_read_only_when_the_prompt_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert prompt_of(["do", "it"]) == "do it"
    piped(monkeypatch, "from a pipe\n")
    assert prompt_of([]) == "from a pipe"
    piped(monkeypatch, "a diff\n")
    assert prompt_of(["review this", "-"]) == "review this\n\na diff"
    piped(monkeypatch, " \n")
    with pytest.raises(UsageError, match="empty"):
        prompt_of(["-"])


def test_a_missing_prompt_on_a_terminal_is_no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    master, terminal = pty.openpty()
    read_from(monkeypatch, terminal)
    with pytest.raises(UsageError, match="no prompt"):
        prompt_of([])
    os.close(master)


def test_bytes_that_are_no_text_do_not_stop_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    piped(monkeypatch, b"caf\xe9")
    assert prompt_of(["-"]) == "caf\ufffd"
