"""Writing one setting back into the user's own file.

Invariant: only that one value changes; comments, order and everything else stay byte for byte. The result is
parsed first, and when it is not exactly the old settings with the one change, nothing is written.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from deeptide.config.example import toml_line
from deeptide.config.load import checked, from_text, read_toml
from deeptide.config.paths import Paths
from deeptide.config.schema import Setting, all_settings
from deeptide.protocol.errors import ConfigError
from deeptide.workspace.files import atomic_write, private_dir

_HEADER = re.compile(r"^\s*\[+\s*([^\]]+?)\s*\]+")


def save(paths: Paths, key: str, value: object) -> str:
    """Sets `key` (dotted) in the user's file; text is read as the setting's type. Returns the line written.

    Raises ConfigError for a wrong key or value, or when the file is written in a form (inline table, a value
    over several lines) that cannot be changed without touching the rest.
    """
    setting = all_settings().get(key)
    if setting is None:
        raise ConfigError(f"{key} is not a setting.", "`deeptide config --example` lists them all.")
    wanted = (
        from_text(setting, value, "value") if isinstance(value, str) else checked(setting, value, "value")
    )
    before = read_toml(paths.config_file)
    text = paths.config_file.read_bytes().decode("utf-8-sig") if before or paths.config_file.exists() else ""
    section, _, name = key.partition(".")
    line = toml_line(name, wanted)
    after = _with_line(text, section, name, line)
    if not _is_that_change(before, after, setting, wanted):
        raise ConfigError(
            f"{paths.config_file} was left as it is: {key} stands there in a form that is unsafe to change.",
            f"Put this line under [{section}] yourself: {line}",
        )
    private_dir(paths.config_file.parent)
    atomic_write(paths.config_file, after.encode("utf-8"))
    return line


def _with_line(text: str, section: str, name: str, line: str) -> str:
    """`text` with `line` in place of the key's own line, else first in its table, else in a new table."""
    newline = "\r\n" if "\r\n" in text else "\n"
    # TOML ends a line with a line feed only; str.splitlines would cut strings at other characters.
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    at = next((i for i, row in enumerate(lines) if _header(row) == section), None)
    if at is None:
        gap = newline if text and not text.endswith(("\n\n", "\r\n\r\n")) else ""
        end = "" if not text or text.endswith("\n") else newline
        return f"{text}{end}{gap}[{section}]{newline}{line}{newline}"
    own = re.compile(rf"^\s*(?:{re.escape(name)}|\"{re.escape(name)}\"|'{re.escape(name)}')\s*=")
    for i in range(at + 1, len(lines)):
        if _header(lines[i]) is not None:
            break
        if own.match(lines[i]):
            lines[i] = f"{line}{_comment(lines[i])}{newline if lines[i].endswith(chr(10)) else ''}"
            return "".join(lines)
    if not lines[at].endswith("\n"):
        lines[at] += newline
    lines.insert(at + 1, line + newline)
    return "".join(lines)


def _header(row: str) -> str | None:
    found = _HEADER.match(row)
    return found.group(1).strip("\"'") if found else None


def _comment(row: str) -> str:
    """The comment after a value, with the blanks before it; a `#` inside a string is none."""
    for found in re.finditer(r"\s*#", row):
        try:
            tomllib.loads(row[: found.start()])
        except tomllib.TOMLDecodeError:
            continue
        return row[found.start() :].rstrip("\r\n")
    return ""


def _is_that_change(before: dict[str, Any], after: str, setting: Setting, wanted: object) -> bool:
    try:
        found = tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        return False
    section, _, name = setting.key.partition(".")
    plain = list(wanted) if isinstance(wanted, tuple) else wanted
    expected = {**before, section: {**before.get(section, {}), name: plain}}
    return found == expected
