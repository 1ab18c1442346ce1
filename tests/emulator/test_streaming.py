"""What a stream looks like, and that its pieces always give back the whole."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.emulator.counting import count_tokens
from deeptide.emulator.emulator import Emulator
from deeptide.emulator.script import Call, Say, Script, Wire
from tests.deep import count
from tests.fakes.scripts import events, post, request, tool

STREAM = request(stream=True, tools=[tool()])
ANSWER = Say("Hello 世界", "We think", (Call("read", {"path": "a"}), Call("list")))


async def streamed(say: Say, wire: Wire | None = None, body: dict[str, Any] = STREAM, **more: Any) -> bytes:
    reply = await post(Emulator(Script.of([say]), wire=wire, **more), body)
    assert reply.status_code == 200
    return reply.content


def joined(data: bytes) -> dict[str, Any]:
    """A client's view: deltas put together by index, the last usage and finish."""
    out: dict[str, Any] = {"text": "", "thinking": "", "calls": {}, "finish": None, "usage": None}
    for event in events(data):
        out["usage"] = event["usage"] or out["usage"]
        for choice in event["choices"]:
            delta = choice["delta"]
            out["text"] += delta.get("content") or ""
            out["thinking"] += delta.get("reasoning_content") or ""
            out["finish"] = choice["finish_reason"] or out["finish"]
            for call in delta.get("tool_calls", []):
                held = out["calls"].setdefault(call["index"], {"id": "", "name": "", "arguments": ""})
                held["id"] = call.get("id") or held["id"]
                held["name"] = call["function"].get("name") or held["name"]
                held["arguments"] += call["function"]["arguments"]
    return out


async def test_a_stream_goes_role_reasoning_content_calls_finish_done() -> None:
    data = await streamed(ANSWER, Wire(chunk=100))
    deltas = [event["choices"][0]["delta"] for event in events(data)]
    id_0, id_1 = deltas[3]["tool_calls"][0]["id"], deltas[5]["tool_calls"][0]["id"]
    assert id_0.startswith("call_00_") and id_1.startswith("call_01_")
    start = {"type": "function", "function": {"name": "read", "arguments": ""}}
    assert deltas == [
        {"role": "assistant", "content": None, "reasoning_content": ""},
        {"content": None, "reasoning_content": "We think"},
        {"content": "Hello 世界", "reasoning_content": None},
        {"tool_calls": [{"index": 0, "id": id_0, **start}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"path": "a"}'}}]},
        {
            "tool_calls": [
                {"index": 1, "id": id_1, "type": "function", "function": {"name": "list", "arguments": ""}}
            ]
        },
        {"tool_calls": [{"index": 1, "function": {"arguments": "{}"}}]},
        {"content": "", "reasoning_content": None},
    ]
    assert data.endswith(b"data: [DONE]\n\n")
    last = events(data)[-1]
    assert last["choices"][0]["finish_reason"] == "tool_calls"
    assert last["object"] == "chat.completion.chunk" and last["system_fingerprint"].startswith("fp_")


async def test_without_thinking_the_reasoning_field_is_absent() -> None:
    data = await streamed(ANSWER, body=STREAM | {"thinking": {"type": "disabled"}})
    assert b"reasoning_content" not in data and b"reasoning_tokens" not in data
    assert joined(data)["thinking"] == ""


async def test_usage_stands_where_the_switch_says() -> None:
    where = {}
    for at in ("finish", "trailing", "both", "none"):
        found = events(await streamed(ANSWER, Wire(usage=at)))  # type: ignore[arg-type]
        where[at] = [bool(event["choices"]) for event in found if event["usage"]]
    assert where == {"finish": [True], "trailing": [False], "both": [True, False], "none": []}


async def test_usage_adds_up_and_counts_reasoning_inside_the_completion() -> None:
    usage = joined(await streamed(ANSWER))["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["prompt_tokens"] == usage["prompt_cache_hit_tokens"] + usage["prompt_cache_miss_tokens"]
    assert usage["completion_tokens_details"]["reasoning_tokens"] == count_tokens("We think")
    spent = [count_tokens(text) for text in ("We think", "Hello 世界", '{"path": "a"}', "{}")]
    assert usage["completion_tokens"] == sum(spent)


async def test_the_answer_is_cut_at_max_tokens_wherever_that_falls() -> None:
    for top in range(1, 12):
        seen = joined(await streamed(ANSWER, body=STREAM | {"max_tokens": top}, count=len))
        assert seen["finish"] == "length"
        whole = "We thinkHello 世界"
        assert seen["thinking"] + seen["text"] == whole[:top]
        assert seen["usage"]["completion_tokens"] == top
        assert not seen["calls"]


async def test_arguments_cut_at_max_tokens_are_left_malformed() -> None:
    seen = joined(await streamed(ANSWER, body=STREAM | {"max_tokens": 23}, count=len))
    assert seen["finish"] == "length"
    assert seen["calls"][0]["arguments"] == '{"path"'


async def test_finish_usage_and_model_can_be_scripted() -> None:
    for finish in ("content_filter", "insufficient_system_resource", "aborted", "length"):
        say = Say("x", finish=finish, usage={"prompt_tokens": 900, "prompt_cache_hit_tokens": 800}, model="m")
        data = await streamed(say)
        assert joined(data)["finish"] == finish
        assert joined(data)["usage"]["prompt_cache_miss_tokens"] == 100
        assert events(data)[0]["model"] == "m"


async def test_a_reply_that_is_not_streamed_says_the_same() -> None:
    reply = await post(Emulator(Script.of([ANSWER])), request(tools=[tool()]))
    message = reply.json()["choices"][0]["message"]
    assert message["content"] == "Hello 世界" and message["reasoning_content"] == "We think"
    assert [call["function"]["name"] for call in message["tool_calls"]] == ["read", "list"]
    assert "index" not in message["tool_calls"][0]
    assert reply.json()["choices"][0]["finish_reason"] == "tool_calls"
    assert reply.json()["usage"] == joined(await streamed(ANSWER))["usage"]


async def test_keep_alives_come_as_comments_or_blank_lines() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    say = Say("x", queue=25, keep_alive=2)
    data = await streamed(say, sleep=sleep)
    assert data.startswith(b": keep-alive\n\n" * 5 + b"data: ")
    assert slept == [10, 10, 5]
    reply = await post(Emulator(Script.of([say]), sleep=sleep), request())
    assert reply.content.startswith(b"\n" * 5 + b"{") and reply.json()["object"] == "chat.completion"


async def test_gateway_habits_of_calls_are_available() -> None:
    shapes = {}
    for style in ("fragments", "whole", "together", "interleaved", "repeat_id", "blank_name", "no_index"):
        found = events(await streamed(ANSWER, Wire(chunk=6, calls=style)))
        deltas = [event["choices"][0]["delta"] for event in found]
        shapes[style] = [delta["tool_calls"] for delta in deltas if "tool_calls" in delta]
    assert [len(calls) for calls in shapes["together"]] == [2]
    assert [call["index"] for calls in shapes["interleaved"] for call in calls] == [0, 1, 0, 1, 0, 0]
    assert len({call["id"] for calls in shapes["repeat_id"] for call in calls}) > 1
    assert shapes["blank_name"][1][0]["function"]["name"] == ""
    assert "index" not in shapes["no_index"][0][0]
    assert shapes["whole"][0][0]["function"]["arguments"] == '{"path": "a"}'


async def test_malformed_arguments_and_leaked_markup_go_out_as_scripted() -> None:
    seen = joined(await streamed(Say(calls=(Call("edit", '{"path": "a'),))))
    assert seen["calls"][0]["arguments"] == '{"path": "a' and seen["finish"] == "tool_calls"
    leak = joined(await streamed(Say("I edit.", calls=(Call("read", {"path": "a", "limit": 3}),), leak=True)))
    assert not leak["calls"] and leak["finish"] == "stop"
    assert '<\uff5cDSML\uff5cinvoke name="read">' in leak["text"]
    assert '<\uff5cDSML\uff5cparameter name="limit" string="false">3<' in leak["text"]


async def test_the_same_requests_get_the_same_bytes_and_different_ones_different_ids() -> None:
    def play() -> Emulator:
        return Emulator(Script.of([ANSWER, ANSWER]))

    first, second = play(), play()
    one = [(await post(first, STREAM)).content for _ in range(2)]
    two = [(await post(second, STREAM)).content for _ in range(2)]
    assert one == two and one[0] != one[1]


async def test_a_hundred_thousand_tokens_stream_in_small_deltas() -> None:
    text = "word " * 100_000
    data = await streamed(Say(text), Wire(chunk=5, burst=64), STREAM | {"max_tokens": 200_000})
    assert data.count(b'"finish_reason":null') > 100_000
    assert len(text) > 400_000


texts = st.text(st.characters(codec="utf-8"), max_size=40)
names = st.from_regex(r"[a-zA-Z0-9_-]{1,20}", fullmatch=True)
many_calls = st.lists(st.builds(Call, names, st.dictionaries(texts, texts, max_size=2) | texts), max_size=3)


@settings(max_examples=count(60, 2000), deadline=None)
@given(
    texts, texts, many_calls, st.integers(1, 9), st.integers(1, 9), st.integers(0, 9),
    st.sampled_from(["fragments", "whole", "together", "interleaved", "repeat_id", "blank_name"]),
    st.booleans(),
)  # fmt: skip
async def test_any_cutting_gives_back_the_same_answer(
    text: str, thinking: str, calls: list[Call], chunk: int, burst: int, split: int, style: Any, crlf: bool
) -> None:
    wire = Wire(chunk, burst, split, "both", style, crlf)
    data = await streamed(Say(text, thinking, tuple(calls)), wire)
    seen = joined(data)
    assert (seen["text"], seen["thinking"]) == (text, thinking)
    assert [call["arguments"] for _, call in sorted(seen["calls"].items())] == [
        call.arguments for call in calls
    ]
    assert [call["name"] for _, call in sorted(seen["calls"].items())] == [call.name for call in calls]
    assert json.dumps(seen["usage"])
