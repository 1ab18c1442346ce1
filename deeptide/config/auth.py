"""Where the API key comes from, and the file that keeps one.

Invariant: a key goes only to the host it is meant for. DEEPTIDE_API_KEY goes wherever the user points;
DEEPSEEK_API_KEY goes to deepseek.com and to this machine; a stored key goes to the host it was stored for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

import msgspec

from deeptide.config.paths import Paths
from deeptide.protocol.errors import ConfigError, WorkspaceError
from deeptide.workspace.files import atomic_write, private_dir, read_bytes

SHORTEST = 6
"""Characters; a shorter word was typed by mistake."""
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})


class Key(msgspec.Struct, frozen=True):
    """`value` is empty when no key was found and the host is not known to work without one.
    `source` is a phrase for the reader: `environment DEEPSEEK_API_KEY`, a file, `none needed`."""

    value: str
    source: str

    def __repr__(self) -> str:
        return f"Key(source={self.source!r})"


def host_of(base_url: str) -> str:
    """The lower-case host name of an address, without a port. Raises ConfigError if it is none."""
    try:
        return (urlsplit(base_url).hostname or "").lower()
    except ValueError as error:
        raise ConfigError(
            f"{base_url} is not an address: {error}.", "Give one like https://host/v1."
        ) from error


def is_official(base_url: str) -> bool:
    """Whether the address is DeepSeek's own."""
    host = host_of(base_url)
    return host == "deepseek.com" or host.endswith(".deepseek.com")


def find_key(paths: Paths, base_url: str, environ: Mapping[str, str] | None = None) -> Key:
    """The key for `base_url`. Raises ConfigError only when the auth file is damaged."""
    env = os.environ if environ is None else environ
    host, official = host_of(base_url), is_official(base_url)
    names = ["DEEPTIDE_API_KEY"] + (["DEEPSEEK_API_KEY"] if official or host in LOCAL_HOSTS else [])
    for name in names:
        if value := env.get(name, "").strip():
            return Key(value, f"environment {name}")
    if value := _stored(paths).get(host, ""):
        return Key(value, str(paths.auth_file))
    return Key("", "none") if official else Key("no-key", "none needed")


def store_key(paths: Paths, base_url: str, key: str) -> None:
    """Keeps `key` for the host of `base_url` in a file only this user can read.

    Raises ConfigError when the key cannot be one (empty, blanks or control characters inside).
    """
    value = key.strip()
    if len(value) < SHORTEST or not value.isascii() or not value.isprintable() or " " in value:
        raise ConfigError(
            f"That is not an API key: it must be one word of at least {SHORTEST} plain characters.",
            "Copy it again; nothing was stored.",
        )
    keys = {**_stored(paths), host_of(base_url): value}
    _write(paths, keys)


def forget_key(paths: Paths, base_url: str) -> bool:
    """Takes the stored key for that host away; False if there was none."""
    keys = _stored(paths)
    if keys.pop(host_of(base_url), None) is None:
        return False
    _write(paths, keys)
    return True


class _AuthFile(msgspec.Struct):
    keys: dict[str, str] = {}


def _stored(paths: Paths) -> dict[str, str]:
    if not paths.auth_file.exists():
        return {}
    try:
        return msgspec.json.decode(read_bytes(paths.auth_file), type=_AuthFile).keys
    except WorkspaceError as error:
        raise ConfigError(str(error), error.advice or "Mend its permissions.") from error
    except msgspec.MsgspecError as error:
        raise ConfigError(
            f"{paths.auth_file} is damaged.", "Delete it and run `deeptide login` again."
        ) from error


def _write(paths: Paths, keys: dict[str, str]) -> None:
    private_dir(paths.home)
    atomic_write(paths.auth_file, msgspec.json.encode(_AuthFile(keys)), private=True)
