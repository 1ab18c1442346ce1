"""Tool calls put together from the fragments of a stream.

Invariant: no fragment is lost and none is glued to a foreign call, whichever of the known habits of
gateways the stream has: index missing or always 0, id or name repeated or blanked later, arguments as an
object.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from deeptide.protocol.messages import ToolCall
from deeptide.protocol.text import scrub


class Slot:
    """One call being written."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.id = ""
        self.name = ""
        self.parts: list[str] = []
        self.size = 0

    @property
    def arguments(self) -> str:
        return "".join(self.parts)


def arguments_object(text: str) -> dict[str, Any] | None:
    """The JSON object that `text` is, None if it is anything else."""
    try:
        return msgspec.json.decode(text.encode("utf-8", "surrogatepass"), type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None


class Calls:
    def __init__(self) -> None:
        self.slots: list[Slot] = []
        self._at: dict[int, Slot] = {}

    def add(self, fragment: Mapping[str, Any]) -> Slot:
        """Merges one element of `delta.tool_calls` and returns the call it belongs to."""
        function = fragment.get("function")
        function = function if isinstance(function, Mapping) else {}
        given_id, name = _text(fragment.get("id")), _text(function.get("name"))
        slot = self._slot(fragment.get("index"), given_id, name)
        slot.id = slot.id or given_id
        slot.name = name or slot.name
        arguments = function.get("arguments")
        if arguments is not None and not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        if arguments:
            slot.parts.append(arguments)
            slot.size += len(arguments)
        return slot

    def _slot(self, index: object, given_id: str, name: str) -> Slot:
        if not isinstance(index, int) or isinstance(index, bool):
            return self._without_index(given_id, name)
        slot = self._at.get(index)
        if slot is None or self._is_another(slot, given_id, name):
            slot = self._new()
            self._at[index] = slot
        return slot

    def _without_index(self, given_id: str, name: str) -> Slot:
        if given_id:
            same = next((slot for slot in self.slots if slot.id == given_id), None)
            return same or self._new()
        if (
            name
            and self.slots
            and self.slots[-1].name
            and arguments_object(self.slots[-1].arguments) is not None
        ):
            return self._new()
        return self.slots[-1] if self.slots else self._new()

    def _is_another(self, slot: Slot, given_id: str, name: str) -> bool:
        """Whether a fragment at a known index starts a new call: some gateways give every call the index
        0."""
        if not (given_id and slot.id and given_id != slot.id and name):
            return False
        return not slot.arguments.strip() or arguments_object(slot.arguments) is not None

    def _new(self) -> Slot:
        slot = Slot(len(self.slots))
        self.slots.append(slot)
        return slot

    def finish(self, seed: str) -> tuple[ToolCall, ...]:
        """The calls in the order in which they began. Missing ids are made from `seed`, doubled ones made
        distinct; blank arguments become `{}`, anything else stays as it was written."""
        taken: set[str] = set()
        done: list[ToolCall] = []
        for slot in self.slots:
            call_id = scrub(slot.id) or f"call_{slot.index:02d}_{seed or 'x'}"
            while call_id in taken:
                call_id += f"_{slot.index}"
            taken.add(call_id)
            arguments = scrub(slot.arguments)
            done.append(ToolCall(call_id, scrub(slot.name), arguments if arguments.strip() else "{}"))
        return tuple(done)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
