"""The walk shows what git would: checked against git itself."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deeptide.workspace.environment import child_env
from deeptide.workspace.ignore import walk
from tests.deep import count


def make(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")


def seen(root: Path, **options: bool) -> list[str]:
    return [path.relative_to(root).as_posix() for path in walk(root, **options)]


def test_names_come_in_order_and_git_is_left_out(tmp_path: Path) -> None:
    make(tmp_path, "b.py", "a/z.py", "a/b.py", ".git/config", ".hidden", "c.py")
    assert seen(tmp_path) == ["a/b.py", "a/z.py", "b.py", "c.py"]
    assert seen(tmp_path, hidden=True) == [".hidden", "a/b.py", "a/z.py", "b.py", "c.py"]
    assert seen(tmp_path, folders=True) == ["a", "a/b.py", "a/z.py", "b.py", "c.py"]


def test_nested_rules_and_exceptions_hold(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "keep.log", "sub/a.log", "sub/own.txt", "build/x", "sub/build/x", "src/build.py")
    (tmp_path / ".gitignore").write_text("*.log\n!keep.log\nbuild/\n# note\n\n")
    (tmp_path / "sub" / ".gitignore").write_text("!a.log\n/own.txt\n")
    assert seen(tmp_path) == ["keep.log", "src/build.py", "sub/a.log"]
    assert "build/x" in seen(tmp_path, ignored=True)


def test_rules_of_the_folders_above_hold_inside_a_repository(tmp_path: Path) -> None:
    make(tmp_path, "pkg/a.tmp", "pkg/b.py", "pkg/deep/c.tmp", ".git/HEAD")
    (tmp_path / ".gitignore").write_text("*.tmp\n")
    (tmp_path / ".git" / "info").mkdir()
    (tmp_path / ".git" / "info" / "exclude").write_text("secret.py\n")
    make(tmp_path, "pkg/secret.py")
    assert seen(tmp_path / "pkg") == ["b.py"]


def test_linked_folders_are_not_entered_and_loops_do_no_harm(tmp_path: Path) -> None:
    make(tmp_path, "real/a.py")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "real" / "up").symlink_to("..")
    (tmp_path / "file").symlink_to("real/a.py")
    (tmp_path / "broken").symlink_to("nowhere")
    os.mkfifo(tmp_path / "fifo")
    assert seen(tmp_path) == ["file", "real/a.py"]


def test_the_walk_is_lazy(tmp_path: Path) -> None:
    make(tmp_path, "a/1", "z/1")
    found = walk(tmp_path)
    next(found)
    make(tmp_path, "z/2")
    assert [path.name for path in found] == ["1", "2"]


def test_a_missing_root_is_empty(tmp_path: Path) -> None:
    assert list(walk(tmp_path / "nowhere")) == []


PATTERNS = st.lists(
    st.sampled_from(
        ["*.log", "!a.log", "build/", "/b", "sub/*.py", "**/x", "x/**", "!x/keep", "a?", "[ab].py", "sub"]
    ),
    max_size=4,
)
FILES = (
    "a.log",
    "b",
    "ab",
    "a.py",
    "build/x",
    "sub/a.py",
    "sub/b",
    "x/keep",
    "x/y/z",
    "sub/x/keep",
    "sub/build",
)


@settings(
    max_examples=count(15, 300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(PATTERNS, PATTERNS)
def test_git_would_show_the_same_files(
    tmp_path_factory: pytest.TempPathFactory, top: list[str], sub: list[str]
) -> None:
    root = tmp_path_factory.mktemp("repo")
    make(root, *FILES)
    (root / ".gitignore").write_text("\n".join(top) + "\n")
    (root / "sub" / ".gitignore").write_text("\n".join(sub) + "\n")
    env = {**child_env(os.environ), "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    subprocess.run(["git", "init", "-q"], cwd=root, env=env, check=True)
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard"],
        cwd=root,
        env=env,
        check=True,
        capture_output=True,
        text=True,
    )
    wanted = sorted(name for name in listed.stdout.splitlines() if not name.endswith(".gitignore"))
    assert sorted(seen(root)) == wanted
