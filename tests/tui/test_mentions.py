"""Which `@file` is meant."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.tui.files import workspace_files
from deeptide.tui.mentions import best, open_mention, score
from tests.deep import count

PATHS = ["src/app.py", "src/application/views.py", "docs/app.md", "tests/test_app.py", "src/map.py"]


def test_the_caret_is_in_a_mention_only_behind_an_at_sign_that_starts_a_word() -> None:
    assert open_mention("look at @src/a") == "src/a"
    assert open_mention("@") == ""
    assert open_mention("mail me@example") is None
    assert open_mention("@done and on") is None


def test_a_file_name_that_begins_with_the_query_comes_first() -> None:
    assert best("app", PATHS)[:2] == ["src/app.py", "docs/app.md"]


def test_letters_may_be_scattered_but_must_be_in_order() -> None:
    assert best("svw", PATHS) == ["src/application/views.py"]
    assert best("zz", PATHS) == []


@given(st.text(max_size=6), st.text(max_size=30))
@settings(max_examples=count(200, 5000))
def test_a_path_fits_exactly_when_all_letters_occur_in_order(query: str, path: str) -> None:
    rest = iter(path.casefold())
    in_order = all(letter in rest for letter in query.casefold())
    assert (score(query, path) is not None) == in_order


def test_ignored_files_are_not_offered_and_the_cap_holds(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("build/\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "x.o").write_text("")
    for number in range(5):
        (tmp_path / f"文件{number}.txt").write_text("")
    assert "build/x.o" not in workspace_files(tmp_path)
    assert "文件3.txt" in workspace_files(tmp_path)
    assert len(workspace_files(tmp_path, cap=2)) == 2


def test_what_tools_make_is_not_offered_outside_a_repository_either(tmp_path: Path) -> None:
    for name in ("a.py", "__pycache__/a.cpython-311.pyc", "b.pyc", "web/node_modules/x/index.js"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert list(workspace_files(tmp_path)) == ["a.py"]
