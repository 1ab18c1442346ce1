"""One policy for secret files, whichever door they are read through."""

from __future__ import annotations

import pytest

from deeptide.permissions.secrets import guarded


@pytest.mark.parametrize(
    "path",
    [
        "/w/.env",
        "/w/.env.local",
        "/w/prod.env",
        "/w/.ENV",
        "/w/server.pem",
        "/w/a.key",
        "/w/id_rsa",
        "/home/u/.ssh",
        "/home/u/.ssh/config",
        "/home/u/.aws/credentials",
        "/home/u/.netrc",
        "/w/.npmrc",
        "/proc/self/environ",
        "/proc/123/environ",
        "/etc/shadow",
        "/home/u/.local/state/deeptide/auth.json",
    ],
)
def test_secret_files_are_guarded(path: str) -> None:
    assert guarded(path, "/home/u")


@pytest.mark.parametrize(
    "path",
    [
        "/w/.env.example",
        "/w/.env.sample",
        "/w/environment.py",
        "/w/keys.py",
        "/w/id_rsa.pub",
        "/home/u/.sshrc",
        "/w/a.md",
    ],
)
def test_ordinary_files_are_not(path: str) -> None:
    assert not guarded(path, "/home/u")
