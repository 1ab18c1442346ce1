"""Bytes come back exactly as they were, whatever their encoding."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.protocol.errors import WorkspaceError
from deeptide.workspace.encoding import decode, encode, is_binary
from tests.deep import count

LINES = st.lists(st.sampled_from(["a", "été", "你好，世界", "", "\t", "😀"]), max_size=8)
ENDINGS = st.sampled_from(["\n", "\r\n", "\r"])


@settings(max_examples=count(300, 10000))
@given(st.binary(max_size=200))
def test_any_bytes_come_back_exactly(data: bytes) -> None:
    decoded = decode(data)
    assert encode(decoded.text, decoded) == data


@settings(max_examples=count(150, 3000))
@given(
    LINES,
    st.lists(ENDINGS, min_size=8, max_size=8),
    st.sampled_from(["utf-8", "utf-16", "gb18030", "utf-8-sig"]),
)
def test_text_with_any_line_endings_comes_back_exactly(
    lines: list[str], ends: list[str], encoding: str
) -> None:
    text = "".join(line + end for line, end in zip(lines, ends, strict=False))
    data = text.encode(encoding)
    decoded = decode(data)
    assert encode(decoded.text, decoded) == data


@settings(max_examples=count(100, 2000))
@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60), st.sampled_from([b"", codecs.BOM_UTF8])
)
def test_utf8_is_read_as_what_it_says(text: str, bom: bytes) -> None:
    if text.startswith("\ufeff"):
        return
    decoded = decode(bom + text.encode())
    if decoded.encoding == "utf-8":
        assert decoded.text == text
        assert decoded.bom == bom


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"plain\n", "plain\n", "utf-8"),
        ("你好，世界。这是一个文件。\n".encode("gb18030"), "你好，世界。这是一个文件。\n", "gb18030"),
        ("caf\xe9 \xe9t\xe9 na\xefve\n".encode("latin-1"), "café été naïve\n", "latin-1"),
        (codecs.BOM_UTF16_LE + "héllo".encode("utf-16-le"), "héllo", "utf-16-le"),
        (codecs.BOM_UTF16_BE + "你好".encode("utf-16-be"), "你好", "utf-16-be"),
        (codecs.BOM_UTF8 + b"x", "x", "utf-8"),
        ("bare sixteen\r\n".encode("utf-16-le"), "bare sixteen\r\n", "utf-16-le"),
        (b"", "", "utf-8"),
    ],
)
def test_the_encoding_is_found(data: bytes, text: str, encoding: str) -> None:
    decoded = decode(data)
    assert (decoded.text, decoded.encoding) == (text, encoding)
    assert encode(decoded.text, decoded) == data


@pytest.mark.parametrize(
    ("data", "newline", "mixed"),
    [
        (b"a\r\nb\r\n", "\r\n", False),
        (b"a\nb\n", "\n", False),
        (b"a\r\nb\r\nc\n", "\r\n", True),
        (b"a\rb\r", "\r", False),
        (b"none", "\n", False),
    ],
)
def test_the_commonest_line_ending_is_told(data: bytes, newline: str, mixed: bool) -> None:
    decoded = decode(data)
    assert (decoded.newline, decoded.mixed) == (newline, mixed)


def test_an_edit_changes_only_what_it_names() -> None:
    data = codecs.BOM_UTF8 + b"eins\r\nzwei\ndrei\r\n"
    decoded = decode(data)
    edited = encode(decoded.text.replace("zwei", "två"), decoded)
    assert edited == codecs.BOM_UTF8 + "eins\r\ntvå\ndrei\r\n".encode()


def test_a_character_that_the_encoding_lacks_is_refused_with_advice() -> None:
    decoded = decode(b"caf\xe9\n")
    with pytest.raises(WorkspaceError, match=r"latin-1.*好") as caught:
        encode("caf\xe9 好\n", decoded)
    assert "UTF-8" in caught.value.advice


@pytest.mark.parametrize(
    ("data", "binary"),
    [
        (b"\x7fELF\x00\x01", True),
        (b"text", False),
        (b"", False),
        ("wide".encode("utf-16"), False),
        ("wide text".encode("utf-16-be"), False),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", True),
        ("中文".encode("gb18030"), False),
    ],
)
def test_binary_files_are_told_from_text(data: bytes, binary: bool) -> None:
    assert is_binary(data) is binary
