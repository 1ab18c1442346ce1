"""The permission rules that were answered with `always`, kept for the folder they were given in.

Invariant: a rule is only ever added by the user's own answer, and holds only in the folder it was given for.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from deeptide.config.paths import Paths
from deeptide.protocol.errors import ConfigError
from deeptide.workspace.files import atomic_write, private_dir


class _RulesFile(msgspec.Struct):
    allow: dict[str, list[str]] = {}


def stored_rules(paths: Paths, workspace: Path) -> tuple[str, ...]:
    """The rules of `workspace`, oldest first. Raises ConfigError when the file is damaged."""
    return tuple(_read(paths).allow.get(str(workspace.resolve()), ()))


def store_rule(paths: Paths, workspace: Path, rule: str) -> None:
    """Adds `rule` for `workspace`; doing it twice changes nothing."""
    file, name = _read(paths), str(workspace.resolve())
    rules = file.allow.setdefault(name, [])
    if rule not in rules:
        rules.append(rule)
        private_dir(paths.home)
        atomic_write(_path(paths), msgspec.json.encode(file), private=True)


def _path(paths: Paths) -> Path:
    return paths.home / "rules.json"


def _read(paths: Paths) -> _RulesFile:
    try:
        return msgspec.json.decode(_path(paths).read_bytes(), type=_RulesFile)
    except FileNotFoundError:
        return _RulesFile()
    except (OSError, msgspec.MsgspecError) as error:
        raise ConfigError(
            f"{_path(paths)} cannot be read: {error}.", "Mend or delete it; the rules in it are then gone."
        ) from error
