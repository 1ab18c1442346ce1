"""Earlier prompts are kept per workspace and walked like in a shell."""

from __future__ import annotations

import stat
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.tui.history import KEEP, History, history_file
from tests.deep import count


def reopened(path: Path) -> History:
    history = History(path)
    history.load()
    return history


def test_a_prompt_is_there_again_in_the_next_session(tmp_path: Path) -> None:
    path = history_file(tmp_path, Path("/a"))
    History(path).add("修复测试\nsecond line")
    assert reopened(path).step(-1, "") == "修复测试\nsecond line"


def test_workspaces_do_not_share_prompts(tmp_path: Path) -> None:
    History(history_file(tmp_path, Path("/a"))).add("for a")
    assert reopened(history_file(tmp_path, Path("/b"))).step(-1, "") is None


def test_the_file_is_private(tmp_path: Path) -> None:
    path = history_file(tmp_path / "home", Path("/a"))
    History(path).add("x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_torn_and_foreign_lines_are_skipped(tmp_path: Path) -> None:
    path = history_file(tmp_path, Path("/a"))
    History(path).add("good")
    path.write_bytes(path.read_bytes() + b'{"no": 1}\n\xff\n"torn')
    assert reopened(path).step(-1, "") == "good"


def test_a_long_file_is_cut_to_the_newest(tmp_path: Path) -> None:
    path = history_file(tmp_path, Path("/a"))
    path.parent.mkdir(parents=True)
    path.write_text("".join(f'"prompt {number}"\n' for number in range(2 * KEEP + 1)))
    assert reopened(path).step(-1, "") == f"prompt {2 * KEEP}"
    assert path.read_text().count("\n") == KEEP


def test_stepping_back_past_the_newest_returns_the_draft() -> None:
    history = History(None)
    history.add("first")
    history.add("second")
    assert history.step(-1, "draft") == "second"
    assert history.step(-1, "second") == "first"
    assert history.step(-1, "first") is None
    assert history.step(1, "first") == "second"
    assert history.step(1, "second") == "draft"
    assert history.step(1, "draft") is None


@given(st.lists(st.text(min_size=1)), st.text())
@settings(max_examples=count(60, 2000), deadline=None)
def test_walking_to_the_oldest_and_back_always_returns_the_draft(prompts: list[str], draft: str) -> None:
    history = History(None)
    for prompt in prompts:
        history.add(prompt)
    steps = 0
    while history.step(-1, draft) is not None:
        steps += 1
    text: str | None = draft
    for _ in range(steps):
        text = history.step(1, "")
    assert text == draft


def test_a_search_finds_all_words_newest_first_and_each_prompt_once() -> None:
    history = History(None)
    for prompt in ("fix the upload test", "run the linter", "upload the test results", "fix the upload test"):
        history.add(prompt)
    assert history.search("test UPLOAD") == ["fix the upload test", "upload the test results"]
