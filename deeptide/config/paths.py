"""Where our files are, decided once.

Invariant: with DEEPTIDE_HOME set, everything of ours lies in that one folder; without it, state is in the
platform's state folder and settings in `~/.config/deeptide`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec
import platformdirs

from deeptide.protocol.errors import ConfigError


class Paths(msgspec.Struct, frozen=True):
    """`home` holds sessions and private files (0700); `config_file` is the user's own settings."""

    home: Path
    config_file: Path

    @property
    def auth_file(self) -> Path:
        return self.home / "auth.json"

    @property
    def trust_file(self) -> Path:
        return self.home / "trust.json"


def find_paths(environ: Mapping[str, str] | None = None, home: Path | None = None) -> Paths:
    """The places for this user. `home` wins over DEEPTIDE_HOME, which wins over the platform's folders.

    Raises ConfigError when no home folder can be found at all.
    """
    env = os.environ if environ is None else environ
    chosen = home or _named(env.get("DEEPTIDE_HOME", ""))
    if chosen is not None:
        return Paths(chosen, chosen / "config.toml")
    try:
        config = _named(env.get("XDG_CONFIG_HOME", "")) or Path.home() / ".config"
        state = platformdirs.user_state_path("deeptide", appauthor=False)
    except RuntimeError as error:
        raise ConfigError(
            "No home folder could be found for this user.", "Set DEEPTIDE_HOME to a folder you can write to."
        ) from error
    return Paths(state, config / "deeptide" / "config.toml")


def project_file(workspace: Path) -> Path:
    """The settings a repository brings along; read only when its folder is trusted."""
    return workspace / ".deeptide" / "config.toml"


def _named(text: str) -> Path | None:
    if not text.strip():
        return None
    try:
        return Path(os.path.abspath(Path(text).expanduser()))
    except RuntimeError as error:
        raise ConfigError(f"The folder {text} cannot be found.", "Give an absolute path instead.") from error
