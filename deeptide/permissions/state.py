"""What the shell knows at one point of a line: where it is and what its variables hold.

Invariant: every possibility is kept side by side; when they become too many the folder counts as unknown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from deeptide.permissions.segments import MAYBE_ANYWHERE, Segment
from deeptide.permissions.words import Arg, plain

_MOST_FOLDERS = 8
_EXPANSION = re.compile(r"\$\{(\w+|[@*#?!-])(?:(:?[-=?+])(.*))?\}\Z", re.DOTALL)


class State:
    """`cwds`: the folders it may be in, absolute, or MAYBE_ANYWHERE."""

    def __init__(self, cwd: str, home: str) -> None:
        self.home = home
        self.cwds: tuple[str, ...] = (cwd,)
        self._variables: dict[str, tuple[str, ...]] = {"HOME": (home,), "PWD": (cwd,)}

    @contextmanager
    def scope(self) -> Iterator[None]:
        """A subshell: what changes inside is forgotten."""
        cwds, variables = self.cwds, dict(self._variables)
        yield
        self.cwds, self._variables = cwds, variables

    def merge(self, before: tuple[str, ...]) -> None:
        """A `cd` since `before` may have failed."""
        if self.cwds != before:
            self.cwds = _bounded([*self.cwds, *before])

    def assign(self, name: str, values: tuple[str, ...]) -> None:
        self._variables[name] = values or ("",)

    def expanded(self, text: str) -> tuple[str, ...]:
        """The values of `$NAME` or `${NAME...}`, unknown ones as empty."""
        found = _EXPANSION.match(text)
        if found is None:
            return self._variables.get(text[1:], ("",))
        name, operator, word = found[1], found[2] or "", found[3] or ""
        known = self._variables.get(name, ())
        if operator in {"-", ":-", "=", ":="}:
            return (*known, word.strip("\"'"))
        if operator in {"+", ":+"}:
            return ("", word.strip("\"'"))
        if operator in {"?", ":?"}:
            # It ends the shell rather than being empty.
            return known or ("_",)
        return known or ("",)

    def change_folder(self, segment: Segment) -> None:
        """What `cd`, `pushd` or `popd` does."""
        operands = [arg for arg in segment.rest if not (arg.text.startswith("-") and len(arg.text) > 1)]
        if segment.name == "popd" or any(arg.text == "-" for arg in operands):
            self.cwds = (MAYBE_ANYWHERE,)
        elif not operands:
            self.cwds = (self.home,)
        else:
            self.cwds = self.folders(operands[0], segment.cwds)
        self._variables["PWD"] = tuple(cwd for cwd in self.cwds if cwd != MAYBE_ANYWHERE) or ("",)

    def folders(self, target: Arg, cwds: tuple[str, ...]) -> tuple[str, ...]:
        """The folders that `target` may name when started from `cwds`."""
        found: list[str] = []
        for value in target.values:
            place = plain(value)
            if target.leads and not place:
                found.append(self.home)
                continue
            for cwd in cwds:
                known = os.path.isabs(place) or cwd != MAYBE_ANYWHERE
                found.append(os.path.normpath(os.path.join(cwd, place)) if known else MAYBE_ANYWHERE)
        return _bounded([*found, MAYBE_ANYWHERE] if target.dynamic else found)


def _bounded(cwds: list[str]) -> tuple[str, ...]:
    distinct = tuple(dict.fromkeys(cwds))
    if len(distinct) <= _MOST_FOLDERS:
        return distinct
    return (*distinct[: _MOST_FOLDERS - 1], MAYBE_ANYWHERE)
