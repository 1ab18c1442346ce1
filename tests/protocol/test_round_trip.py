"""Every value of the protocol survives being written to the log and read back."""

from __future__ import annotations

import types
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.protocol import events, messages
from deeptide.protocol.approvals import Approval, Decision
from deeptide.protocol.events import Record, decode_event, decode_record, encode_event, encode_record
from deeptide.protocol.messages import Message, ToolCall, ToolResult
from deeptide.protocol.plan import Plan, PlanItem
from deeptide.protocol.usage import Money, Usage
from tests.deep import count

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: st.integers(-(2**53), 2**53),
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    type(None): st.none(),
    msgspec.Raw: st.sampled_from([msgspec.Raw(b"{}"), msgspec.Raw(b'{"a":[1,2,{"b":null}]}')]),
}


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Anything that the annotation `kind` allows."""
    if kind in PLAIN:
        return PLAIN[kind]
    origin, args = get_origin(kind), get_args(kind)
    if origin is Literal:
        return st.sampled_from(args)
    if origin in (Union, types.UnionType):
        return st.one_of([values(arg) for arg in args])
    if origin is tuple:
        return st.lists(values(args[0]), max_size=3).map(tuple)
    if origin is dict:
        keys = values(args[0])
        return st.dictionaries(keys, values(args[1]), max_size=3)
    hints = get_type_hints(kind)
    return st.builds(kind, **{name: values(hints[name]) for name in kind.__struct_fields__})


DURABLE = get_args(events.DURABLE)
LIVE = get_args(events.LIVE)


@pytest.mark.parametrize("kind", [*DURABLE, *LIVE], ids=lambda kind: kind.__name__)
def test_an_event_survives_encoding(kind: type[events.Event]) -> None:
    @settings(max_examples=count(15, 500), deadline=None)
    @given(values(kind))
    def holds(event: events.Event) -> None:
        line = encode_event(event)
        assert b"\n" not in line
        assert decode_event(line) == event

    holds()


@settings(max_examples=count(60, 2000), deadline=None)
@given(st.integers(1, 2**40), st.floats(0, 2**33), st.one_of([values(kind) for kind in DURABLE]))
def test_a_record_survives_encoding_on_one_line(seq: int, at: float, event: Any) -> None:
    record = Record(seq, at, event)
    line = encode_record(record)
    assert b"\n" not in line
    assert decode_record(line) == record


@settings(max_examples=count(60, 2000), deadline=None)
@given(values(Message))
def test_a_message_survives_encoding(message: Message) -> None:
    assert msgspec.json.decode(msgspec.json.encode(message), type=Message) == message


@settings(max_examples=count(60, 2000))
@given(st.binary(max_size=60))
def test_a_foreign_line_is_refused_with_a_decoding_error(line: bytes) -> None:
    with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)):
        decode_record(line)


@settings(max_examples=count(40, 1000), deadline=None)
@given(st.one_of([values(kind) for kind in DURABLE]), st.data())
def test_a_torn_line_is_never_read_as_a_record(event: Any, data: st.DataObject) -> None:
    line = encode_record(Record(1, 0.0, event))
    cut = data.draw(st.integers(0, len(line) - 1))
    with pytest.raises(msgspec.DecodeError):
        decode_record(line[:cut])


def test_durable_and_live_events_say_which_they_are() -> None:
    assert all(kind.durable for kind in DURABLE)
    assert not any(kind.durable for kind in LIVE)
    tags = [kind.__struct_config__.tag for kind in (*DURABLE, *LIVE)]
    assert len(set(tags)) == len(tags)


def test_a_live_event_is_no_record() -> None:
    line = b'{"seq":1,"at":0,"event":' + encode_event(events.TextDelta("x")) + b"}"
    with pytest.raises(msgspec.ValidationError):
        decode_record(line)


def test_model_text_keeps_its_bytes() -> None:
    arguments = '{"b": 1, "a":  [1,2],\t"c": "\\u4f60\\ud83d"}'
    message = messages.assistant("你好", thinking=" \n想 ", calls=(ToolCall("1", "read", arguments),))
    back = msgspec.json.decode(msgspec.json.encode(message), type=Message)
    assert back.tool_calls[0].arguments == arguments
    assert back.thinking == " \n想 "
    assert back.text == "你好"
    assert [type(part).__name__ for part in back.parts] == ["Thinking", "Text", "ToolCall"]


def test_a_message_gives_its_parts_by_kind() -> None:
    result = ToolResult("1", "read", "text")
    assert messages.tool(result).result == result
    assert messages.user("a").text == "a"
    assert messages.system("s").role == "system"
    assert messages.user("a").result is None


@given(*[values(Usage)] * 3)
@settings(max_examples=count(50, 500))
def test_usage_adds_up_in_any_grouping(a: Usage, b: Usage, c: Usage) -> None:
    assert (a + b) + c == a + (b + c)
    assert a + Usage() == a
    assert (a + b).total == a.total + b.total


def test_money_of_two_currencies_cannot_be_added() -> None:
    assert Money() + Money(1.0, "CNY") == Money(1.0, "CNY")
    assert str(Money(0.1234)) == "$0.1234"
    small = {0.0: "$0.00", 0.000086: "$0.000086", 0.00009996: "$0.00010", 0.00012: "$0.00012", 0.0012: "$0.0012",
             2.8e-9: "$0.0000000028", -0.00004: "$-0.000040", 9.99996: "$10.0000"}  # fmt: skip
    assert {amount: str(Money(amount)) for amount in small} == small
    assert str(Money(12, "CNY")) == "¥12.00"
    with pytest.raises(ValueError, match="CNY"):
        Money(1.0) + Money(1.0, "CNY")


def test_a_plan_is_shown_one_line_an_item() -> None:
    plan = Plan((PlanItem("看", "completed"), PlanItem("do", "in_progress"), PlanItem("rest")))
    assert plan.render() == "[x] 看\n[~] do\n[ ] rest"


@settings(max_examples=count(40, 500), deadline=None)
@given(values(Approval), values(Decision))
def test_a_question_and_its_answer_survive_encoding(approval: Approval, decision: Decision) -> None:
    assert msgspec.json.decode(msgspec.json.encode(approval), type=Approval) == approval
    assert msgspec.json.decode(msgspec.json.encode(decision), type=Decision) == decision
