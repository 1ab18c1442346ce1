"""A command of the model gets no secret and waits for nobody."""

from __future__ import annotations

import pytest

from deeptide.workspace.shell import child_env


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "DB_PASSWORD",
        "DEEPSEEK_BASE",
        "deepseek_api_key",
        "MY_CREDENTIALS",
        "SSH_AUTH_SOCK",
        "npm_config__auth",
        "BASH_ENV",
        "GIT_DIR",
        "BASH_FUNC_ls%%",
        "DEEPTIDE_HOME",
    ],
)
def test_secrets_and_traps_are_left_out(name: str) -> None:
    assert name not in child_env({name: "x", "PATH": "/bin"})


@pytest.mark.parametrize(
    "value",
    [
        "postgres://user:secret@host/db",
        "sk-0123456789abcdef0123",
        "ghp_" + "a" * 36,
        "AKIA" + "A" * 16,
        "-----BEGIN RSA PRIVATE KEY-----",
    ],
)
def test_values_that_look_like_secrets_are_left_out(value: str) -> None:
    assert "PLAIN" not in child_env({"PLAIN": value})


@pytest.mark.parametrize(
    "name", ["PATH", "HOME", "LANG", "GIT_AUTHOR_NAME", "VIRTUAL_ENV", "KEYBOARD", "HTTPS_PROXY"]
)
def test_ordinary_variables_are_kept(name: str) -> None:
    value = "http://user:word@proxy:8080" if name == "HTTPS_PROXY" else "value"
    assert child_env({name: value})[name] == value


def test_pagers_editors_and_prompts_are_off() -> None:
    env = child_env({"PAGER": "less", "EDITOR": "vim"})
    assert env["PAGER"] == env["GIT_PAGER"] == "cat"
    assert env["GIT_TERMINAL_PROMPT"] == "0"
    assert env["EDITOR"] == ":"
