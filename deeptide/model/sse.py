"""Server-sent events out of bytes that may be cut anywhere.

Source: the "Server-sent events" section of the WHATWG HTML standard; more lenient, because what comes is
often not one: lines of plain text, a whole JSON body, events without the blank line between them.

Invariant: the events are the same however the bytes were cut, and no bytes raise.
"""

from __future__ import annotations

import msgspec

_FIELDS = frozenset({"data", "event", "id", "retry"})


class Data(msgspec.Struct, frozen=True, tag="data"):
    """One event. `name` is its `event:` field, empty for the default."""

    text: str
    name: str = ""


class Comment(msgspec.Struct, frozen=True, tag="comment"):
    """A keep-alive line."""

    text: str


class Stray(msgspec.Struct, frozen=True, tag="stray"):
    """A line that is no field of an event stream."""

    text: str


Event = Data | Comment | Stray


class Parser:
    """`feed` bytes as they come, then `close` once for what the last line held."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[str] = []
        self._name = ""
        self._first = True

    def feed(self, chunk: bytes) -> list[Event]:
        self._rest += chunk
        if b"\n" not in chunk and b"\r" not in self._rest[-len(chunk) - 1 :]:
            return []
        held = b"\r" if self._rest.endswith(b"\r") else b""
        ready = bytes(self._rest[: len(self._rest) - len(held)])
        lines = ready.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = bytearray(lines.pop() + held)
        events: list[Event] = []
        for line in lines:
            self._line(line, events)
        return events

    def close(self) -> list[Event]:
        events: list[Event] = []
        if self._rest:
            self._line(bytes(self._rest).rstrip(b"\r"), events)
            self._rest.clear()
        self._dispatch(events)
        return events

    def _line(self, raw: bytes, events: list[Event]) -> None:
        line = raw.decode("utf-8", "replace")
        if self._first:
            line, self._first = line.removeprefix("\ufeff"), False
        if not line.strip():
            self._dispatch(events)
            return
        if line.startswith(":"):
            events.append(Comment(line[1:].strip()))
            return
        field, colon, value = line.partition(":")
        if field not in _FIELDS:
            events.append(Stray(line))
            return
        value = value.removeprefix(" ") if colon else ""
        if field == "data":
            self._value(value, events)
        elif field == "event":
            self._name = value

    def _value(self, value: str, events: list[Event]) -> None:
        # Two JSON values never touch inside one event: the blank line between two events was left out.
        if self._data and self._data[-1].endswith("}") and value.startswith(("{", "[DONE]")):
            self._dispatch(events)
        self._data.append(value)

    def _dispatch(self, events: list[Event]) -> None:
        if self._data:
            events.append(Data("\n".join(self._data), self._name))
        self._data = []
        self._name = ""
