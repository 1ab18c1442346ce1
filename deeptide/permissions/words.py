"""What one word of a shell line can become: quotes taken off, braces, tildes and known variables filled in.

Invariant: everything that cannot be known is tried as empty, because that is how `rm -rf "$DIR/"` ends at the
root.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import msgspec

MOST = 64
"""Readings of one word that are followed; beyond that it counts as unknown."""

_GLOB = str.maketrans({"*": "\ue000", "?": "\ue001", "[": "\ue002"})
_UNGLOB = str.maketrans({"\ue000": "*", "\ue001": "?", "\ue002": "["})

Token = tuple[str, str]
"""One character and how it stands: `q` quoted, `b` bare, `v` from a variable (globs, but no braces or
tilde)."""


class Arg(msgspec.Struct, frozen=True):
    """`text`: with quotes off and unknowns as empty. `values`: every reading, as glob patterns in which
    quoted wildcards are hidden (see `plain`). `dynamic`: a part is not written in the line. `leads`: the
    first part. `known`: `values` are all that it can become."""

    raw: str
    text: str
    values: tuple[str, ...]
    dynamic: bool = False
    leads: bool = False
    known: bool = True

    @classmethod
    def literal(cls, text: str) -> Arg:
        return cls(text, text, (text.translate(_GLOB),))


def plain(value: str) -> str:
    """A reading as a path, its quoted wildcards literal again."""
    return value.translate(_UNGLOB)


class Word:
    """A word under construction: all its readings at once. `overflow`: there are more than are followed."""

    def __init__(self, raw: str) -> None:
        self._raw = raw
        self._readings: list[list[Token]] = [[]]
        self._dynamic = False
        self._leads = False
        self._known = True
        self._bare_variable = False
        self.overflow = False

    def add(self, text: str, kind: str) -> None:
        self._bare_variable = False
        for reading in self._readings:
            reading.extend((character, kind) for character in text)

    def choose(self, choices: Iterable[str], *, quoted: bool, known: bool = False) -> None:
        """A variable or substitution that may be any of `choices`; if they are not `known` to be all, of
        anything."""
        self._known = self._known and known
        if not any(self._readings):
            self._leads = True
            self._bare_variable = not quoted
        else:
            self._bare_variable = False
        self._dynamic = True
        kind = "q" if quoted else "v"
        options = list(dict.fromkeys(choices)) or [""]
        product = [
            reading + [(character, kind) for character in option]
            for reading in self._readings
            for option in options
        ]
        self.overflow = self.overflow or len(product) > MOST
        self._readings = product[:MOST]

    def finish(self, home: str, cwd: str) -> Arg:
        values: list[str] = []
        for reading in self._readings:
            for tokens in _braces(reading):
                self.overflow = self.overflow or _odd(tokens)
                value = "".join(_token_text(token) for token in _tilde(tokens, home, cwd))
                values.extend(value.split() or [""] if self._bare_variable else [value])
        values = list(dict.fromkeys(values))
        self.overflow = self.overflow or len(values) > MOST
        first = "".join(character for character, _ in self._readings[0])
        known = self._known and not self.overflow
        return Arg(self._raw, first, tuple(values[:MOST]), self._dynamic, self._leads, known)


def _token_text(token: Token) -> str:
    character, kind = token
    return character.translate(_GLOB) if kind == "q" else character


def _tilde(tokens: list[Token], home: str, cwd: str) -> list[Token]:
    if not tokens or tokens[0] != ("~", "b"):
        return tokens
    end = next((i for i, token in enumerate(tokens) if token[0] == "/"), len(tokens))
    name = "".join(character for character, _ in tokens[1:end])
    if name == "":
        place = home
    elif name == "+":
        place = cwd
    else:
        place = "/root" if name == "root" else f"/home/{name}"
    return [(character, "q") for character in place] + tokens[end:]


def _odd(tokens: list[Token]) -> bool:
    """Braces and commas are left over: bash may still find a pair in them."""
    return (",", "b") in tokens and (("{", "b") in tokens or ("}", "b") in tokens)


def _braces(tokens: list[Token], depth: int = 0) -> list[list[Token]]:
    """`a{b,c}d` as `abd` and `acd`; only bare braces with a bare comma expand."""
    for start, token in enumerate(tokens):
        if token != ("{", "b") or depth > 8:
            continue
        commas, end = _matching(tokens, start)
        if end < 0 or not commas:
            continue
        edges = [start, *commas, end]
        expanded: list[list[Token]] = []
        for left, right in pairwise(edges):
            branch = tokens[:start] + tokens[left + 1 : right] + tokens[end + 1 :]
            expanded.extend(_braces(branch, depth + 1))
            if len(expanded) > MOST:
                break
        return expanded
    return [tokens]


def _matching(tokens: list[Token], start: int) -> tuple[list[int], int]:
    level, commas = 0, []
    for index in range(start, len(tokens)):
        if tokens[index] == ("{", "b"):
            level += 1
        elif tokens[index] == (",", "b") and level == 1:
            commas.append(index)
        elif tokens[index] == ("}", "b"):
            level -= 1
            if level == 0:
                return commas, index
    return [], -1
