"""The first gate: has the JSON the types that the service declares? One wrong type refuses all of it.

Invariant: texts are those of a strict deserialiser: `messages[9].content: invalid type: sequence, expected a
string at line 1 column N`, `unknown variant`, `missing field`.
"""

from __future__ import annotations

from typing import Any

from deeptide.emulator.body import Body, Path, dotted, kind_of
from deeptide.emulator.refusals import Refused, bad_shape
from deeptide.emulator.tables import EFFORTS, ROLES

_TYPES: dict[str, tuple[type, ...]] = {
    "a string": (str,),
    "a boolean": (bool,),
    "u32": (int,),
    "f64": (int, float),
    "a sequence": (list,),
    "a map": (dict,),
}
_TOP = {
    "model": "a string",
    "stream": "a boolean",
    "max_tokens": "u32",
    "temperature": "f64",
    "top_p": "f64",
    "presence_penalty": "f64",
    "frequency_penalty": "f64",
    "user_id": "a string",
    "tools": "a sequence",
    "logprobs": "a boolean",
    "top_logprobs": "u32",
}


class Shape:
    """Checks one body. `status` is the code of a refusal (400, or 422 as some deployments answer)."""

    def __init__(self, body: Body, images: bool, status: int = 400) -> None:
        self._body = body
        self._images = images
        self._status = status

    def check(self) -> None:
        request = self._body.json
        self._required(request, (), "messages", "model")
        for name, wanted in _TOP.items():
            self._typed(request, (), name, wanted)
        self._options(request)
        self._typed(request, (), "messages", "a sequence", nullable=False)
        for index, message in enumerate(request["messages"]):
            self._message(message, ("messages", index))
        for index, tool in enumerate(request.get("tools") or []):
            self._tool(tool, ("tools", index))

    def _options(self, request: dict[str, Any]) -> None:
        for name, variants in (
            ("thinking", ("enabled", "disabled")),
            ("response_format", ("text", "json_object")),
        ):
            self._typed(request, (), name, "a map")
            if (value := request.get(name)) is not None:
                self._required(value, (name,), "type")
                self._variant(value, (name,), "type", variants)
        self._variant(request, (), "reasoning_effort", EFFORTS)
        self._typed(request, (), "stream_options", "a map")
        if (options := request.get("stream_options")) is not None:
            self._typed(options, ("stream_options",), "include_usage", "a boolean")
        choice = request.get("tool_choice")
        if isinstance(choice, str):
            self._variant(request, (), "tool_choice", ("none", "auto", "required"))
        elif choice is not None:
            self._typed(request, (), "tool_choice", "a map")
        stop = request.get("stop")
        if stop is not None and not isinstance(stop, str):
            self._typed(request, (), "stop", "a sequence")
            for index in range(len(stop)):
                self._item(stop[index], ("stop", index), "a string")

    def _message(self, message: Any, at: tuple[str | int, ...]) -> None:
        self._item(message, at, "a map")
        self._required(message, at, "role")
        self._variant(message, at, "role", ROLES, nullable=False)
        role = message["role"]
        if role == "user":
            self._user_content(message, at)
        elif role == "assistant":
            for name in ("content", "reasoning_content", "name"):
                self._typed(message, at, name, "a string")
            self._typed(message, at, "prefix", "a boolean")
            self._typed(message, at, "tool_calls", "a sequence")
            for index, call in enumerate(message.get("tool_calls") or []):
                self._call(call, (*at, "tool_calls", index))
        else:
            self._required(message, at, "content", *(("tool_call_id",) if role == "tool" else ()))
            self._typed(message, at, "content", "a string", nullable=False)
            self._typed(message, at, "tool_call_id", "a string", nullable=role != "tool")

    def _user_content(self, message: dict[str, Any], at: tuple[str | int, ...]) -> None:
        self._required(message, at, "content")
        content = message["content"]
        if not isinstance(content, list):
            self._typed(message, at, "content", "a string", nullable=False)
            return
        kinds = ("text", "image_url", "file") if self._images else ("text",)
        for index, part in enumerate(content):
            here = (*at, "content", index)
            self._item(part, here, "a map")
            self._required(part, here, "type")
            self._variant(part, here, "type", kinds)
            if part["type"] == "text":
                self._required(part, here, "text")
                self._typed(part, here, "text", "a string", nullable=False)
            elif part["type"] == "image_url":
                self._required(part, here, "image_url")
                self._typed(part, here, "image_url", "a map")
                self._required(part["image_url"], (*here, "image_url"), "url")
            else:
                self._required(part, here, "file")

    def _call(self, call: Any, at: tuple[str | int, ...]) -> None:
        self._item(call, at, "a map")
        self._required(call, at, "id", "type", "function")
        self._typed(call, at, "id", "a string", nullable=False)
        self._variant(call, at, "type", ("function",), nullable=False)
        self._typed(call, at, "function", "a map", nullable=False)
        inner = (*at, "function")
        self._required(call["function"], inner, "name", "arguments")
        self._typed(call["function"], inner, "name", "a string", nullable=False)
        self._typed(call["function"], inner, "arguments", "a string", nullable=False)

    def _tool(self, tool: Any, at: tuple[str | int, ...]) -> None:
        self._item(tool, at, "a map")
        self._required(tool, at, "type", "function")
        self._variant(tool, at, "type", ("function",), nullable=False)
        self._typed(tool, at, "function", "a map", nullable=False)
        inner = (*at, "function")
        self._required(tool["function"], inner, "name")
        self._typed(tool["function"], inner, "name", "a string", nullable=False)
        self._typed(tool["function"], inner, "description", "a string")
        self._typed(tool["function"], inner, "parameters", "a map")
        self._typed(tool["function"], inner, "strict", "a boolean")

    def _required(self, holder: dict[str, Any], at: Path, *names: str) -> None:
        for name in names:
            if name not in holder:
                raise self._refuse(at, f"missing field `{name}`", self._body.end(at))

    def _typed(self, holder: dict[str, Any], at: Path, name: str, wanted: str, nullable: bool = True) -> None:
        value = holder.get(name)
        if value is None and (nullable or name not in holder):
            return
        self._item(value, (*at, name), wanted)

    def _item(self, value: Any, at: Path, wanted: str) -> None:
        is_flag = isinstance(value, bool) and bool not in _TYPES[wanted]
        if is_flag or not isinstance(value, _TYPES[wanted]):
            place = self._body.start(at) if isinstance(value, list | dict) else self._body.end(at)
            raise self._refuse(at, f"invalid type: {kind_of(value)}, expected {wanted}", place)
        if wanted == "u32" and isinstance(value, int) and not 0 <= value < 2**32:
            detail = f"invalid value: {kind_of(value)}, expected u32"
            raise self._refuse(at, detail, self._body.end(at))

    def _variant(
        self, holder: dict[str, Any], at: Path, name: str, known: tuple[str, ...], nullable: bool = True
    ) -> None:
        self._typed(holder, at, name, "a string", nullable)
        value = holder.get(name)
        if value is None or value in known:
            return
        listed = ", ".join(f"`{one}`" for one in known)
        expected = f"one of {listed}" if len(known) > 2 else listed.replace(", ", " or ")
        here = (*at, name)
        raise self._refuse(here, f"unknown variant `{value}`, expected {expected}", self._body.end(here))

    def _refuse(self, at: Path, detail: str, place: str) -> Refused:
        where = f"{dotted(at)}: " if at else ""
        return bad_shape(f"{where}{detail} at {place}", self._status)
