"""Arguments: strict where a guess could do harm, forgiving where the meaning is plain."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.protocol.errors import ToolError
from deeptide.protocol.messages import ToolCall
from deeptide.tools.arguments import parse
from tests.deep import count

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "limit": {"type": "integer", "minimum": 1},
        "all": {"type": "boolean"},
        "edits": {
            "type": "array",
            "items": {"type": "object", "properties": {"old": {"type": "string"}}, "required": ["old"]},
        },
        "status": {"type": "string", "enum": ["on", "off"]},
    },
    "required": ["path"],
}


def parsed(raw: str) -> dict[str, Any]:
    return parse(ToolCall("c", "dig", raw), SCHEMA)


def refused(raw: str) -> str:
    with pytest.raises(ToolError) as caught:
        parsed(raw)
    return f"{caught.value} {caught.value.advice}"


def test_good_arguments_come_back_in_the_order_of_the_schema() -> None:
    assert list(parsed('{"limit": 3, "path": "a"}').items()) == [("path", "a"), ("limit", 3)]


@pytest.mark.parametrize("raw", ["", "  \n", "{}", "null-ish"[:0]])
def test_blank_arguments_are_an_empty_object(raw: str) -> None:
    assert parse(ToolCall("c", "dig", raw), {"type": "object", "properties": {}}) == {}
    assert "'path' is missing" in refused(raw)


@pytest.mark.parametrize(
    ("raw", "key", "value"),
    [
        ('{"path": "a", "limit": "12"}', "limit", 12),
        ('{"path": "a", "limit": " 7.0 "}', "limit", 7),
        ('{"path": "a", "limit": 4.0}', "limit", 4),
        ('{"path": "a", "all": "True"}', "all", True),
        ('{"path": "a", "edits": "[{\\"old\\": \\"x\\"}]"}', "edits", [{"old": "x"}]),
        ('{"path": "a\nb"}', "path", "a\nb"),
        ('{"path": "a"}  \n', "path", "a"),
        ('{"path": "12"}', "path", "12"),
        ('{"path": "a", "edits": []}', "edits", []),
    ],
)
def test_a_plain_meaning_is_understood(raw: str, key: str, value: object) -> None:
    found = parsed(raw)[key]
    assert found == value and type(found) is type(value)


def test_null_for_an_optional_argument_is_as_if_it_were_not_there() -> None:
    assert parsed('{"path": "a", "limit": null}') == {"path": "a"}


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ('{"path": 3}', "path must be a string, not a whole number"),
        ('{"path": null}', "path must be a string, not null"),
        ('{"path": ["a"]}', "path must be a string, not a list"),
        ('{"path": "a", "limit": 2.5}', "limit must be a whole number, not a number with a fraction"),
        ('{"path": "a", "limit": true}', "limit must be a whole number, not true or false"),
        ('{"path": "a", "limit": "many"}', "limit must be a whole number, not a string"),
        ('{"path": "a", "limit": 0}', "limit must be at least 1, not 0"),
        ('{"path": "a", "status": "up"}', "status must be one of on, off"),
        ('{"path": "a", "edits": [{"old": "x"}, {}]}', "'old' is missing in edits[1]"),
        ('{"path": "a", "edits": [{"old": "x", "nwe": "y"}]}', "no argument 'nwe' in edits[0]; it takes old"),
        ('{"file": "a"}', "no argument 'file'; it takes path, limit, all, edits, status"),
        ('["a"]', "one JSON object, not a list"),
        ('{"path": "a"} and then', "text after the JSON object, at character 13: 'and then'"),
        ('{"path": "a"}{"path": "b"}', "text after the JSON object"),
        ('{"path": "a", "path": "b"}', "the key 'path' appears twice"),
        ("{'path': 'a'}", "near"),
        ('{"path": "a', "not complete JSON"),
        ('{"path": "a", ', "not complete JSON"),
        ('{"path": "a", "limit": ' + "9" * 5000 + "}", "were not understood"),
        ("[" * 100_000, "were not understood"),
    ],
)
def test_anything_else_is_refused_in_words_that_can_be_acted_on(raw: str, said: str) -> None:
    assert said in refused(raw)


@settings(max_examples=count(100, 5000), deadline=None)
@given(st.text(), st.integers(1, 10**12), st.booleans(), st.lists(st.text(), max_size=3))
def test_what_fits_the_schema_comes_back_unchanged(
    path: str, limit: int, all_: bool, olds: list[str]
) -> None:
    given_args = {"path": path, "limit": limit, "all": all_, "edits": [{"old": old} for old in olds]}
    assert parsed(json.dumps(given_args)) == given_args


@settings(max_examples=count(200, 20_000), deadline=None)
@given(
    st.one_of(
        st.text(),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: (
                st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["path", "edits"]), inner)
            ),
            max_leaves=8,
        ).map(json.dumps),
    )
)
def test_whatever_is_written_either_fits_the_schema_or_is_refused_as_a_tool_error(raw: str) -> None:
    try:
        found = parsed(raw)
    except ToolError as error:
        assert "dig" in str(error) and error.advice
    else:
        assert isinstance(found["path"], str)
        assert set(found) <= set(SCHEMA["properties"])
