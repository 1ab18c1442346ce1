"""The layers over the defaults: your file, a trusted project's file, the environment, flags.

Invariant: whatever is wrong is a ConfigError naming the layer, the key, what is allowed and, for an unknown
key, the nearest one. Nothing is silently skipped; foreign DEEPTIDE_ variables give a notice.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from deeptide.config.paths import Paths, project_file
from deeptide.config.schema import (
    SECTIONS,
    ContextSettings,
    ModelEntry,
    Setting,
    Settings,
    all_settings,
    settings_of,
)
from deeptide.protocol.errors import ConfigError, WorkspaceError
from deeptide.workspace.files import read_bytes

SHORT = {
    "DEEPTIDE_MODEL": "model.name",
    "DEEPTIDE_EFFORT": "model.effort",
    "DEEPTIDE_BASE_URL": "model.base_url",
    "DEEPTIDE_MODE": "permissions.mode",
}
"""The environment names that are shorter than DEEPTIDE_<SECTION>_<KEY>."""
OTHER_VARIABLES = frozenset({"DEEPTIDE_HOME", "DEEPTIDE_API_KEY", "DEEPTIDE_DEEP"})
"""Variables of ours that are not settings."""
ONLY_YOURS = {
    "model.base_url": "A repository must not choose where your key and your files are sent.",
    "permissions.mode": "A repository must not start you in yolo.",
}
"""Keys (or values) a project file may not set, and why."""


class Loaded(msgspec.Struct, frozen=True):
    """Settings in force. `sources` names the layer of each key that is not a default; `notices` are sentences
    for the reader."""

    settings: Settings
    sources: dict[str, str]
    notices: tuple[str, ...] = ()


class _Layers:
    """Checked values by dotted key, each with the layer it came from; later layers overwrite."""

    def __init__(self) -> None:
        self.known = all_settings()
        self.values: dict[str, Any] = {}
        self.models: dict[str, dict[str, Any]] = {}
        self.sources: dict[str, str] = {}

    def put(self, key: str, value: object, where: str) -> None:
        setting = self.known.get(key)
        if setting is None:
            raise _unknown(key, where, self.known)
        self.values[key] = checked(setting, value, where)
        self.sources[key] = where

    def put_file(self, data: dict[str, Any], where: str) -> None:
        for section, table in data.items():
            if section not in SECTIONS and section != "models":
                raise _unknown(section, where, [*SECTIONS, "models"])
            if not isinstance(table, dict):
                raise ConfigError(f"{where}: {section} must be a table, like [{section}].")
            if section == "models":
                self._put_models(table, where)
            else:
                for key, value in table.items():
                    self.put(f"{section}.{key}", value, where)

    def _put_models(self, table: dict[str, Any], where: str) -> None:
        known = {setting.key.partition(".")[2]: setting for setting in settings_of("models", ModelEntry)}
        for name, entry in table.items():
            head = f'models."{name}"'
            if not isinstance(entry, dict):
                raise ConfigError(f"{where}: {head} must be a table, like [{head}].")
            for key, value in entry.items():
                if key not in known:
                    raise _unknown(f"{head}.{key}", where, [f"{head}.{known_key}" for known_key in known])
                setting = msgspec.structs.replace(known[key], key=f"{head}.{key}")
                self.models.setdefault(name, {})[key] = checked(setting, value, where)
                self.sources[f"{head}.{key}"] = where

    def settings(self) -> Settings:
        tables: dict[str, dict[str, Any]] = {}
        for key, value in self.values.items():
            section, _, name = key.partition(".")
            tables.setdefault(section, {})[name] = value
        parts: dict[str, Any] = {name: SECTIONS[name](**table) for name, table in tables.items()}
        models = {name: ModelEntry(**entry) for name, entry in self.models.items()}
        return Settings(models=models, **parts)


def load(
    paths: Paths,
    workspace: Path | None = None,
    *,
    trusted: bool = False,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
) -> Loaded:
    """The settings in force for `workspace`. `flags` maps dotted keys to values. Raises ConfigError."""
    layers, notices = _Layers(), []
    layers.put_file(read_toml(paths.config_file), str(paths.config_file))
    if workspace is not None and project_file(workspace).is_file():
        project = project_file(workspace)
        if trusted:
            data = read_toml(project)
            _refuse_project_keys(data, project)
            layers.put_file(data, str(project))
        else:
            notices.append(
                f"{project} was not read because this folder is not trusted. Start with --trust to trust it."
            )
    notices += _put_environment(layers, os.environ if environ is None else environ)
    for key, value in (flags or {}).items():
        layers.put(key, value, "command line")
    settings = layers.settings()
    notices += _never_acting(settings.context)
    return Loaded(settings, layers.sources, tuple(notices))


def read_toml(path: Path) -> dict[str, Any]:
    """The parsed file, or an empty table if there is none. Raises ConfigError when it cannot be read."""
    try:
        os.stat(path)
        data = read_bytes(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.", "Mend its permissions.") from error
    except WorkspaceError as error:
        raise ConfigError(str(error), error.advice) from error
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path} is not UTF-8 text (byte {error.start + 1}).", "Save it as UTF-8."
        ) from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(
            f"{path} is not valid TOML: {error}.", "Mend that line, or move the file away."
        ) from error


def checked(setting: Setting, value: object, where: str) -> Any:
    """`value` as the setting's type. Raises ConfigError naming the layer, the key and what is allowed."""
    plain = value.strip() if isinstance(value, str) else value
    try:
        result = msgspec.convert(plain, setting.type)
    except msgspec.ValidationError as error:
        raise ConfigError(
            f"{where}: {setting.key} is {_shown(value)}; allowed: {setting.allowed}."
        ) from error
    if isinstance(result, float) and not result < float("inf"):
        raise ConfigError(f"{where}: {setting.key} is {_shown(value)}; allowed: {setting.allowed}.")
    return result


def from_text(setting: Setting, text: str, where: str) -> Any:
    """A value typed as text (an environment variable, `deeptide config set`) as the setting's type."""
    if isinstance(setting.default, bool):
        word = {
            "1": True,
            "true": True,
            "on": True,
            "yes": True,
            "0": False,
            "false": False,
            "off": False,
            "no": False,
        }
        return checked(setting, word.get(text.strip().lower(), text), where)
    if isinstance(setting.default, int | float):
        number = int if isinstance(setting.default, int) else float
        try:
            return checked(setting, number(text.strip()), where)
        except ValueError:
            return checked(setting, text, where)
    if isinstance(setting.default, tuple):
        return checked(setting, [part.strip() for part in text.split(",") if part.strip()], where)
    return checked(setting, text, where)


def _put_environment(layers: _Layers, environ: Mapping[str, str]) -> list[str]:
    names = {f"DEEPTIDE_{key.replace('.', '_').upper()}": key for key in layers.known} | SHORT
    notices = []
    # Sorted so that the long form, which comes after its short form, wins whatever the environment's order.
    for name in sorted(environ):
        if not name.startswith("DEEPTIDE_") or name in OTHER_VARIABLES or not environ[name].strip():
            continue
        if name in names:
            key = names[name]
            layers.values[key] = from_text(layers.known[key], environ[name], f"environment {name}")
            layers.sources[key] = f"environment {name}"
        else:
            notices.append(f"The environment variable {name} is not a setting{_hint(name, names)}")
    return notices


def _refuse_project_keys(data: dict[str, Any], project: Path) -> None:
    for key, why in ONLY_YOURS.items():
        section, _, name = key.partition(".")
        table = data.get(section)
        if not isinstance(table, dict) or name not in table:
            continue
        if key == "permissions.mode" and table[name] != "yolo":
            continue
        raise ConfigError(
            f"{project}: {key} = {_shown(table[name])} is not allowed in a project's file. {why}",
            "Take that line out, or set it in your own settings file.",
        )


def _never_acting(context: ContextSettings) -> list[str]:
    """Thresholds that are right alone and can never act under the chosen policy."""
    if (
        context.automatic == "ladder"
        and context.auto_compact
        and context.auto_compact_at > context.soft_limit
    ):
        return [
            f"context.auto_compact_at ({context.auto_compact_at}) will never act: with automatic = ladder the "
            f"soft limit ({context.soft_limit}) compacts earlier."
        ]
    return []


def _unknown(key: str, where: str, known: Mapping[str, object] | list[str]) -> ConfigError:
    names = list(known)
    return ConfigError(
        f"{where}: {key} is not a setting{_hint(key, names)}", "`deeptide config --example` lists them all."
    )


def _hint(name: str, known: Mapping[str, object] | list[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    if not near:
        last = name.rpartition(".")[2]
        near = [key for key in known if key.rpartition(".")[2] == last][:1]
    return f"; did you mean {near[0]}?" if near else "."


def _shown(value: object) -> str:
    text = (
        f'"{value}"'
        if isinstance(value, str)
        else str(value).lower()
        if isinstance(value, bool)
        else str(value)
    )
    return text if len(text) <= 60 else text[:57] + "..."
