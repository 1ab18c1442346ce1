"""For any text, encoding, ending and edit: bytes outside the edit stay, and a diff is exactly its change."""

from __future__ import annotations

import asyncio
import codecs
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from deeptide.protocol.errors import ToolError
from deeptide.tools.diff import count as diff_count
from deeptide.tools.diff import unified
from deeptide.tools.places import Replacer
from deeptide.workspace.files import decode, encode
from tests.deep import count
from tests.tools.workbench import workbench

ENDINGS = st.sampled_from(["\n", "\r\n", "\r"])
WORDS = st.text(alphabet="abx =(){}\t 行é字😀", max_size=12)
ENCODINGS = st.sampled_from(
    [
        ("utf-8", b""),
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
        ("latin-1", b""),
        ("gb18030", b""),
    ]
)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """The bytes of a text file: random lines, one ending or several, any encoding."""
    mixed = draw(st.booleans())
    only = draw(ENDINGS)
    lines = draw(st.lists(WORDS, min_size=1, max_size=12))
    text = "".join(line + (draw(ENDINGS) if mixed else only) for line in lines)
    if draw(st.booleans()):
        text = text.rstrip("\r\n")
    encoding, bom = draw(ENCODINGS)
    return bom + text.encode(encoding, "replace")


@settings(max_examples=count(150, 20_000), deadline=None)
@given(files(), st.data())
def test_bytes_outside_an_exact_edit_are_unchanged(data: bytes, draw: st.DataObject) -> None:
    decoded = decode(data)
    text = decoded.text
    assume(len(text) > 1)
    start = draw.draw(st.integers(0, len(text) - 1))
    end = draw.draw(st.integers(start + 1, len(text)))
    old, new = text[start:end], draw.draw(WORDS)
    assume(old != new and text.find(old) == start and text.find(old, start + 1) < 0)
    replacer = Replacer(decoded)
    replacer.apply("The edit", old, new)
    try:
        after = encode(replacer.text, decoded)
    except Exception as error:
        assert "has no character" in str(error)
        return
    head, tail = encode(text[:start], decoded), encode(text[end:], decoded)[len(decoded.bom) :]
    assert after == head + new.encode(decoded.encoding) + tail
    assert data.startswith(head) and data.endswith(tail)


@settings(max_examples=count(150, 20_000), deadline=None)
@given(files(), WORDS, WORDS, st.booleans())
def test_whatever_old_is_the_text_around_the_place_stays_or_the_edit_is_refused(
    data: bytes, old: str, new: str, everywhere: bool
) -> None:
    decoded = decode(data)
    replacer = Replacer(decoded)
    try:
        replacer.apply("The edit", old, new, everywhere=everywhere)
    except ToolError as error:
        assert replacer.text == decoded.text and error.advice
        return
    exact = decoded.text.count(old)
    if exact:
        assert replacer.text == decoded.text.replace(old, new) and not replacer.remarks
    else:
        assert len(replacer.remarks) == 1
        prefix = _common(decoded.text, replacer.text)
        suffix = _common(decoded.text[prefix:][::-1], replacer.text[prefix:][::-1])
        gone = decoded.text[prefix : len(decoded.text) - suffix]
        assert len(gone) <= len(old) + 40


@settings(max_examples=count(100, 10_000), deadline=None)
@given(st.lists(WORDS, min_size=3, max_size=10), st.data())
def test_lines_copied_from_a_crlf_file_as_shown_are_found_in_it(
    lines: list[str], draw: st.DataObject
) -> None:
    text = "\r\n".join(lines) + "\r\n"
    first = draw.draw(st.integers(0, len(lines) - 2))
    last = draw.draw(st.integers(first + 1, len(lines) - 1))
    shown = "\n".join(lines[first : last + 1]) + "\n"
    assume("\n".join(lines).count(shown.rstrip("\n")) == 1 and shown.strip())
    replacer = Replacer(decode(text.encode()))
    try:
        replacer.apply("The edit", shown, "new\nlines\n")
    except ToolError as error:
        assert "times" in str(error)
        return
    expected = [*lines[:first], "new", "lines", *lines[last + 1 :]]
    assert replacer.text == "\r\n".join(expected) + "\r\n"


@settings(max_examples=count(30, 2_000), deadline=None)
@given(data=files(), picks=st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4))
def test_on_the_disk_several_edits_are_all_made_or_none(data: bytes, picks: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bench = workbench(Path(folder), Path(folder) / "spill")
        path = bench.file("a.txt", data)
        bench.ctx.reads.record(path, data)
        edits = [{"old": old, "new": new} for old, new in picks]
        replacer = Replacer(decode(data))
        try:
            for old, new in picks:
                replacer.apply("", old, new)
            expected = encode(replacer.text, decode(data))
        except Exception:
            expected = data
        try:
            asyncio.run(bench.output("edit", path="a.txt", edits=edits))
        except Exception:
            expected = data
        assert path.read_bytes() == expected


@settings(max_examples=count(150, 20_000), deadline=None)
@given(st.lists(WORDS, max_size=30), st.lists(WORDS, max_size=30), ENDINGS, st.booleans(), st.booleans())
def test_applying_a_diff_gives_exactly_the_text_after(
    old: list[str], new: list[str], ending: str, old_ends: bool, new_ends: bool
) -> None:
    before, after = ending.join(old) + ending * old_ends, ending.join(new) + ending * new_ends
    diff = unified("a.txt", before, after)
    assert (diff == "") == (before == after)
    assert _patched(before, after, diff) == after


@pytest.mark.parametrize("size", [3_000, 60_000])
def test_a_small_change_in_a_large_file_is_a_small_diff(size: int) -> None:
    lines = [f"line {n}\n" for n in range(size)]
    changed = [*lines[: size // 2], "new\n", *lines[size // 2 + 1 :]]
    diff = unified("a.txt", "".join(lines), "".join(changed))
    assert diff.count("\n") == 2 + 1 + 8 and diff_count(diff) == "+1 -1"


def test_a_change_of_line_endings_alone_is_visible_in_the_diff() -> None:
    diff = unified("a.txt", "a\r\nb\r\n", "a\nb\n")
    assert "-a\r\n" in diff and "+a\n" in diff
    assert "\r" not in unified("a.txt", "a\r\nb\r\n", "a\r\nc\r\n")


def _common(left: str, right: str) -> int:
    return next(
        (i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right))
    )


def _patched(before: str, after: str, diff: str) -> str:
    """`before` with the unified `diff` applied, written from the format's own rules."""
    if not diff:
        return before
    plain = before.count("\r\n") == before.count("\n") and after.count("\r\n") == after.count("\n") > 0
    plain = plain and (before.count("\n") > 0 or not before)
    source = (before.replace("\r\n", "\n") if plain else before).split("\n")
    source = [line + "\n" for line in source[:-1]] + ([source[-1]] if source[-1] else [])
    result: list[str] = []
    at = 0
    rows = re.split(r"(?<=\n)", diff)[2:]
    for index, row in enumerate(rows):
        mark, body = row[:1], row[1:]
        if index + 1 < len(rows) and rows[index + 1].startswith("\\"):
            body = body[:-1]
        if mark == "@":
            found = re.match(r"@@ -(\d+)(?:,(\d+))? ", row)
            assert found
            start = int(found[1]) - (0 if found[2] == "0" else 1)
            result += source[at:start]
            at = start
        elif mark == " ":
            assert source[at] == body
            result.append(body)
            at += 1
        elif mark == "-":
            assert source[at] == body
            at += 1
        elif mark == "+":
            result.append(body)
    text = "".join(result + source[at:])
    return text.replace("\n", "\r\n") if plain else text
