"""`@file`: what counts as one, and what of it reaches the model."""

from __future__ import annotations

from pathlib import Path

import pytest

from deeptide.session.mentions import find_mentions, read_mention
from deeptide.workspace.roots import Roots


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("look at @src/a.py", ("src/a.py",)),
        ("@a.py and @b.py, then @a.py.", ("a.py", "b.py")),
        ('@"my file.txt" please', ("my file.txt",)),
        ("看一下@src/主.py，谢谢", ("src/主.py",)),
        ("看 @src/主.py，谢谢", ("src/主.py",)),
        ("mail me@example.com", ()),
        ("a @ b", ()),
        ("(@a.py)", ("a.py",)),
    ],
)
def test_what_counts_as_a_mention(text: str, paths: tuple[str, ...]) -> None:
    assert find_mentions(text) == paths


def never(path: Path) -> bool:
    return False


def test_a_file_comes_with_its_content_and_a_folder_with_its_names(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("print(1)\n")
    roots = Roots(tmp_path)
    note = read_mention("a.py", roots, never)
    assert note is not None and note.endswith("print(1)\n")
    folder = read_mention(".", roots, never)
    assert folder is not None and "a.py" in folder


def test_a_name_that_is_no_file_is_just_words(tmp_path: Path) -> None:
    assert read_mention("nobody", Roots(tmp_path), never) is None


def test_a_guarded_and_a_binary_file_are_named_but_not_included(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("KEY=secret-value")
    (tmp_path / "b.bin").write_bytes(b"\0\1\2" * 50)
    roots = Roots(tmp_path)
    guarded = read_mention(".env", roots, lambda path: path.name == ".env")
    assert guarded is not None and "secret-value" not in guarded
    binary = read_mention("b.bin", roots, never)
    assert binary is not None and "binary" in binary


def test_a_long_file_is_cut_with_advice(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("x" * 100_000)
    note = read_mention("long.txt", Roots(tmp_path), never)
    assert note is not None and len(note) < 30_000 and "read tool" in note
