"""The service refuses what DeepSeek refuses, in its words (deepseek-api fact sheet, rows 1-18)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deeptide.emulator.emulator import Emulator
from tests.fakes.scripts import post, request, tool

USER = {"role": "user", "content": "hello"}
CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
CALLING = {"role": "assistant", "content": "", "reasoning_content": "r", "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "x"}
SHAPE = "Failed to deserialize the JSON body into the target type: "
ROLES = "one of `system`, `user`, `assistant`, `tool`, `latest_reminder`"


async def refusal(body: Any, **settings: Any) -> str:
    emulator = Emulator(**settings)
    reply = await post(emulator, body)
    error = reply.json()["error"]
    assert error["param"] is None and error["code"] == "invalid_request_error"
    assert reply.status_code == emulator.requests[-1].status == 400
    assert emulator.requests[-1].error == error["message"]
    return str(error["message"])


def column(body: Any, end_of: str) -> int:
    text = json.dumps(body)
    return len(text[: text.index(end_of) + len(end_of)].encode())


@pytest.mark.parametrize(
    ("message", "detail", "end_of"),
    [
        ({"role": "developer", "content": "x"},
         f"messages[0].role: unknown variant `developer`, expected {ROLES}", '"developer"'),
        ({"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "x"}]},
         "messages[0].content: invalid type: sequence, expected a string", '"content": ['),
        ({"role": "assistant", "content": [{"type": "text", "text": "x"}]},
         "messages[0].content: invalid type: sequence, expected a string", '"content": ['),
        ({"role": "tool", "content": "中文"}, "messages[0]: missing field `tool_call_id`", '"中文"}'),
        ({"content": "x"}, "messages[0]: missing field `role`", '"x"}'),
        ({"role": "user"}, "messages[0]: missing field `content`", '"user"}'),
        ({"role": "user", "content": None}, "messages[0].content: invalid type: null, expected a string", "null"),
        ({"role": "user", "content": 7}, "messages[0].content: invalid type: integer `7`, expected a string", "7"),
        ({"role": "user", "content": {"a": 1}}, "messages[0].content: invalid type: map, expected a string",
         '"content": {'),
        ({"role": "assistant", "content": "", "tool_calls": [{"id": "a", "type": "function"}]},
         "messages[0].tool_calls[0]: missing field `function`", '"function"}'),
        ({"role": "assistant", "content": "", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]},
         "messages[0].tool_calls[0].function.arguments: invalid type: map, expected a string", '"arguments": {'),
    ],
)  # fmt: skip
async def test_one_wrong_type_refuses_the_whole_request_and_names_the_column(
    message: dict[str, Any], detail: str, end_of: str
) -> None:
    body = request(message)
    raw = json.dumps(body, ensure_ascii=False)
    place = len(raw[: raw.index(end_of) + len(end_of)].encode())
    assert await refusal(raw.encode()) == f"{SHAPE}{detail} at line 1 column {place}"


async def test_the_line_of_a_fault_is_counted_too() -> None:
    text = json.dumps(request({"role": "developer", "content": "x"}), indent=1)
    line = text[: text.index("developer")].count("\n") + 1
    assert f"at line {line} column " in await refusal(text.encode())


@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        ({"stream": "yes"}, 'stream: invalid type: string "yes", expected a boolean'),
        ({"max_tokens": "8"}, 'max_tokens: invalid type: string "8", expected u32'),
        ({"max_tokens": -1}, "max_tokens: invalid value: integer `-1`, expected u32"),
        (
            {"thinking": {"type": "on"}},
            "thinking.type: unknown variant `on`, expected `enabled` or `disabled`",
        ),
        ({"reasoning_effort": "off"}, "reasoning_effort: unknown variant `off`, expected one of `minimal`, "),
        (
            {"tool_choice": "always"},
            "tool_choice: unknown variant `always`, expected one of `none`, `auto`, ",
        ),
        (
            {"response_format": {"type": "xml"}},
            "response_format.type: unknown variant `xml`, expected `text` or ",
        ),
        ({"tools": [{"type": "web"}]}, "tools[0]: missing field `function`"),
        (
            {"tools": [{"type": "web", "function": {}}]},
            "tools[0].type: unknown variant `web`, expected `function`",
        ),
        ({"stop": ["a", 1]}, "stop[1]: invalid type: integer `1`, expected a string"),
        ({"messages": "hi"}, 'messages: invalid type: string "hi", expected a sequence'),
    ],
)
async def test_fields_of_the_request_are_typed(fields: dict[str, Any], detail: str) -> None:
    assert (await refusal({**request(), **fields})).startswith(f"{SHAPE}{detail}")


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([USER, CALLING], "An assistant message with 'tool_calls' must be followed by tool messages responding to "
         "each 'tool_call_id'. (insufficient tool messages following tool_calls message)"),
        ([USER, CALLING, USER], "An assistant message with 'tool_calls' must be followed by tool messages"),
        ([USER, CALLING, USER, RESULT], "An assistant message with 'tool_calls' must be followed by"),
        ([USER, RESULT], "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"),
        ([USER, CALLING, RESULT, RESULT], "Messages with role 'tool' must be a response to a preceding message"),
        ([USER, CALLING, {**RESULT, "tool_call_id": "other"}], "Messages with role 'tool' must be a response to"),
        ([USER, {"role": "assistant", "content": None}],
         "Invalid assistant message: content or tool_calls must be set"),
        ([USER, {"role": "assistant", "content": None, "tool_calls": []}], "Invalid assistant message: content or"),
        ([], "Empty input messages"),
    ],
)  # fmt: skip
async def test_calls_and_results_must_pair_both_ways(messages: list[dict[str, Any]], text: str) -> None:
    assert (await refusal(request() | {"messages": messages})).startswith(text)


REASONING = "The `reasoning_content` in the thinking mode must be passed back to the API."
PLAIN = {"role": "assistant", "content": "hi"}
BARE = {"role": "assistant", "content": "", "tool_calls": [CALL]}


@pytest.mark.parametrize(
    ("strict", "turn", "fields", "refused"),
    [
        ("tools", [PLAIN], {"tools": [tool()]}, True),
        ("tools", [PLAIN | {"reasoning_content": ""}], {"tools": [tool()]}, True),
        ("tools", [PLAIN | {"reasoning_content": "(omitted)"}], {"tools": [tool()]}, False),
        ("tools", [PLAIN], {}, False),
        ("tools", [BARE, RESULT], {}, True),
        ("tools", [PLAIN], {"tools": [tool()], "thinking": {"type": "disabled"}}, False),
        ("calls", [PLAIN], {"tools": [tool()]}, False),
        ("calls", [BARE, RESULT], {"tools": [tool()]}, True),
        ("calls", [CALLING, RESULT], {"tools": [tool()]}, False),
        ("off", [BARE, RESULT], {"tools": [tool()]}, False),
    ],
)
async def test_reasoning_must_come_back_by_the_rule_in_force(
    strict: Any, turn: list[dict[str, Any]], fields: dict[str, Any], refused: bool
) -> None:
    reply = await post(Emulator(strict=strict), request(USER, *turn, USER, **fields))
    assert (reply.status_code == 400) is refused
    if refused:
        assert reply.json()["error"]["message"] == REASONING


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "read"}}])
async def test_thinking_refuses_a_forced_tool(choice: Any) -> None:
    body = request(tools=[tool()], tool_choice=choice)
    assert await refusal(body) == "Thinking mode does not support this tool_choice"
    assert (await post(Emulator(), body | {"thinking": {"type": "disabled"}})).status_code == 200


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"max_tokens": 0}, "Invalid max_tokens value, the valid range of max_tokens is [1, 393216]"),
        ({"max_tokens": 393_217}, "Invalid max_tokens value, the valid range of max_tokens is [1, 393216]"),
        ({"temperature": 3}, "Invalid temperature value, the valid range of temperature is [0, 2]"),
        ({"stop": ["x"] * 17}, "Invalid stop value"),
        ({"user_id": "用" * 171}, "Invalid user_id value, the maximum length is 512 bytes"),
        ({"stream_options": {"include_usage": True}}, "stream_options should be set along with stream = true"),
        ({"tools": [tool(f"t{n}") for n in range(129)]}, "Invalid 'tools': array too long. Expected an array with "
         "maximum length 128, but got an array with length 129 instead."),
        ({"tools": [tool("a b")]}, "Invalid 'tools[0].function.name': string does not match pattern. Expected a "
         "string that matches the pattern '^[a-zA-Z0-9_-]+$'."),
        ({"tools": [tool("a" * 65)]}, "Invalid 'tools[0].function.name': string too long."),
        ({"tools": [tool(), tool()]}, "Tool names must be unique."),
        ({"tools": [tool(parameters={"type": "string"})]}, "Invalid schema for function 'read': "),
    ],
)  # fmt: skip
async def test_values_out_of_range_are_refused(fields: dict[str, Any], text: str) -> None:
    assert (await refusal(request(**fields))).startswith(text)


async def test_a_hundred_and_twenty_eight_tools_are_accepted() -> None:
    assert (await post(Emulator(), request(tools=[tool(f"t{n}") for n in range(128)]))).status_code == 200


async def test_the_context_limit_counts_max_tokens() -> None:
    body = request({"role": "user", "content": "x" * 900}, max_tokens=200)
    text = await refusal(body, window=1000, count=len)
    sent = len("<|begin|>") + len("\n<|user|>") + 900
    assert text == (
        f"This model's maximum context length is 1000 tokens. However, you requested {sent + 200} tokens "
        f"({sent} in the messages, 200 in the completion). Please reduce the length of the messages or completion."
    )
    assert (await post(Emulator(window=sent + 200, count=len), body)).status_code == 200


async def test_without_max_tokens_the_default_is_bounded_by_the_window() -> None:
    assert (await post(Emulator(window=2000), request())).status_code == 200


@pytest.mark.parametrize("model", ["deepseek-chat", "deepseek-reasoner", "gpt-9"])
async def test_retired_and_unknown_models_do_not_exist(model: str) -> None:
    assert await refusal(request() | {"model": model}) == "Model Not Exist"


async def test_a_retired_alias_is_served_by_flash() -> None:
    reply = await post(Emulator(), request() | {"model": "deepseek-v4-flash"})
    assert reply.json()["model"] == "deepseek-flash"
    assert (await post(Emulator(models=["qwen"]), request() | {"model": "qwen"})).status_code == 200


async def test_images_are_for_flash_only() -> None:
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    body = request({"role": "user", "content": [{"type": "text", "text": "see"}, part]})
    assert (await post(Emulator(), body)).status_code == 200
    text = await refusal(body | {"model": "deepseek-v4-pro"})
    assert "messages[0].content[1].type: unknown variant `image_url`, expected `text`" in text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"", "EOF while parsing a value at line 1 column 0"),
        (b'{"model": "deepseek-flash", ', "EOF while parsing an object at line 1 column 28"),
        (b'{"model": nope}', "expected value at line 1 column 11"),
        (b"\xff", "invalid unicode code point at line 1 column 1"),
        (b'{"a":1} x', "trailing characters at line 1 column 9"),
    ],
)
async def test_what_is_not_json_is_refused(raw: bytes, text: str) -> None:
    assert await refusal(raw) == f"Failed to parse the request body as JSON: {text}"


async def test_a_list_is_not_a_request() -> None:
    assert (await refusal(b"[]")).startswith(f"{SHAPE}invalid type: sequence, expected struct")


@pytest.mark.parametrize(
    ("content", "detail"),
    [
        ("\ud83d", "unexpected end of hex escape"),
        ("\ud83dx", "lone leading surrogate in hex escape"),
        ("x\ude00", "lone leading surrogate in hex escape"),
    ],
)
async def test_a_lone_surrogate_is_refused_where_it_stands(content: str, detail: str) -> None:
    text = await refusal(request(USER, {"role": "user", "content": content}))
    assert text.startswith(
        f"Failed to parse the request body as JSON: messages[1].content: {detail} at line 1 "
    )


async def test_a_whole_surrogate_pair_is_fine() -> None:
    assert (await post(Emulator(), request({"role": "user", "content": "\U0001f600"}))).status_code == 200


async def test_a_deployment_may_answer_wrong_shapes_with_422() -> None:
    reply = await post(Emulator(shape_status=422), request({"role": "developer", "content": "x"}))
    assert reply.status_code == 422
