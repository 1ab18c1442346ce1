"""What a command hands to the next one through a pipe: operands for xargs, text for a shell.

Invariant: what is not written in the line counts as unknown, never as nothing.
"""

from __future__ import annotations

import re

from deeptide.permissions.finding import Find
from deeptide.permissions.segments import Segment, names
from deeptide.permissions.words import Arg
from deeptide.permissions.wrappers import joined

_PASSES = names("grep egrep head tail sort uniq tr")
UNKNOWN = Arg("…", "", ("",), True, True, False)
"""Operands of which nothing is known."""


def unfed(stdin: str | None, options: tuple[Arg, ...]) -> tuple[Arg, ...]:
    """The operands of xargs with `options` when nothing is piped into it."""
    known = tuple(Arg.literal(word) for word in (stdin or "").split())
    from_file = tuple(arg for arg in options if re.match(r"-a|--a", arg.text))
    return (*known, *(Arg(arg.raw, "", ("",), True, True, False) for arg in from_file), UNKNOWN)


def fed(upstream: tuple[Segment, ...]) -> tuple[tuple[Arg, ...], bool, bool]:
    """The operands that `… | xargs` may get: the folders of a find, or the words of the first command; whether
    they are only some of what lies there; whether they hold no secrets."""
    source = next((segment for segment in upstream if segment.name not in {"", "cd", "pushd", "set"}), None)
    if source is None:
        return (UNKNOWN,), True, False
    find = Find.of(source)
    narrow = any(segment.name in {"grep", "rg", "head", "tail", "sed", "awk"} for segment in upstream[1:])
    if find is not None:
        passes = all(segment.name in _PASSES for segment in upstream[1:])
        return find.roots, find.narrow or narrow, find.plain and passes and upstream[0] is source
    operands = tuple(arg for arg in source.rest if not arg.text.startswith("-"))
    if source.name == "ls" and not operands:
        operands = (Arg.literal("."),)
    listing = source.name in {"ls", "echo", "printf", "cat"}
    return operands if listing and source.name != "cat" else (UNKNOWN,), narrow, False


def spoken(upstream: tuple[Segment, ...]) -> str | None:
    """The text that reaches a shell through a pipe, if the line says it."""
    for segment in reversed(upstream):
        if segment.name in {"echo", "printf"}:
            text = joined(tuple(arg for arg in segment.rest if not re.fullmatch("-[neE]+", arg.text))).text
            return text.replace("\\n", "\n")
        if segment.stdin is not None:
            return segment.stdin
    return None
