"""One line about the repository, from a real git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from deeptide.workspace.environment import child_env
from deeptide.workspace.git import status_line


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    return root


def git(root: Path, *args: str) -> None:
    env = {**child_env(os.environ), "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, *args], cwd=root, env=env, check=True, capture_output=True)


def test_a_repository_without_commits_is_told(repository: Path) -> None:
    assert status_line(repository) == "on main, no commit yet; clean"


def test_changes_and_new_files_are_counted(repository: Path) -> None:
    (repository / "a").write_text("1")
    (repository / "b").write_text("1")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "one")
    assert status_line(repository) == "on main; clean"
    (repository / "a").write_text("2")
    (repository / "c").write_text("2")
    assert status_line(repository) == "on main; 1 changed, 1 untracked"


def test_the_distance_to_the_upstream_is_told(repository: Path, tmp_path: Path) -> None:
    (repository / "a").write_text("1")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "one")
    git(tmp_path, "clone", "-q", str(repository), "copy")
    copy = tmp_path / "copy"
    git(copy, "commit", "-q", "--allow-empty", "-m", "two")
    assert status_line(copy) == "on main, 1 ahead of origin/main; clean"
    git(copy, "checkout", "-q", "--detach")
    assert status_line(copy).startswith("at commit ")


def test_outside_a_repository_there_is_nothing_to_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert status_line(tmp_path) == ""
    assert status_line(tmp_path / "nowhere") == ""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert status_line(tmp_path) == ""


def test_a_slow_status_is_given_up(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nsleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    assert "too long" in status_line(repository, timeout_s=0.3)
