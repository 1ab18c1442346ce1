from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from deeptide.tui.scrollback.cells import chop, fit, graphemes, width_of, wrap
from deeptide.tui.scrollback.parts import source_parts
from deeptide.tui.scrollback.sheet import Kind, Line, Pen, Sheet, Span
from deeptide.tui.scrollback.split import split
from tests.deep import count
from tests.tui.scrollback.pages import INKS, MARKDOWN, drawn
from tests.tui.scrollback.test_split import texts

lines = st.text(alphabet="ab cd,. 中文。（）😀👩‍👧✌️é\u0301\tｶ", max_size=80)
PLAIN = Style()


@settings(max_examples=count(300, 10_000), deadline=None)
@given(lines, st.integers(2, 40))
def test_wrapped_pieces_fit_keep_their_order_and_lose_only_spaces(text: str, width: int) -> None:
    for spans in (wrap(text, width), chop(text, width)):
        at = 0
        for start, end in spans:
            assert start >= at
            assert not text[at:start].strip(" ")
            piece = text[start:end]
            units = graphemes(piece)
            assert sum(size for _, _, size in units) <= width or len(units) == 1
            at = end
        assert not text[at:].strip(" ")
    assert "".join(text[start:end] for start, end in chop(text, width)) == text


@settings(max_examples=count(200, 5_000), deadline=None)
@given(lines, st.integers(4, 40))
def test_no_grapheme_is_cut(text: str, width: int) -> None:
    edges = {start for start, _, _ in graphemes(text)} | {len(text)}
    for start, end in [*wrap(text, width), *chop(text, width)]:
        assert start in edges
        assert end in edges


@settings(max_examples=count(200, 5_000), deadline=None)
@given(lines, st.integers(2, 40))
def test_a_fitted_text_is_never_wider_than_its_room(text: str, width: int) -> None:
    assert width_of(fit(text, width)) <= width


def test_punctuation_does_not_begin_a_line() -> None:
    text = "你好，世界。再见！"
    assert [text[start:end] for start, end in wrap(text, 4)] == ["你", "好，", "世", "界。", "再", "见！"]


def sheets(text: str, width: int) -> list[Sheet]:
    return [part.draw(width, INKS) for part in source_parts(split(text))]


def text_under(line: Line, sheet: Sheet) -> str:
    """What the pieces of a line say they stand for."""
    return "".join(
        sheet.text[piece.offset : piece.offset + len(piece.text)]
        for piece in line.pieces
        if piece.kind is Kind.TEXT
    )


@settings(max_examples=count(100, 3_000), deadline=None)
@given(texts, st.sampled_from((12, 40, 100)))
def test_every_character_drawn_is_the_one_it_says_it_is(text: str, width: int) -> None:
    for sheet in sheets(text, width):
        at = 0
        for line in sheet.lines:
            shown = "".join(piece.text for piece in line.pieces if piece.kind is Kind.TEXT)
            assert shown == text_under(line, sheet).replace("\n", " ")
            assert line.start >= at or "|" in sheet.text
            assert line.end <= len(sheet.text)
            at = line.start


@settings(max_examples=count(100, 3_000), deadline=None)
@given(texts, st.sampled_from((12, 40, 100)))
def test_lines_are_exactly_as_wide_as_the_page(text: str, width: int) -> None:
    for sheet in sheets(text, width):
        for line in sheet.lines:
            strip = line.strip(width, INKS.page)
            assert strip.cell_length == sum(cell_len(segment.text) for segment in strip) == width
            assert line.addressed(width, 1).cell_length == width


def test_the_columns_of_a_table_stand_in_line_whatever_they_hold() -> None:
    rows = [
        line
        for line in drawn(MARKDOWN, 60)
        if "│" in line and ("苹果" in line or "数量" in line or "pear" in line)
    ]
    assert len(rows) == 3
    places = [[cell_len(row[:at]) for at, sign in enumerate(row) if sign == "│"] for row in rows]
    assert places[0] == places[1] == places[2]


def test_a_table_too_narrow_for_its_columns_becomes_records() -> None:
    wide = (
        "| one | two | three | four | five |\n|---|---|---|---|---|\n| a | b | c | d | " + "long " * 9 + "|\n"
    )
    lines = drawn(wide, 30)
    assert "  one: a" in lines
    assert any(line.startswith("  five: long") for line in lines)


def test_a_copied_table_has_no_padding() -> None:
    (sheet,) = sheets("| a | bb |\n|---|---:|\n| 长 | 2 |\n", 60)
    assert sheet.text == "a | bb\n长 | 2"


def test_copied_lists_and_code_read_like_their_source() -> None:
    said = "\n".join(
        sheet.text for sheet in sheets("- a\n- [x] b\n3. c\n\n```py\n\tif x:  \n\n\t\ty\n```\n", 60)
    )
    assert said == "- a\n- [x] b\n3. c\n\tif x:  \n\n\t\ty"


def test_marks_are_drawn_on_the_characters_they_name_and_nowhere_else() -> None:
    pen = Pen(20)
    pen.write([("你好 ", PLAIN), ("world", PLAIN)], first=[("| ", PLAIN)])
    mark = Style(reverse=True)
    (line,) = pen.lines
    marked = [s.text for s in line.strip(20, PLAIN, [Span(1, 5, mark)]) if s.style and s.style.reverse]
    assert "".join(marked) == "好 wo"


def test_both_cells_of_a_wide_character_and_the_rest_of_the_line_have_an_address() -> None:
    pen = Pen(12)
    pen.write([("a你b", PLAIN)], first=[("> ", PLAIN)])
    strip = pen.lines[0].addressed(12, 7)
    offsets = [segment.style.meta["offset"] for segment in strip if segment.style]
    assert offsets == [(0, 7)] * 3 + [(1, 7)] * 2 + [(2, 7)] + [(3, 7)] * 6


def test_a_link_shows_where_it_leads() -> None:
    (sheet,) = sheets("See [the docs](https://example.com/a) or https://example.com/b.", 80)
    assert sheet.text == "See the docs (https://example.com/a) or https://example.com/b."
    assert [(sheet.text[start:end], link) for start, end, link in sheet.links] == [
        ("the docs", "https://example.com/a"),
        ("https://example.com/b", "https://example.com/b"),
    ]
