"""What a request looks like on the wire."""

from __future__ import annotations

import json
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.model.pairing import paired
from deeptide.model.request import Request
from deeptide.model.wire import (
    DEEPSEEK,
    NO_OUTPUT,
    OPENAI,
    REASONING_PLACEHOLDER,
    body,
    dialect_for,
    encode,
    replayable,
)
from deeptide.protocol.messages import (
    Message,
    ToolCall,
    ToolResult,
    ToolSchema,
    assistant,
    system,
    tool,
    user,
)
from tests.deep import count

READ = ToolSchema(
    "read", "Reads a file.", msgspec.Raw(b'{"type": "object", "properties": {"b": {}, "a": {}}}')
)
CALL = ToolCall("call_00_a", "read", '{"path":  "a.py"}')
RESULT = tool(ToolResult("call_00_a", "read", "x = 1"))
TALK = (
    system("Be brief."),
    user("Look."),
    assistant("", thinking="First\n look. ", calls=(CALL,)),
    RESULT,
    assistant("Done.", thinking="ok"),
    user("And now?"),
)


def request(*messages: Message, tools: tuple[ToolSchema, ...] = (READ,), **more) -> Request:
    return Request("deepseek-flash", messages or TALK, tools, **more)


def sent(*messages: Message, **more) -> list[dict]:
    return body(request(*messages, **more), DEEPSEEK)["messages"]


def test_the_body_has_its_keys_in_frozen_order() -> None:
    assert list(body(request(), DEEPSEEK)) == [
        "messages",
        "model",
        "stream",
        "stream_options",
        "max_tokens",
        "thinking",
        "reasoning_effort",
        "tools",
    ]
    assert body(request(), DEEPSEEK)["stream_options"] == {"include_usage": True}


def test_tool_parameters_keep_their_key_order() -> None:
    parameters = body(request(), DEEPSEEK)["tools"][0]["function"]["parameters"]
    assert list(parameters["properties"]) == ["b", "a"]


def test_reasoning_goes_back_byte_for_byte_on_every_turn() -> None:
    turns = [message for message in sent() if message["role"] == "assistant"]
    assert [turn["reasoning_content"] for turn in turns] == ["First\n look. ", "ok"]
    assert turns[0]["content"] == ""
    assert turns[0]["tool_calls"][0]["function"]["arguments"] == '{"path":  "a.py"}'


def test_a_turn_without_reasoning_gets_the_placeholder_only_where_it_is_demanded() -> None:
    talk = (user("a"), assistant("b"), user("c"))
    assert sent(*talk)[1]["reasoning_content"] == REASONING_PLACEHOLDER
    assert "reasoning_content" not in sent(*talk, tools=())[1]
    assert "reasoning_content" not in sent(*talk, effort="off")[1]


@pytest.mark.parametrize(
    ("effort", "thinking", "level"),
    [
        ("off", "disabled", None),
        ("low", "enabled", "low"),
        ("medium", "enabled", "high"),
        ("high", "enabled", "high"),
        ("xhigh", "enabled", "high"),
        ("max", "enabled", "max"),
    ],
)
def test_efforts_are_said_in_the_providers_words(effort: str, thinking: str, level: str | None) -> None:
    out = body(request(effort=effort), DEEPSEEK)
    assert out["thinking"] == {"type": thinking}
    assert out.get("reasoning_effort") == level


def test_temperature_is_sent_only_where_it_works_and_tool_choice_never() -> None:
    assert "temperature" not in body(request(temperature=0.2), DEEPSEEK)
    assert body(request(temperature=0.0, effort="off"), DEEPSEEK)["temperature"] == 0.0
    assert "tool_choice" not in body(request(effort="off"), DEEPSEEK)


def test_empty_and_failed_results_say_so_once() -> None:
    def content(text: str, *, is_error: bool) -> str:
        result = tool(ToolResult("call_00_a", "read", text, is_error=is_error))
        return sent(user("a"), assistant(calls=(CALL,)), result)[2]["content"]

    assert content(" \n", is_error=False) == NO_OUTPUT
    assert content("no such file", is_error=True) == "[ERROR] no such file"
    assert content("[ERROR] no such file", is_error=True) == "[ERROR] no such file"


def test_lone_surrogates_are_gone_from_every_string() -> None:
    bad = "x\ud83d"
    schema = ToolSchema(bad, bad, msgspec.Raw(b'{"description": "\\ud83d", "\\udc00": ["\\ud83d"]}'))
    call = ToolCall("i" + bad, bad, '{"a": "\\ud83d", "b": "' + bad + '"}')
    talk = (
        system(bad),
        user(bad),
        assistant(bad, thinking=bad, calls=(call,)),
        tool(ToolResult("i" + bad, bad, bad)),
    )
    raw = encode(request(*talk, tools=(schema,)), DEEPSEEK)
    arguments = json.loads(raw)["messages"][2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == {"a": "\ufffd", "b": "x\ufffd"}
    assert b"\\ud83d" not in raw


@pytest.mark.parametrize(
    ("arguments", "replayed"),
    [
        ('{"a":1}', '{"a":1}'),
        (' {"a" : 1}\n', ' {"a" : 1}\n'),
        ('{"a":1}\n``` x', '{"a":1}'),
        ('{"path":"a","content":"abc', "{}"),
        ("", "{}"),
        ("[1]", "{}"),
        ('"text"', "{}"),
        ('{"a":NaN}', "{}"),
        ("[" * 100_000, "{}"),
        ('{"a":"\\\\ud83d"}', '{"a":"\\\\ud83d"}'),
        ('{"a":"\\ud83d\\ude00"}', '{"a":"\\ud83d\\ude00"}'),
    ],
)
def test_arguments_go_back_as_they_were_unless_they_are_no_object(arguments: str, replayed: str) -> None:
    assert replayable(arguments) == replayed
    assert replayable(replayed) == replayed


def test_a_made_up_function_name_is_fitted_to_what_the_provider_takes() -> None:
    call = ToolCall("c", "read file!" + "x" * 80, "{}")
    name = sent(user("a"), assistant(calls=(call,)))[1]["tool_calls"][0]["function"]["name"]
    assert name.startswith("read_file_") and len(name) == 64


def test_an_empty_assistant_turn_is_left_out() -> None:
    assert [message["role"] for message in sent(user("a"), assistant(), user("b"))] == ["user", "user"]
    assert sent(user("a"), assistant(thinking="hm"), user("b"))[1]["content"] == ""


def test_the_other_dialect_has_no_thinking_and_alternates() -> None:
    talk = (system("s"), user("a"), user("b"), assistant("c", thinking="t"), system("later"), user("d"))
    out = body(request(*talk, temperature=0.5), OPENAI)
    assert "thinking" not in out and "reasoning_effort" not in out
    assert out["temperature"] == 0.5
    assert out["messages"] == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "a\n\nb"},
        {"role": "assistant", "content": "c"},
        {"role": "user", "content": "later\n\nd"},
    ]


@pytest.mark.parametrize(
    ("url", "model", "name"),
    [
        ("https://api.deepseek.com", "", "deepseek"),
        ("https://api.deepseek.com/beta", "anything", "deepseek"),
        ("https://deepseek.com.example.org/v1", "m", "openai"),
        ("http://127.0.0.1:8080/v1", "qwen3", "openai"),
        ("http://127.0.0.1:8080", "deepseek-flash", "deepseek"),
    ],
)
def test_the_dialect_follows_the_host_or_the_models_name(url: str, model: str, name: str) -> None:
    assert dialect_for(url, model).name == name


TEXTS = st.text(alphabet=st.characters(exclude_categories=[]), max_size=12)
CALLS = st.lists(st.builds(ToolCall, st.sampled_from("abc"), TEXTS, TEXTS), max_size=3).map(tuple)
MESSAGES = st.one_of(
    st.builds(user, TEXTS),
    st.builds(system, TEXTS),
    st.builds(lambda text, thinking, calls: assistant(text, thinking=thinking, calls=calls), TEXTS, TEXTS, CALLS),
    st.builds(lambda i, text, bad: tool(ToolResult(i, "t", text, is_error=bad)), st.sampled_from("abcd"), TEXTS,
              st.booleans()),
)  # fmt: skip
TALKS = st.lists(MESSAGES, max_size=10).map(tuple)


@settings(max_examples=count(150, 4000), deadline=None)
@given(TALKS, st.sampled_from([DEEPSEEK, OPENAI]), st.sampled_from(["off", "high"]))
def test_any_talk_gives_a_body_that_the_provider_takes(talk, dialect, effort) -> None:
    made = request(*talk, user("end"), effort=effort)
    out = json.loads(encode(made, dialect))
    assert encode(made, dialect) == encode(msgspec.structs.replace(made), dialect)
    open_ids: list[str] = []
    for message in out["messages"]:
        assert isinstance(message["content"], str)
        if message["role"] == "tool":
            assert message["tool_call_id"] == open_ids.pop(0)
            continue
        assert not open_ids
        for call in message.get("tool_calls", ()):
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            open_ids.append(call["id"])
        if message["role"] == "assistant" and dialect is DEEPSEEK and effort == "high":
            assert message["reasoning_content"]
    assert not open_ids
    if dialect is OPENAI:
        roles = [message["role"] for message in out["messages"]]
        assert ("user", "user") not in set(pairwise(roles))
        assert "system" not in roles[1:]


@settings(max_examples=count(100, 3000), deadline=None)
@given(TALKS)
def test_a_talk_once_paired_stays_as_it_is(talk: tuple[Message, ...]) -> None:
    once = paired(talk)
    assert paired(once) == once


def test_a_sound_talk_is_not_changed_by_pairing() -> None:
    assert tuple(paired(TALK)) == TALK


@settings(max_examples=count(50, 1000), deadline=None)
@given(TALKS, MESSAGES)
def test_appending_a_message_never_changes_what_was_sent_before(talk, more) -> None:
    # Only an open call may still get its result, so the talk is closed by a user message first.
    before = sent(*talk, user("end"))
    assert sent(*talk, user("end"), more)[: len(before)] == before
