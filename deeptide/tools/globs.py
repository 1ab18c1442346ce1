"""One meaning of a file pattern, for glob and grep, with and without ripgrep.

`*` and `?` stay within a name, `**` spans folders, `[a-z]` and `[!a-z]` are sets, `{a,b}` are alternatives. A
pattern without a slash matches a file's name at any depth; with one, the whole path from the root searched.

Invariant: matching takes time in proportion to pattern times path, whatever the pattern.
"""

from __future__ import annotations

import fnmatch
import re
from functools import lru_cache

from deeptide.protocol.errors import ToolError

_ALTERNATIVES = 64


class Matcher:
    """Called with a path relative to the root searched, with forward slashes. `hidden`: the pattern names a
    hidden file or folder, so those must be listed."""

    def __init__(self, pattern: str) -> None:
        text = pattern.strip().removeprefix("./").lstrip("/")
        if not text:
            raise ToolError("The pattern is empty.", "Give one like *.py or src/**/*.ts.")
        self.by_name = "/" not in text
        self._choices = [_parts(choice) for choice in _braces(text)]
        self.hidden = any(part.startswith(".") for choice in self._choices for part in choice)

    def __call__(self, path: str) -> bool:
        names = path.rsplit("/", 1)[-1:] if self.by_name else path.split("/")
        return any(_match(choice, names) for choice in self._choices)


def _braces(text: str) -> list[str]:
    """`a{b,c}d` as [`abd`, `acd`], nested ones too; a brace without its partner stands for itself."""
    queue, done = [text], []
    while queue:
        current = queue.pop(0)
        group = _first_group(current)
        if group is None:
            done.append(current)
        else:
            start, end, options = group
            queue = [current[:start] + option + current[end:] for option in options] + queue
        if len(queue) + len(done) > _ALTERNATIVES:
            raise ToolError(f"The pattern has more than {_ALTERNATIVES} alternatives.", "Use fewer braces.")
    return done


def _first_group(text: str) -> tuple[int, int, list[str]] | None:
    start = text.find("{")
    while start >= 0:
        depth, options, since = 0, [], start + 1
        for at in range(start, len(text)):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            if depth == 1 and text[at] == ",":
                options.append(text[since:at])
                since = at + 1
            elif depth == 0:
                return start, at + 1, [*options, text[since:at]]
        start = text.find("{", start + 1)
    return None


def _parts(text: str) -> list[str]:
    parts: list[str] = []
    for part in text.split("/"):
        if part in ("", ".") or (part == "**" and parts[-1:] == ["**"]):
            continue
        parts.append(part)
    return [*parts, "**"] if text.endswith("/") and parts[-1:] != ["**"] else parts


def _match(parts: list[str], names: list[str]) -> bool:
    """Row by row: `reach[j]` is whether the parts so far match the first j names."""
    reach = [True] + [False] * len(names)
    for part in parts:
        if part == "**":
            first = next((j for j, ok in enumerate(reach) if ok), len(names) + 1)
            reach = [j >= first for j in range(len(names) + 1)]
        else:
            name = _name(part)
            reach = [False] + [reach[j] and bool(name.match(names[j])) for j in range(len(names))]
    return reach[-1]


@lru_cache(maxsize=512)
def _name(part: str) -> re.Pattern[str]:
    """One part of a pattern as a regular expression; the standard library's translation never backtracks
    over more than one star."""
    return re.compile(fnmatch.translate(part.replace("[^", "[!")))
