"""Streams put together: every habit of provider and gateways that has been reported."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.model import errors
from deeptide.model.sse import Parser
from deeptide.model.stream import Assembly, Completed, Delta, Failed
from deeptide.model.wire import REASONING_PLACEHOLDER
from deeptide.protocol.events import TextDelta, ThinkingDelta, ToolCallDelta
from deeptide.protocol.messages import ToolCall
from deeptide.protocol.usage import Usage
from tests.deep import count
from tests.model.streams import DONE, KEEP_ALIVE, USAGE, answer, call, chunk

LEAK = '<｜DSML｜tool_calls><｜DSML｜invoke name="read"><｜DSML｜parameter name="path" string="true">a'


def run(
    *chunks: bytes, tools: bool = True, require_done: bool = True
) -> tuple[list[Delta], Completed | Failed]:
    parser, assembly = Parser(), Assembly(tools=tools, require_done=require_done)
    deltas: list[Delta] = []
    for raw in chunks:
        for event in parser.feed(raw):
            deltas += assembly.feed(event)
    for event in parser.close():
        deltas += assembly.feed(event)
    deltas += assembly.flush()
    return deltas, assembly.end()


def completed(*chunks: bytes, **more: Any) -> Completed:
    result = run(*chunks, **more)[1]
    assert isinstance(result, Completed), result
    return result


def failed(*chunks: bytes, **more: Any) -> Failed:
    result = run(*chunks, **more)[1]
    assert isinstance(result, Failed), result
    return result


def shown(deltas: list[Delta], kind: type) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, kind))


def test_a_whole_answer_has_its_thinking_text_usage_and_model() -> None:
    deltas, result = run(
        KEEP_ALIVE + answer({"reasoning_content": "We"}, {"content": "Hello "}, {"content": "你好"})
    )
    assert isinstance(result, Completed)
    assert (result.message.thinking, result.message.text) == ("We", "Hello 你好")
    assert result.usage == Usage(prompt=283, completion=69, hit=256, miss=27, reasoning=24)
    assert (result.finish, result.model) == ("stop", "deepseek-flash")
    assert (shown(deltas, ThinkingDelta), shown(deltas, TextDelta)) == ("We", "Hello 你好")


def test_an_empty_first_reasoning_opens_no_thinking() -> None:
    assert run(answer({"content": "x"}))[0] == [TextDelta("x")]


def test_usage_in_a_trailing_chunk_without_choices_wins() -> None:
    raw = (
        answer({"content": "x"}, usage={"prompt_tokens": 1}).removesuffix(DONE)
        + chunk(None, usage=USAGE)
        + DONE
    )
    assert completed(raw).usage == Usage(prompt=283, completion=69, hit=256, miss=27, reasoning=24)


def test_usage_of_a_provider_without_cache_numbers_counts_all_as_missed() -> None:
    raw = answer({"content": "x"}, usage={"prompt_tokens": 10, "completion_tokens": 2})
    assert completed(raw).usage == Usage(prompt=10, completion=2, miss=10)
    assert completed(answer({"content": "x"}, usage=None)).usage is None


A, B = '{"path":"a"}', '{"path":"b"}'
ONE = (ToolCall("c0", "read", A),)
TWO = (ToolCall("c0", "read", A), ToolCall("c1", "grep", B))
SHAPES = {
    "plain": ([call(0, id="c0", name="read", arguments=""), call(0, arguments=A)], ONE),
    "name blanked later": ([call(0, id="c0", name="read"), call(0, name="", id="", arguments=A)], ONE),
    "name and id null later": ([call(0, id="c0", name="read"), call(0, name=None, id=None, arguments=A)], ONE),
    "name and id repeated": (
        [call(0, id="c0", name="read", arguments=A[:4]), call(0, id="c0", name="read", arguments=A[4:])],
        ONE,
    ),
    "arguments as an object": ([call(0, id="c0", name="read", arguments={"path": "a"})], None),
    "interleaved": (
        [
            call(0, id="c0", name="read", arguments=A[:5]),
            call(1, id="c1", name="grep", arguments=B[:3]),
            call(0, arguments=A[5:]),
            call(1, arguments=B[3:]),
        ],
        TWO,
    ),
    "every index zero": (
        [call(0, id="c0", name="read", arguments=A), call(0, id="c1", name="grep"), call(0, arguments=B)],
        TWO,
    ),
    "no index, ids": (
        [call(None, id="c0", name="read", arguments=A), call(None, id="c1", name="grep", arguments=B)],
        TWO,
    ),
    "no index, id only first": (
        [
            call(None, id="c0", name="read", arguments=A[:3]),
            call(None, arguments=A[3:]),
            call(None, id="c1", name="grep", arguments=B),
        ],
        TWO,
    ),
    "several in one chunk": (
        [{"tool_calls": [*call(0, id="c0", name="read", arguments=A)["tool_calls"],
                         *call(1, id="c1", name="grep", arguments=B)["tool_calls"]]}],
        TWO,
    ),
    "new random id on each fragment": (
        [call(0, id="c0", name="read", arguments=A[:6]), call(0, id="zz", arguments=A[6:])],
        ONE,
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_calls_are_put_together_from_any_gateways_fragments(shape: str) -> None:
    deltas, expected = SHAPES[shape]
    result = completed(answer(*deltas, finish="tool_calls"))
    assert result.finish == "tool_calls"
    if expected is None:
        assert json.loads(result.message.tool_calls[0].arguments) == {"path": "a"}
    else:
        assert result.message.tool_calls == expected


def test_each_call_of_a_batch_is_announced_with_its_size() -> None:
    deltas, _ = run(
        answer(call(0, id="c0", name="read", arguments=A), call(1, id="c1", name="grep", arguments="{"))
    )
    assert [delta for delta in deltas if isinstance(delta, ToolCallDelta)] == [
        ToolCallDelta(0, "read", 12),
        ToolCallDelta(1, "grep", 1),
    ]


def test_a_call_without_arguments_has_an_empty_object() -> None:
    calls = completed(
        answer(call(0, id="c", name="list", arguments=" "), finish="tool_calls")
    ).message.tool_calls
    assert calls == (ToolCall("c", "list", "{}"),)


def test_calls_are_executable_even_if_the_finish_says_stop() -> None:
    assert completed(answer(call(0, id="c", name="list", arguments="{}"))).finish == "tool_calls"


def test_missing_and_doubled_ids_are_made_distinct_and_the_same_each_time() -> None:
    fragments = [call(0, name="a", arguments="{}"), call(1, name="b", arguments="{}"),
                 call(2, id="c", name="x", arguments="{}"), call(3, id="c", name="y", arguments="{}")]  # fmt: skip
    calls = completed(answer(*fragments)).message.tool_calls
    assert len({one.id for one in calls}) == 4
    assert calls == completed(answer(*fragments)).message.tool_calls


def test_malformed_arguments_are_kept_as_they_were() -> None:
    broken = '{"path":"a","content":"abc'
    result = completed(answer(call(0, id="c", name="write", arguments=broken), finish="tool_calls"))
    assert result.message.tool_calls[0].arguments == broken


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_an_answer_that_was_stopped_has_no_executable_call(finish: str) -> None:
    result = completed(answer({"content": "so"}, call(0, id="c", name="write", arguments=A), finish=finish))
    assert (result.finish, result.message.text, result.message.tool_calls) == (finish, "so", ())
    assert [one.name for one in result.unfinished] == ["write"]


def test_a_budget_spent_on_reasoning_is_an_answer_of_length_without_text() -> None:
    result = completed(answer({"reasoning_content": "long"}, finish="length"))
    assert (result.finish, result.message.text, result.message.thinking) == ("length", "", "long")


@pytest.mark.parametrize("finish", ["insufficient_system_resource", "aborted", "error"])
def test_a_transient_finish_is_a_fault_that_may_be_retried(finish: str) -> None:
    result = failed(answer({"content": "half"}, call(0, id="c", name="write", arguments=A), finish=finish))
    assert isinstance(result.error, errors.ServerFault)
    assert (result.partial.text, result.partial.tool_calls) == ("half", ())


WHOLE = answer({"reasoning_content": "r"}, {"content": "half"}, call(0, id="c", name="write", arguments=A))
UNFINISHED = chunk({"content": "half"}) + chunk(call(0, id="c", name="write", arguments='{"a":1}'))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        KEEP_ALIVE,
        UNFINISHED,
        UNFINISHED + DONE,
        WHOLE.removesuffix(DONE),
        UNFINISHED + b"upstream reset\n",
    ],
)
def test_an_end_without_finish_or_done_is_a_cut(raw: bytes) -> None:
    result = failed(raw)
    assert isinstance(result.error, errors.StreamCut)
    assert result.partial.tool_calls == ()


def test_the_text_a_proxy_appended_is_told() -> None:
    assert "upstream reset" in str(failed(UNFINISHED + b"upstream reset\n").error)


def test_a_done_without_its_line_end_counts_and_nothing_counts_after_it() -> None:
    assert completed(answer({"content": "x"}).rstrip()).message.text == "x"
    assert completed(answer({"content": "x"}) + chunk({"content": "y"}) + b"junk\n").message.text == "x"


def test_other_providers_may_leave_done_out_but_not_the_finish() -> None:
    assert completed(WHOLE.removesuffix(DONE), require_done=False).message.text == "half"
    assert isinstance(failed(UNFINISHED, require_done=False).error, errors.StreamCut)


def test_an_error_object_in_the_stream_ends_it() -> None:
    raw = UNFINISHED + b'data: {"error":{"message":"Insufficient Balance"}}\n\n' + WHOLE
    result = failed(raw)
    assert isinstance(result.error, errors.InsufficientBalance)
    assert result.partial.text == "half"


def test_an_error_event_with_plain_text_is_a_fault() -> None:
    assert isinstance(failed(b"event: error\ndata: overloaded\n\n").error, errors.ServerFault)


@pytest.mark.parametrize("line", [b"data: {broken\n\n", b"data: hello\n\n", b'data: {"choices": [}\n\n'])
def test_data_that_is_no_json_is_a_cut_not_an_exception(line: bytes) -> None:
    assert isinstance(failed(UNFINISHED + line + WHOLE).error, errors.StreamCut)


def test_a_comment_inside_data_is_ignored() -> None:
    assert completed(b"data: : keep-alive\n\ndata:\n\n" + WHOLE).message.text == "half"


def test_a_single_json_body_instead_of_a_stream_is_an_answer() -> None:
    value = {
        "id": "x1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "whole", "tool_calls": None},
                "finish_reason": "stop",
            }
        ],
        "usage": USAGE,
    }
    deltas, result = run(b"\n\n" + json.dumps(value, indent=1).encode())
    assert isinstance(result, Completed) and result.message.text == "whole"
    assert deltas == [TextDelta("whole")]


def test_an_error_body_with_status_200_is_that_error() -> None:
    assert isinstance(
        failed(b'{"error": {"message": "Insufficient Balance"}}').error, errors.InsufficientBalance
    )


def test_a_web_page_with_status_200_points_at_the_address() -> None:
    error = failed(b"<!doctype html>\n<title>Welcome</title>\n").error
    assert isinstance(error, errors.BadRequest) and "URL" in error.advice


@pytest.mark.parametrize("finish", ["weird", "LENGTH"])
def test_an_unknown_finish_is_a_malformed_answer(finish: str) -> None:
    assert isinstance(failed(answer({"content": "x"}, finish=finish)).error, errors.MalformedAnswer)


def test_a_call_without_a_name_and_an_announced_call_that_is_missing_are_malformed() -> None:
    assert isinstance(failed(answer(call(0, id="c", arguments=A))).error, errors.MalformedAnswer)
    assert isinstance(failed(answer(finish="tool_calls")).error, errors.MalformedAnswer)
    assert completed(answer({"content": "x"}, finish="tool_calls")).finish == "stop"


@pytest.mark.parametrize("leak", [LEAK, LEAK.replace("｜", "|"), "<｜tool▁calls▁begin｜>x"])
def test_tool_markup_in_the_text_is_withheld_and_malformed(leak: str) -> None:
    deltas, result = run(answer(*({"content": piece} for piece in ["Let me look.\n", *leak])))
    assert isinstance(result, Failed) and isinstance(result.error, errors.MalformedAnswer)
    assert shown(deltas, TextDelta) == result.partial.text == "Let me look.\n"


@pytest.mark.parametrize(
    "text", ["It writes `" + LEAK + "`.", "```\n" + LEAK + "\n```\nSo.", "a < b <｜", "<"]
)
def test_talk_about_markup_is_talk(text: str) -> None:
    deltas, result = run(answer(*({"content": piece} for piece in text)))
    assert isinstance(result, Completed)
    assert shown(deltas, TextDelta) == result.message.text == text


def test_without_tools_nothing_can_leak() -> None:
    assert completed(answer({"content": LEAK}), tools=False).message.text == LEAK


@pytest.mark.parametrize("channel", ["reasoning_content", "content"])
def test_an_echo_of_the_placeholder_is_dropped(channel: str) -> None:
    def kept(text: str) -> tuple[str, str]:
        deltas, result = run(answer(*({channel: piece} for piece in text), {"content": "."}))
        assert isinstance(result, Completed)
        return result.message.thinking + result.message.text, "".join(delta.text for delta in deltas)

    assert kept("\n" + REASONING_PLACEHOLDER) == (".", ".")
    assert kept(REASONING_PLACEHOLDER + "\n\nThen.") == ("Then..", "Then..")
    assert kept(REASONING_PLACEHOLDER[:9]) == (REASONING_PLACEHOLDER[:9] + ".",) * 2


def test_a_surrogate_pair_split_over_two_deltas_is_one_character_and_a_lone_one_is_replaced() -> None:
    high, low = b'"content":"\\ud83d"', b'"content":"\\ude00"'
    pieces = [b'data: {"choices":[{"index":0,"delta":{' + part + b"}}]}\n\n" for part in (high, low, high)]
    deltas, result = run(*pieces, chunk({}, "stop"), DONE)
    assert isinstance(result, Completed)
    assert result.message.text == shown(deltas, TextDelta) == "😀\ufffd"


def test_reasoning_under_its_other_name_is_reasoning() -> None:
    assert completed(answer({"reasoning": "hm"}, {"content": "x"})).message.thinking == "hm"
    assert completed(answer({"reasoning": "hm", "reasoning_content": "hm"})).message.thinking == "hm"


PIECES = st.lists(
    st.sampled_from([*"ab中😀 \n<｜|`(", "\ud83d", "\ude00", LEAK[:20], REASONING_PLACEHOLDER]), max_size=12
).map("".join)
DELTAS = st.one_of(
    st.builds(lambda text: {"content": text}, PIECES),
    st.builds(lambda text: {"reasoning_content": text}, PIECES),
    st.builds(
        lambda i, name, args: call(i, name=name, arguments=args),
        st.sampled_from([0, 1, None]), st.sampled_from(["", "read", None]), PIECES,
    ),
)  # fmt: skip
FINISHES = st.sampled_from(["stop", "tool_calls", "length", "aborted", "odd"])
TAILS = st.sampled_from([b"", b"oops\n", b"data: {\n\n", KEEP_ALIVE])


def _same(
    first: tuple[list[Delta], Completed | Failed], second: tuple[list[Delta], Completed | Failed]
) -> None:
    assert first[0] == second[0]
    if isinstance(first[1], Completed):
        assert first[1] == second[1]
    else:
        assert isinstance(second[1], Failed)
        assert str(first[1].error) == str(second[1].error)
        assert (first[1].partial, first[1].usage) == (second[1].partial, second[1].usage)


@settings(max_examples=count(150, 4000), deadline=None)
@given(st.lists(DELTAS, max_size=8), FINISHES, TAILS, st.booleans(), st.data())
def test_the_result_does_not_depend_on_how_the_bytes_are_cut(deltas, finish, tail, whole, data) -> None:
    raw = b"".join(map(chunk, deltas)) + tail + (answer(finish=finish) if whole else b"")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=30)))
    _same(run(raw), run(*(raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True))))


@settings(max_examples=count(150, 4000), deadline=None)
@given(PIECES, PIECES, st.data())
def test_the_result_does_not_depend_on_how_the_text_is_cut_into_deltas(thinking, text, data) -> None:
    def pieces(key: str, value: str) -> list[dict[str, str]]:
        cuts = sorted(data.draw(st.lists(st.integers(0, len(value)), max_size=9)))
        return [{key: value[a:b]} for a, b in zip([0, *cuts], [*cuts, len(value)], strict=True)]

    whole = run(answer({"reasoning_content": thinking}, {"content": text}))
    cut = run(answer(*pieces("reasoning_content", thinking), *pieces("content", text)))
    assert shown(whole[0], TextDelta) == shown(cut[0], TextDelta)
    assert shown(whole[0], ThinkingDelta) == shown(cut[0], ThinkingDelta)
    message = [
        result.message if isinstance(result, Completed) else result.partial for _, result in (whole, cut)
    ]
    assert message[0] == message[1]
    assert message[0].text == shown(whole[0], TextDelta)


@settings(max_examples=count(150, 4000), deadline=None)
@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["choices", "delta", "index", "tool_calls", "function", "arguments", "content", "usage", "prompt_tokens",
         "finish_reason", "error", "id", "name", "message"]), inner, max_size=5), max_leaves=20))  # fmt: skip
def test_no_json_makes_it_raise(value: object) -> None:
    run(b"data: " + json.dumps(value).encode() + b"\n\n", answer({"content": "x"}))
    run(json.dumps(value).encode())
