"""A call's raw JSON becomes checked arguments, or a sentence the model can act on.

Forgiven, because the meaning is plain: blank arguments, raw line breaks inside strings, numbers and booleans
written as strings, `null` for an optional argument, and a list or object written as a JSON string. Nothing
else is guessed.

Invariant: what is returned satisfies the schema, key by key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from deeptide.protocol.errors import ToolError
from deeptide.protocol.messages import ToolCall

_INTEGER = re.compile(r"\s*[+-]?\d{1,15}(\.0+)?\s*\Z")
_KINDS = {
    "string": "a string",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


class _Twice(ValueError):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _Twice(f"the key {next(key for key in keys if keys.count(key) > 1)!r} appears twice")
    return result


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_unique)


def parse(call: ToolCall, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `call`, checked against the JSON Schema `parameters`. Raises ToolError."""
    if not call.arguments.strip():
        value: Any = {}
    else:
        value = _load(call.name, call.arguments.strip())
    if not isinstance(value, dict):
        raise _fault(call.name, f"they must be one JSON object, not {_kind(value)}")
    checked: dict[str, Any] = _check(call.name, "", value, parameters)
    return checked


def _load(tool: str, raw: str) -> Any:
    try:
        value, end = _DECODER.raw_decode(raw)
    except json.JSONDecodeError as error:
        if error.pos >= len(raw) or error.msg.startswith("Unterminated"):
            raise ToolError(
                f"The arguments of {tool} are not complete JSON: they end early, after {len(raw):,} characters.",
                "The reply was probably cut at its length limit. Nothing was run; use smaller calls.",
            ) from error
        near = raw[max(0, error.pos - 20) : error.pos + 20]
        raise _fault(tool, f"{error.msg} at character {error.pos}, near {near!r}") from error
    except (ValueError, RecursionError) as error:
        raise _fault(tool, str(error)) from error
    if raw[end:].strip():
        junk = raw[end:].strip()[:40]
        raise _fault(tool, f"there is text after the JSON object, at character {end}: {junk!r}")
    return value


def _fault(tool: str, what: str) -> ToolError:
    return ToolError(f"The arguments of {tool} were not understood: {what}.", "Nothing was run; call again.")


def _check(tool: str, where: str, value: Any, schema: Mapping[str, Any]) -> Any:
    kind = schema["type"]
    value = _forgive(value, kind)
    if _kind(value) != _KINDS[kind]:
        raise _fault(tool, f"{where or 'the whole'} must be {_KINDS[kind]}, not {_kind(value)}")
    if "enum" in schema and value not in schema["enum"]:
        raise _fault(tool, f"{where} must be one of {', '.join(schema['enum'])}, not {value!r}")
    if "minimum" in schema and value < schema["minimum"]:
        raise _fault(tool, f"{where} must be at least {schema['minimum']}, not {value}")
    if kind == "array":
        return [_check(tool, f"{where}[{i}]", item, schema["items"]) for i, item in enumerate(value)]
    if kind == "object":
        return _check_object(tool, where, value, schema)
    return value


def _check_object(tool: str, where: str, value: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    known, required = schema["properties"], schema.get("required", ())
    inside = f" in {where}" if where else ""
    names = ", ".join(known)
    unknown = [key for key in value if key not in known]
    if unknown:
        raise _fault(tool, f"there is no argument {unknown[0]!r}{inside}; it takes {names}")
    given = {key: item for key, item in value.items() if item is not None or key in required}
    missing = [key for key in required if key not in given]
    if missing:
        raise _fault(tool, f"{missing[0]!r} is missing{inside}; it takes {names}")
    return {
        key: _check(tool, f"{where}.{key}" if where else key, given[key], known[key])
        for key in known
        if key in given
    }


def _forgive(value: Any, kind: str) -> Any:
    if isinstance(value, float) and kind == "integer" and value.is_integer():
        return int(value)
    if not isinstance(value, str):
        return value
    if kind == "integer" and _INTEGER.match(value):
        return int(float(value))
    if kind == "boolean" and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if kind in ("array", "object"):
        try:
            loaded = _DECODER.decode(value)
        except (ValueError, RecursionError):
            return value
        return loaded if _kind(loaded) == _KINDS[kind] else value
    return value


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return _KINDS["boolean"]
    names = {str: "string", int: "integer", list: "array", dict: "object"}
    return _KINDS.get(names.get(type(value), ""), "a number with a fraction")
