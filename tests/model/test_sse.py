"""Bytes to events, cut anywhere."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.model.sse import Comment, Data, Event, Parser, Stray
from tests.deep import count


def parse(*chunks: bytes) -> list[Event]:
    parser = Parser()
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return events + parser.close()


def test_events_comments_and_names_are_read() -> None:
    got = parse(b": keep-alive\n\nevent: error\ndata: {}\n\ndata:x\ndata: y\nid: 3\n\n")
    assert got == [Comment("keep-alive"), Data("{}", "error"), Data("x\ny")]


def test_crlf_cr_and_a_byte_order_mark_are_line_ends_and_nothing() -> None:
    assert parse(b"\xef\xbb\xbfdata: 1\r\n\r\ndata: 2\r\rdata: 3\n\n") == [Data("1"), Data("2"), Data("3")]


def test_a_character_cut_in_its_bytes_arrives_whole() -> None:
    whole = "data: 中\n\n".encode()
    assert parse(whole[:7], whole[7:8], whole[8:]) == [Data("中")]


def test_a_last_line_without_its_end_is_still_read() -> None:
    assert parse(b"data: {}\n\ndata: [DONE]") == [Data("{}"), Data("[DONE]")]


def test_events_without_the_blank_line_between_them_are_kept_apart() -> None:
    assert parse(b'data: {"a":1}\ndata: {"b":2}\ndata: [DONE]\n') == [
        Data('{"a":1}'),
        Data('{"b":2}'),
        Data("[DONE]"),
    ]


def test_lines_that_are_no_fields_are_given_out_as_strays() -> None:
    assert parse(b"upstream timed out\n\n  {\n") == [Stray("upstream timed out"), Stray("  {")]


def test_bytes_that_are_no_utf8_do_not_raise() -> None:
    assert parse(b"data: \xff\xfe\n\n") == [Data("\ufffd\ufffd")]


LINES = st.sampled_from(
    [
        b"data: {}",
        b"data: \xe4\xb8\xad",
        b": ping",
        b"event: e",
        b"",
        b"plain",
        b"data",
        b"data:  x",
        b"\xf0\x9f",
    ]
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@settings(max_examples=count(200, 5000), deadline=None)
@given(st.lists(st.tuples(LINES, ENDS)), st.data())
def test_the_events_do_not_depend_on_the_cuts(lines: list[tuple[bytes, bytes]], data: st.DataObject) -> None:
    whole = b"".join(line + end for line, end in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=20)))
    chunks = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert parse(*chunks) == parse(whole)


@settings(max_examples=count(200, 5000), deadline=None)
@given(st.binary(), st.data())
def test_no_bytes_raise_and_single_bytes_give_the_same(raw: bytes, data: st.DataObject) -> None:
    assert parse(*(raw[at : at + 1] for at in range(len(raw)))) == parse(raw)
