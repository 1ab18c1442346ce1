"""A path is judged after every link and `..` in it is resolved."""

from __future__ import annotations

from pathlib import Path

import pytest

from deeptide.workspace.files import Roots


@pytest.fixture
def roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Roots:
    home = tmp_path / "home"
    for name in ("home/project/src", "extra", "outside"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    return Roots(home / "project", [tmp_path / "extra"])


def test_relative_paths_start_at_the_workspace(roots: Roots) -> None:
    assert roots.resolve("src/a.py") == roots.workspace / "src" / "a.py"
    assert roots.inside("src/a.py")
    assert roots.relative("src/../src/a.py") == "src/a.py"
    assert roots.relative(".") == "."


def test_dots_that_lead_out_are_outside(roots: Roots) -> None:
    assert not roots.inside("../other")
    assert not roots.inside("src/../../x")
    assert roots.inside("src/../x")


def test_a_link_that_leads_out_is_outside(roots: Roots, tmp_path: Path) -> None:
    (roots.workspace / "link").symlink_to(tmp_path / "outside")
    assert not roots.inside("link/file")
    assert not roots.inside("link")


def test_a_link_from_outside_to_inside_is_inside(roots: Roots, tmp_path: Path) -> None:
    (tmp_path / "outside" / "in").symlink_to(roots.workspace / "src")
    assert roots.inside(tmp_path / "outside" / "in" / "a.py")


def test_the_tilde_is_the_home_folder(roots: Roots) -> None:
    assert roots.resolve("~/notes") == roots.workspace.parent / "notes"
    assert not roots.inside("~/notes")
    assert roots.relative("~/notes") == "~/notes"
    assert roots.inside("~/project/x")


def test_added_folders_are_inside_but_shown_in_full(roots: Roots, tmp_path: Path) -> None:
    assert roots.inside(tmp_path / "extra" / "x")
    assert roots.relative(tmp_path / "extra" / "x") == str(tmp_path / "extra" / "x")


def test_a_neighbour_with_the_same_beginning_is_outside(roots: Roots) -> None:
    assert not roots.inside(str(roots.workspace) + "-old/x")
