"""Trusted folders, and where our files are."""

from __future__ import annotations

from pathlib import Path

import pytest

from deeptide.config.paths import find_paths, project_file
from deeptide.config.trust import distrust, is_trusted, trust
from deeptide.protocol.errors import ConfigError


def test_a_folder_is_trusted_with_what_lies_below_it_and_nothing_above(tmp_path: Path) -> None:
    paths, inner = find_paths(), tmp_path / "repo" / "sub"
    inner.mkdir(parents=True)
    assert not is_trusted(paths, inner)
    trust(paths, tmp_path / "repo")
    trust(paths, tmp_path / "repo")
    assert is_trusted(paths, inner) and is_trusted(paths, tmp_path / "repo")
    assert not is_trusted(paths, tmp_path) and not is_trusted(paths, tmp_path / "repository")
    assert distrust(paths, tmp_path / "repo") and not distrust(paths, tmp_path / "repo")
    assert not is_trusted(paths, inner)


def test_trusting_home_does_not_trust_every_repository_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    paths, repo = find_paths(), tmp_path / "repo"
    repo.mkdir()
    trust(paths, tmp_path)
    trust(paths, Path("/"))
    assert is_trusted(paths, tmp_path) and not is_trusted(paths, repo)


def test_a_link_is_trusted_as_what_it_points_to(tmp_path: Path) -> None:
    paths = find_paths()
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    trust(paths, tmp_path / "link")
    assert is_trusted(paths, tmp_path / "real")


def test_a_link_out_of_a_trusted_folder_is_not_trusted(tmp_path: Path) -> None:
    paths = find_paths()
    for name in ("good", "bad"):
        (tmp_path / name).mkdir()
    (tmp_path / "good" / "link").symlink_to(tmp_path / "bad")
    trust(paths, tmp_path / "good")
    assert not is_trusted(paths, tmp_path / "good" / "link")


def test_a_damaged_trust_file_is_named(tmp_path: Path) -> None:
    paths = find_paths()
    paths.home.mkdir()
    paths.trust_file.write_text("[]")
    with pytest.raises(ConfigError, match="damaged"):
        is_trusted(paths, tmp_path)


def test_our_home_holds_everything_when_it_is_named(tmp_path: Path) -> None:
    paths = find_paths({"DEEPTIDE_HOME": str(tmp_path / "x" / ".." / "y")})
    assert paths.home == tmp_path / "y"
    assert {paths.config_file.parent, paths.auth_file.parent, paths.trust_file.parent} == {paths.home}


def test_without_it_settings_are_where_people_look_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    paths = find_paths({})
    assert paths.config_file == tmp_path / ".config" / "deeptide" / "config.toml"
    assert paths.home.is_relative_to(tmp_path) and paths.home.name == "deeptide"
    assert find_paths({"XDG_CONFIG_HOME": "/etc/xdg"}).config_file == Path("/etc/xdg/deeptide/config.toml")


def test_a_home_that_cannot_be_found_is_a_readable_error() -> None:
    with pytest.raises(ConfigError, match="cannot be found"):
        find_paths({"DEEPTIDE_HOME": "~nobody-of-that-name/x"})


def test_a_project_brings_its_settings_in_its_own_folder(tmp_path: Path) -> None:
    assert project_file(tmp_path) == tmp_path / ".deeptide" / "config.toml"
