"""Keys: which one goes where, and how one is kept."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from deeptide.config.auth import find_key, forget_key, store_key
from deeptide.config.paths import Paths, find_paths
from deeptide.protocol.errors import ConfigError

OFFICIAL = "https://api.deepseek.com"
FOREIGN = "https://models.example.org/v1"
LOCAL = "http://127.0.0.1:8080/v1"


@pytest.fixture
def paths() -> Paths:
    return find_paths()


def test_a_stored_key_is_private_from_the_first_moment(paths: Paths) -> None:
    old = os.umask(0)
    try:
        store_key(paths, OFFICIAL, " sk-one\n")
    finally:
        os.umask(old)
    assert find_key(paths, OFFICIAL, {}).value == "sk-one"
    assert stat.S_IMODE(paths.auth_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(paths.home.stat().st_mode) == 0o700


def test_the_environment_wins_over_the_file(paths: Paths) -> None:
    store_key(paths, OFFICIAL, "sk-file")
    key = find_key(paths, OFFICIAL, {"DEEPSEEK_API_KEY": "sk-env"})
    assert (key.value, key.source) == ("sk-env", "environment DEEPSEEK_API_KEY")
    key = find_key(paths, OFFICIAL, {"DEEPSEEK_API_KEY": "sk-env", "DEEPTIDE_API_KEY": "sk-own"})
    assert key.value == "sk-own"


def test_the_deepseek_key_goes_to_deepseek_and_to_this_machine_only(paths: Paths) -> None:
    environ = {"DEEPSEEK_API_KEY": "sk-env"}
    assert find_key(paths, "https://api.deepseek.com/beta", environ).value == "sk-env"
    assert find_key(paths, LOCAL, environ).value == "sk-env"
    assert find_key(paths, FOREIGN, environ).value == "no-key"
    assert find_key(paths, "https://deepseek.com.example.org", environ).value == "no-key"
    assert find_key(paths, "https://notdeepseek.com", environ).value == "no-key"
    assert find_key(paths, FOREIGN, {"DEEPTIDE_API_KEY": "sk-own"}).value == "sk-own"


def test_a_stored_key_goes_to_the_host_it_was_stored_for(paths: Paths) -> None:
    store_key(paths, FOREIGN, "sk-foreign")
    store_key(paths, OFFICIAL, "sk-official")
    assert find_key(paths, FOREIGN, {}).value == "sk-foreign"
    assert find_key(paths, OFFICIAL, {}).value == "sk-official"
    assert find_key(paths, LOCAL, {}).value == "no-key"


def test_a_missing_key_for_deepseek_is_empty(paths: Paths) -> None:
    assert find_key(paths, OFFICIAL, {}).value == ""


def test_forgetting_takes_only_that_key(paths: Paths) -> None:
    store_key(paths, FOREIGN, "sk-foreign")
    store_key(paths, OFFICIAL, "sk-official")
    assert forget_key(paths, OFFICIAL) and not forget_key(paths, OFFICIAL)
    assert find_key(paths, FOREIGN, {}).value == "sk-foreign"


@pytest.mark.parametrize("text", ["", "  ", "hi", "n", "sk one", "sk-\x1b[1m", "密钥"])
def test_what_cannot_be_a_key_is_refused(paths: Paths, text: str) -> None:
    with pytest.raises(ConfigError):
        store_key(paths, OFFICIAL, text)
    assert not paths.auth_file.exists()


@pytest.mark.parametrize("damage", [b"{", b'{"keys": 1}', b"\xff\xfe"])
def test_a_damaged_file_is_named_with_the_way_out(paths: Paths, damage: bytes) -> None:
    paths.home.mkdir()
    paths.auth_file.write_bytes(damage)
    with pytest.raises(ConfigError) as caught:
        find_key(paths, OFFICIAL, {})
    assert str(paths.auth_file) in str(caught.value) and "login" in caught.value.advice


def test_a_key_is_not_in_its_own_representation(paths: Paths) -> None:
    assert "sk-secret" not in repr(find_key(paths, OFFICIAL, {"DEEPSEEK_API_KEY": "sk-secret"}))


def test_an_old_umask_does_not_loosen_an_existing_home(tmp_path: Path) -> None:
    loose = tmp_path / "loose"
    loose.mkdir(mode=0o755)
    store_key(find_paths({}, loose), OFFICIAL, "sk-one")
    assert stat.S_IMODE(loose.stat().st_mode) == 0o700
