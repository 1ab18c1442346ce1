"""From the bytes of a request to its JSON, with the places of things for error texts.

Invariant: a refusal names a line and a column as a byte-counting parser would, computed only when needed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from deeptide.emulator.refusals import Refused, bad_shape, not_json

Path = Sequence[str | int]
_decoder = json.JSONDecoder()
_BLANK = " \t\r\n"


class Body:
    """A parsed request. `json` is the object; `end(path)` and `start(path)` give `line L column C`."""

    def __init__(self, data: bytes) -> None:
        try:
            self.text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise not_json(f"invalid unicode code point at line 1 column {error.start + 1}") from error
        try:
            value = json.loads(self.text)
        except json.JSONDecodeError as error:
            raise not_json(f"{_serde_words(error)} at {self._at(error.pos + 1)}") from error
        except RecursionError as error:
            raise not_json("recursion limit exceeded at line 1 column 128") from error
        if not isinstance(value, dict):
            raise bad_shape(
                f"invalid type: {kind_of(value)}, expected struct ChatCompletionRequest at line 1 column 1"
            )
        self.json: dict[str, Any] = value
        if "\\ud" in self.text or "\\uD" in self.text:
            self._refuse_surrogates(value, ())

    def start(self, path: Path) -> str:
        return self._at(self._span(path)[0] + 1)

    def end(self, path: Path) -> str:
        return self._at(self._span(path)[1])

    def _at(self, offset: int) -> str:
        before = self.text[:offset]
        line = before.count("\n") + 1
        column = len(before[before.rfind("\n") + 1 :].encode("utf-8", "replace"))
        return f"line {line} column {column}"

    def _span(self, path: Path) -> tuple[int, int]:
        """Offsets of the value at `path`, start and one past the end."""
        at = self._skip(0)
        for step in path:
            at = self._enter(at, step)
        return at, _decoder.raw_decode(self.text, at)[1]

    def _enter(self, at: int, step: str | int) -> int:
        """The offset of the member or element `step` of the container at `at` (the last one of that name)."""
        found = at
        cursor, count = self._skip(at + 1), 0
        while self.text[cursor] not in "]}":
            key: str | int = count
            if isinstance(step, str):
                key, cursor = _decoder.raw_decode(self.text, cursor)
                cursor = self._skip(self._skip(cursor) + 1)
            if key == step:
                found = cursor
            cursor = self._skip(_decoder.raw_decode(self.text, cursor)[1])
            if self.text[cursor] == ",":
                cursor = self._skip(cursor + 1)
            count += 1
        return found

    def _skip(self, at: int) -> int:
        while self.text[at] in _BLANK:
            at += 1
        return at

    def _refuse_surrogates(self, value: Any, path: tuple[str | int, ...]) -> None:
        if isinstance(value, str):
            if any("\ud800" <= char <= "\udfff" for char in value):
                raise self._surrogate(value, path)
        elif isinstance(value, dict):
            for key, member in value.items():
                self._refuse_surrogates(key, path)
                self._refuse_surrogates(member, (*path, key))
        elif isinstance(value, list):
            for index, member in enumerate(value):
                self._refuse_surrogates(member, (*path, index))

    def _surrogate(self, value: str, path: tuple[str | int, ...]) -> Refused:
        detail = "lone leading surrogate in hex escape"
        if "\ud800" <= value[-1:] <= "\udbff":
            detail = "unexpected end of hex escape"
        return not_json(f"{dotted(path)}: {detail} at {self.end(path)}")


def dotted(path: Path) -> str:
    """`messages[3].content`, the way the service names a place."""
    out = ""
    for step in path:
        out += f"[{step}]" if isinstance(step, int) else f".{step}" if out else step
    return out


def kind_of(value: Any) -> str:
    """What the service calls a JSON value: sequence, map, string `"x"`, integer `1`, boolean `true`, null."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"boolean `{str(value).lower()}`"
    if isinstance(value, int):
        return f"integer `{value}`"
    if isinstance(value, float):
        return f"floating point `{value}`"
    if isinstance(value, str):
        return f'string "{value}"'
    return "sequence" if isinstance(value, list) else "map"


def _serde_words(error: json.JSONDecodeError) -> str:
    if error.pos >= len(error.doc.rstrip()):
        return "EOF while parsing a value" if not error.doc.strip() else "EOF while parsing an object"
    words = {
        "Expecting value": "expected value",
        "Expecting property name enclosed in double quotes": "key must be a string",
        "Expecting ':' delimiter": "expected `:`",
        "Expecting ',' delimiter": "expected `,` or `}`",
        "Extra data": "trailing characters",
        "Illegal trailing comma before end of object": "trailing comma",
        "Illegal trailing comma before end of array": "trailing comma",
    }
    if error.msg.startswith("Unterminated string"):
        return "EOF while parsing a string"
    if error.msg.startswith("Invalid control character"):
        return "control character (\\u0000-\\u001F) found while parsing a string"
    if error.msg.startswith("Invalid \\"):
        return "invalid escape"
    return words.get(error.msg, "expected value")
