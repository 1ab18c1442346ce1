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
_MOST_VALUES = 64
_PLAIN = re.compile(r"[\w./,:@%+-]*\Z")
_EXPANSION = re.compile(r"\$\{(\w+|[@*#?!-])(?:(:?[-=?+])(.*))?\}\Z", re.DOTALL)


class State:
    """`cwds`: the folders it may be in, absolute, or MAYBE_ANYWHERE."""

    def __init__(self, cwd: str, home: str) -> None:
        self.home = home
        self.cwds: tuple[str, ...] = (cwd,)
        self.functions: tuple[str, ...] = ()
        self._variables: dict[str, tuple[str, ...]] = {"HOME": (home,)}
        self._unknown: frozenset[str] = frozenset()
        self._late = 0

    @contextmanager
    def scope(self) -> Iterator[None]:
        """A subshell: what changes inside is forgotten."""
        cwds, functions, variables, unknown = self.cwds, self.functions, dict(self._variables), self._unknown
        yield
        self.cwds, self.functions, self._variables, self._unknown = cwds, functions, variables, unknown

    @contextmanager
    def later(self) -> Iterator[None]:
        """What is written here runs at another time, in any folder, when every variable may hold something
        else."""
        cwds = self.cwds
        self.cwds = _bounded([*cwds, MAYBE_ANYWHERE])
        self._late += 1
        yield
        self._late -= 1
        self.cwds = cwds

    def merge(self, before: tuple[str, ...]) -> None:
        """A `cd` since `before` may have failed."""
        if self.cwds != before:
            self.cwds = _bounded([*self.cwds, *before])

    def assign(self, name: str, values: tuple[str, ...], *, known: bool = True) -> None:
        """`values` may be added to those before: whether the assignment happens is not followed. Without
        `known` it may be anything else, too."""
        before = self._variables.get(name, ())
        merged = tuple(dict.fromkeys((*before, *(values or ("",)))))
        self._variables[name] = merged[:_MOST_VALUES]
        if not known or len(merged) > _MOST_VALUES:
            self._unknown |= {name}

    def expanded(self, text: str) -> tuple[tuple[str, ...], bool]:
        """The values of `$NAME` or `${NAME...}`, unknown ones as empty, and whether these are all."""
        found = _EXPANSION.match(text)
        name = found[1] if found is not None else text.lstrip("$")
        values = self._variables.get(name, ())
        known = name in self._variables and name not in self._unknown
        known = known and (not self._late or name == "HOME")
        if name == "PWD":
            values = (*(cwd for cwd in self.cwds if cwd != MAYBE_ANYWHERE), *values)
            known = MAYBE_ANYWHERE not in self.cwds and name not in self._unknown
        if found is None:
            return values or ("",), known and text.startswith("$") and name.isidentifier()
        operator, word = found[2] or "", found[3] or ""
        bare = word.strip("\"'")
        written = _PLAIN.match(bare) is not None
        if operator in {"-", ":-", "=", ":="}:
            if "=" in operator:
                self.assign(name, (bare,), known=written)
            return (*values, bare), known and written
        if operator in {"+", ":+"}:
            return ("", bare), written
        if operator in {"?", ":?"}:
            # It ends the shell rather than being empty.
            return values or ("_",), known
        return values or ("",), known

    def change_folder(self, segment: Segment) -> None:
        """What `cd`, `pushd` or `popd` does."""
        operands = [arg for arg in segment.rest if not (arg.text.startswith("-") and len(arg.text) > 1)]
        if segment.name == "popd" or any(arg.text == "-" for arg in operands):
            self.cwds = (MAYBE_ANYWHERE,)
        elif not operands:
            self.cwds = (self.home,)
        else:
            self.cwds = self.folders(operands[0], segment.cwds)

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
        return _bounded([*found, MAYBE_ANYWHERE] if not target.known else found)


def _bounded(cwds: list[str]) -> tuple[str, ...]:
    distinct = tuple(dict.fromkeys(cwds))
    if len(distinct) <= _MOST_FOLDERS:
        return distinct
    return (*distinct[: _MOST_FOLDERS - 1], MAYBE_ANYWHERE)
