"""Repositories whose own settings name programs: git is really run in them, and the programs must not be."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from deeptide.permissions.classify import Classifier
from deeptide.permissions.levels import Level
from deeptide.permissions.places import Places
from deeptide.workspace.environment import child_env
from deeptide.workspace.git import status_line
from deeptide.workspace.git_config import has_submodules, named_program

READS = (
    "git status",
    "git diff",
    "git diff --stat",
    "git diff HEAD~1",
    "git log -p",
    "git log --oneline",
    "git show",
    "git show HEAD:f.txt",
    "git blame f.txt",
    "git ls-files -m",
    "git grep word",
    "git describe --always --dirty",
    "git diff-files",
    "git diff-index HEAD",
    "git branch -v",
    "git stash list",
    "git cat-file -p HEAD",
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / ".gitattributes").write_text("*.txt filter=x diff=x merge=x\n")
    for number in (1, 2):
        (root / "f.txt").write_text(f"word {number}\n")
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", f"number {number}")
    return root


def git(root: Path, *args: str) -> None:
    env = {**child_env(os.environ), "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *who, *args], cwd=root, env=env, check=True, capture_output=True)


def touched(root: Path) -> None:
    """The working file differs from the index by its time, so that git must look into it."""
    (root / "f.txt").write_text("word 3\n")
    os.utime(root / "f.txt", (1, 1))


def trap(tmp_path: Path) -> str:
    """A program that leaves a mark and passes its input on."""
    program = tmp_path / "trap.sh"
    program.write_text(f"#!/bin/sh\n: > '{tmp_path}/mark'\ncat\n")
    program.chmod(0o755)
    return str(program)


SETTINGS = (
    '[filter "x"]\n\tclean = {}\n',
    '[filter "x"]\n\tsmudge = {}\n\trequired\n',
    '[filter "x"]\n\tprocess = {}\n',
    "[filter.x]\n\tclean = {}\n",
    '[FILTER "x"] clean = {}\n',
    "[core]\n\tfsmonitor = {}\n",
    "[core] fsmonitor = {}\n",
    "[CORE]\n\tFSMonitor = {}\n",
    "[core]\n\tfsmonitor = \\\n{}\n",
    "[diff]\n\texternal = {}\n",
    '[diff "x"]\n\ttextconv = {}\n',
    '[diff "x"]\n\tcommand = {}\n',
    "[core]\n\tpager = {}\n",
    "[pager]\n\tlog = {}\n",
    "[log]\n\tshowSignature = true\n[gpg]\n\tprogram = {}\n",
    "[core]\n\tsshCommand = {}\n",
    '[remote "o"]\n\turl = .\n\tuploadpack = {}\n\tpromisor = true\n',
    '[alias]\n\tx = "!{}"\n',
    '[merge "x"]\n\tdriver = {}\n',
    "[interactive]\n\tdiffFilter = {}\n",
    "[core]\n\talternateRefsCommand = {}\n",
)


@pytest.mark.parametrize("text", SETTINGS)
def test_settings_that_name_a_program_make_reading_with_git_a_question(
    repository: Path, tmp_path: Path, text: str
) -> None:
    with (repository / ".git/config").open("a") as file:
        file.write(text.format(trap(tmp_path)))
    touched(repository)
    classifier = Classifier(Places([str(repository)], "/home/u"))
    for line in READS:
        assert classifier.level(line) >= Level.ASK, line
    status_line(repository)
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("text", SETTINGS)
def test_settings_reached_by_an_include_do_too(repository: Path, tmp_path: Path, text: str) -> None:
    (repository / "more").write_text(text.format(trap(tmp_path)))
    with (repository / ".git/config").open("a") as file:
        file.write("[include]\n\tpath = ../more\n")
    touched(repository)
    assert named_program(repository)
    assert "include" in status_line(repository)
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("text", SETTINGS[:12])
def test_the_traps_of_these_tests_do_spring_in_a_careless_git(
    repository: Path, tmp_path: Path, text: str
) -> None:
    """Otherwise the tests above would prove nothing."""
    with (repository / ".git/config").open("a") as file:
        file.write(text.format(trap(tmp_path)))
    touched(repository)
    for line in ("status", "diff", "log -p", "checkout -f f.txt"):
        subprocess.run(["git", *line.split()], cwd=repository, capture_output=True, timeout=20)
    assert (tmp_path / "mark").exists()


def test_a_plain_repository_is_read_freely_and_runs_nothing(repository: Path, tmp_path: Path) -> None:
    git(repository, "remote", "add", "origin", "https://example.org/x.git")
    git(repository, "config", "branch.main.remote", "origin")
    git(repository, "config", "core.autocrlf", "input")
    git(repository, "config", "user.name", "A # B; C")
    touched(repository)
    assert named_program(repository) == ""
    classifier = Classifier(Places([str(repository)], "/home/u"))
    for line in READS:
        assert classifier.level(line) is Level.AUTO, line
    assert status_line(repository) == "on main; 1 changed"


@pytest.mark.parametrize("place", ["hooks", "elsewhere"])
def test_a_hook_that_reading_would_run_makes_it_a_question(
    repository: Path, tmp_path: Path, place: str
) -> None:
    hook = repository / ".git" / place / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n: > '{tmp_path}/mark'\n")
    hook.chmod(0o755)
    if place != "hooks":
        git(repository, "config", "core.hooksPath", ".git/elsewhere")
    assert "post-index-change" in named_program(repository)
    (repository / "f.txt").write_text("word 2\n")
    os.utime(repository / "f.txt", (1, 1))
    status_line(repository)
    assert not (tmp_path / "mark").exists()
    subprocess.run(["git", "diff"], cwd=repository, capture_output=True, timeout=20)
    assert (tmp_path / "mark").exists()


def test_other_hooks_are_no_obstacle(repository: Path) -> None:
    git(repository, "config", "core.hooksPath", ".husky/_")
    hook = repository / ".husky/_/pre-commit"
    hook.parent.mkdir(parents=True)
    hook.write_text("#!/bin/sh\n")
    assert named_program(repository) == ""


def test_a_repository_inside_the_repository_makes_looking_at_files_a_question(
    repository: Path, tmp_path: Path
) -> None:
    inner = repository / "inner"
    inner.mkdir()
    git(inner, "init", "-q", "-b", "main")
    (inner / "f.txt").write_text("1")
    git(inner, "add", ".")
    git(inner, "commit", "-q", "-m", "one")
    git(repository, "add", "inner")
    git(repository, "commit", "-q", "-m", "inner")
    git(inner, "config", "filter.x.clean", trap(tmp_path))
    (inner / ".gitattributes").write_text("* filter=x\n")
    (inner / "f.txt").write_text("2")
    assert has_submodules(repository)
    classifier = Classifier(Places([str(repository)], "/home/u"))
    assert classifier.level("git status") is Level.ASK
    assert classifier.level("git log --oneline") is Level.AUTO
    assert classifier.level("git -C inner log") is Level.ASK
    assert status_line(repository) == "on main; clean"
    assert not (tmp_path / "mark").exists()


def test_a_folder_that_only_looks_like_a_repository_is_a_question(repository: Path) -> None:
    """git takes it for one without a working tree, with the settings in it."""
    bare = repository / "data"
    git(repository, "init", "-q", "--bare", str(bare))
    assert named_program(bare)
    broken = repository / "src"
    (broken / ".git").mkdir(parents=True)
    assert named_program(broken)


def test_an_added_worktree_is_judged_by_the_settings_it_shares(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    assert named_program(tmp_path / "other") == ""
    assert status_line(tmp_path / "other") == "on other; clean"
    git(repository, "config", "diff.external", trap(tmp_path))
    assert named_program(tmp_path / "other") == "diff.external"


def test_a_submodule_is_a_repository_like_any_other(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main", "outer")
    git(tmp_path / "outer", "submodule", "add", "-q", str(repository), "part")
    assert named_program(tmp_path / "outer" / "part") == ""
    git(tmp_path / "outer" / "part", "config", "core.worktree", str(tmp_path))
    assert named_program(tmp_path / "outer" / "part") == "core.worktree"


@pytest.mark.parametrize(
    "text",
    [
        "[core\n",
        "x = 1\n",
        "[core]\n\tbare = false \\\n",
        "[core]\n= 1\n",
        "\x00",
        "\ufeff[core]\n",
        "[core]\r\r\n",
    ],
)
def test_settings_that_are_not_plain_are_a_question(repository: Path, text: str) -> None:
    (repository / ".git/config").write_text(text)
    assert named_program(repository)
    (repository / ".git/config").write_bytes(b"[core]\n\tbare = \xff\n")
    assert named_program(repository)


def test_settings_that_are_no_file_are_a_question(repository: Path) -> None:
    (repository / ".git/config").unlink()
    os.mkfifo(repository / ".git/config")
    assert named_program(repository) == "settings that cannot be read"


def test_outside_a_repository_nothing_is_named(tmp_path: Path) -> None:
    assert named_program(tmp_path) == ""
    assert not has_submodules(tmp_path)
