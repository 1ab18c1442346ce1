"""`config`: what is in force and where it came from; one value read or changed.

Invariant: it shows exactly what a session started here would get.
"""

from __future__ import annotations

import sys

import msgspec

from deeptide.cli.invocation import Invocation
from deeptide.cli.terminal import say
from deeptide.config.example import example, toml_line
from deeptide.config.load import Loaded, load
from deeptide.config.paths import find_paths
from deeptide.config.save import save
from deeptide.config.schema import all_settings
from deeptide.config.trust import is_trusted
from deeptide.headless.exits import Exit
from deeptide.protocol.errors import UsageError


def run_config(call: Invocation) -> int:
    """Raises UsageError for a wrong combination of words, ConfigError for a wrong file, key or value."""
    if call.example:
        sys.stdout.write(example())
        return Exit.OK
    paths = find_paths()
    match call.action, call.key, call.value:
        case "path", "", None:
            say(str(paths.config_file))
        case "show", "", None:
            workspace = call.workspace
            loaded = load(paths, workspace, trusted=is_trusted(paths, workspace))
            _show(loaded)
            for notice in loaded.notices:
                print(notice, file=sys.stderr)
        case "get", key, None if key:
            workspace = call.workspace
            say(_value(load(paths, workspace, trusted=is_trusted(paths, workspace)), key))
        case "set", key, str() as value if key:
            line = save(paths, key, value)
            say(f"{paths.config_file}: {line}")
        case _:
            raise UsageError(
                "That is not a way to use `deeptide config`.",
                "Use `config`, `config get KEY`, `config set KEY VALUE`, `config path`, `config --example`.",
            )
    return Exit.OK


def _show(loaded: Loaded) -> None:
    section = ""
    for key in all_settings():
        table, _, name = key.partition(".")
        if table != section:
            say(f"{'' if not section else chr(10)}[{table}]")
            section = table
        source = loaded.sources.get(key)
        say(f"{toml_line(name, _raw(loaded, key))}{f'  # from {source}' if source else ''}")
    for name, entry in loaded.settings.models.items():
        say(f'\n[models."{name}"]')
        for key, value in msgspec.structs.asdict(entry).items():
            if value is not None:
                say(toml_line(key, value))


def _raw(loaded: Loaded, key: str) -> object:
    table, _, name = key.partition(".")
    return getattr(getattr(loaded.settings, table), name)


def _value(loaded: Loaded, key: str) -> str:
    if key not in all_settings():
        raise UsageError(f"{key} is not a setting.", "`deeptide config` lists them all.")
    value = _raw(loaded, key)
    return value if isinstance(value, str) else toml_line("x", value).removeprefix("x = ")
