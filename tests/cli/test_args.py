"""argv to an Invocation."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.cli.args import parse
from deeptide.cli.invocation import COMMANDS
from deeptide.protocol.errors import UsageError
from tests.deep import count


def test_nothing_opens_the_app() -> None:
    call = parse([])
    assert call.command == "tui" and call.prompt == [] and call.resume is None


def test_words_that_are_no_command_are_a_prompt() -> None:
    assert parse(["fix the bug"]).prompt == ["fix the bug"]
    assert parse(["fix", "the", "bug", "--yolo"]).prompt == ["fix", "the", "bug"]
    assert parse(["修复测试"]).prompt == ["修复测试"]


def test_a_command_is_only_the_first_word() -> None:
    assert parse(["explain", "exec"]).command == "tui"
    assert parse(["explain exec"]).prompt == ["explain exec"]
    assert parse(["exec", "login"]).prompt == ["login"]


def test_two_dashes_make_a_prompt_of_anything() -> None:
    assert parse(["--", "login"]).prompt == ["login"]
    assert parse(["--model", "x", "--", "--help"]).prompt == ["--help"]
    assert parse(["exec", "--", "-v"]).prompt == ["-v"]


def test_flags_may_stand_before_the_command() -> None:
    call = parse(["--model", "x", "--yolo", "exec", "do it", "--json"])
    assert (call.command, call.model, call.yolo, call.output, call.prompt) == (
        "exec", "x", True, "json", ["do it"],
    )  # fmt: skip
    assert parse(["--model", "exec", "hello there"]).model == "exec"


def test_p_is_exec() -> None:
    assert parse(["-p", "do it"]).command == "exec"
    assert parse(["--print"]).prompt == []


def test_a_mistyped_command_is_not_sent_to_the_model() -> None:
    with pytest.raises(UsageError, match=r"did you mean `deeptide sessions`") as caught:
        parse(["sesions"])
    assert "deeptide -- sesions" in caught.value.advice
    assert parse(["refactor"]).prompt == ["refactor"]


@pytest.mark.parametrize(
    ("argv", "meant"),
    [(["exce", "fix"], "exec"), (["session", "list"], "sessions"), (["LOGIN", "now"], "login"),
     (["--yolo", "docter", "x"], "doctor"), (["dmeo", "x", "--continue"], "demo")],
)  # fmt: skip
def test_a_mistyped_command_before_other_words_is_asked_about(argv: list[str], meant: str) -> None:
    with pytest.raises(UsageError, match=f"did you mean `deeptide {meant}`") as caught:
        parse(argv)
    assert "quote it: `deeptide '" in caught.value.advice and caught.value.exit_code == 2


@pytest.mark.parametrize(
    "argv", [["exce fix"], ["session list"], ["--", "exce", "fix"], ["log", "the", "errors"],
             ["configure", "the", "linter"], ["mode", "switch", "is", "broken"], ["修", "exce"], ["-p", "exce", "fix"]],
)  # fmt: skip
def test_a_quoted_prompt_and_an_ordinary_sentence_never_are(argv: list[str]) -> None:
    assert parse(argv).prompt == [word for word in argv if word not in ("--", "-p")]


def test_flags_are_not_guessed_from_their_beginning() -> None:
    with pytest.raises(UsageError, match="--mod"):
        parse(["--mod", "plan"])


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--mode", "root"], "plan"),
        (["--effort", "medium"], "off"),
        (["--max-turns", "0"], "at least 1"),
        (["--max-turns", "1e3"], "at least 1"),
        (["--max-turns", "²"], "at least 1"),
        (["--max-cost", "0"], "above 0"),
        (["--max-cost", "nan"], "above 0"),
        (["--max-cost", "inf"], "above 0"),
        (["--max-cost", "free"], "above 0"),
        (["--base-url", "localhost:8000"], "http://"),
        (["--base-url", "file:///etc/passwd"], "http://"),
        (["--yolo", "--mode", "plan"], "two different things"),
        (["--resume", "abc", "--continue"], "two different things"),
        (["exec", "--resume", "fix the bug"], "session's id, the start of one"),
        (["--output", "json", "hello there"], "deeptide exec"),
        (["exec", "hi", "--output", "xml"], "stream-json"),
        (["sessions", "drop"], "delete"),
        (["login", "sk-secret"], "Unrecognized arguments"),
        (["config", "set", "a", "b", "c"], "Unrecognized arguments"),
    ],
)
def test_wrong_use_is_exit_2_with_what_is_allowed(argv: list[str], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(argv)
    assert said in f"{caught.value} {caught.value.advice}"
    assert caught.value.exit_code == 2


def test_resume_without_a_name_differs_from_no_resume() -> None:
    assert parse(["--resume"]).resume == ""
    assert parse(["--resume", "ab12"]).resume == "ab12"
    assert parse(["exec", "go on", "-r"]).resume == ""


def test_flags_are_the_topmost_settings_and_only_when_given() -> None:
    assert parse([]).settings() == {}
    assert parse(["--yolo", "--max-turns", "3", "--max-cost", "0.5", "-m", "x"]).settings() == {
        "permissions.mode": "yolo",
        "limits.max_turns": 3,
        "limits.max_cost_session": 0.5,
        "model.name": "x",
    }
    assert parse(["exec", "x", "--max-cost", "2"]).settings() == {"limits.max_cost_turn": 2.0}


def test_the_emulator_reads_its_own_flags() -> None:
    assert parse(["emulator", "--port", "0", "--script", "x.toml"]).rest == [
        "--port",
        "0",
        "--script",
        "x.toml",
    ]


def test_a_folder_that_is_none_is_wrong_use() -> None:
    with pytest.raises(UsageError, match="not a folder"):
        _ = parse(["--cwd", "/nowhere/at/all"]).workspace


WORDS = st.sampled_from(
    [*COMMANDS, "--model", "-p", "--", "--resume", "-c", "--max-cost", "x", "-1", "", "-", "--yolo"]
)


@settings(max_examples=count(150, 5000), deadline=None)
@given(st.lists(WORDS | st.text(max_size=6), max_size=6))
def test_any_argv_is_understood_or_refused_readably(argv: list[str]) -> None:
    try:
        call = parse([word for word in argv if word not in ("-h", "--help")])
    except UsageError as error:
        assert str(error).strip() and error.exit_code == 2
        return
    assert call.command in ("tui", *COMMANDS)
