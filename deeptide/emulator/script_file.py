"""Reading a script from a file, in the form that `FORM` tells users.

Invariant: a wrong key or value is an error that names the file and the line; nothing is guessed.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from deeptide.emulator.says import Line, Say
from deeptide.protocol.errors import ConfigError

FORM = """\
The script, JSON lines (`.jsonl`) or TOML (`[[say]]` tables with the same keys):

    {"text": "Hello", "thinking": "The user greets me."}
    {"match": "(?i)fix", "calls": [{"name": "read", "args": {"path": "a.py"}}]}
    {"turn": 3, "times": 1, "fault": {"kind": "stall", "at": 5}, "text": "a long answer"}

`turn`, `match` and `times` say when a line is used; the rest is one answer (text, thinking, calls, finish,
usage, delay, queue, keep_alive, fault, leak, wire, model). Empty lines and `#` lines are skipped. A wrong key
or value is an error that names the file and the line."""

_CONDITIONS = ("turn", "match", "times")


def read_lines(path: Path) -> list[Line]:
    """Raises ConfigError: unreadable file, bad syntax, unknown key, wrong type."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"Cannot read the script {path}: {error}", "Check the path.") from error
    if path.suffix == ".toml":
        return _from_toml(path, text)
    return _from_json_lines(path, text)


def _from_toml(path: Path, text: str) -> list[Line]:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}") from error
    return [_line(entry, f"{path}, say {n}") for n, entry in enumerate(table.get("say", []), 1)]


def _from_json_lines(path: Path, text: str) -> list[Line]:
    lines = []
    for n, raw in enumerate(text.splitlines(), 1):
        if not raw.strip() or raw.lstrip().startswith("#"):
            continue
        try:
            entry = json.loads(raw)
        except json.JSONDecodeError as error:
            raise ConfigError(f"{path}, line {n} is not JSON: {error}") from error
        lines.append(_line(entry, f"{path}, line {n}"))
    return lines


def _line(entry: Any, where: str) -> Line:
    if not isinstance(entry, dict):
        raise ConfigError(f"{where}: an object is expected")
    conditions = {key: entry[key] for key in _CONDITIONS if key in entry}
    answer = {key: value for key, value in entry.items() if key not in _CONDITIONS}
    unknown = sorted(set(answer) - set(Say.__struct_fields__))
    if unknown:
        allowed = ", ".join((*_CONDITIONS, *Say.__struct_fields__))
        raise ConfigError(f"{where}: unknown key {unknown[0]!r}", f"Allowed: {allowed}.")
    try:
        return msgspec.convert({"say": answer, **conditions}, Line)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where}: {error}") from error
