from __future__ import annotations

import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pygments.lexers import get_lexer_by_name

from deeptide.tui.scrollback.code import ROOT, _kind, lex_line, lexer_for
from deeptide.tui.scrollback.diffs import diff_counts, diff_parts, diff_rows
from deeptide.tui.scrollback.parts import FencePart, source_parts
from deeptide.tui.scrollback.split import split
from tests.deep import count
from tests.tui.scrollback.pages import INKS

PYTHON = '''class A(Base):
    """A doc
    string with def in it."""

    @property
    def name(self) -> str:
        return f"{self.x!r} and {1 + 2}"  # a comment
'''
RUST = 'fn main() {\n    /* a\n       comment */\n    println!("{}", 1.5);\n}\n'
JAVASCRIPT = "const a = `one\n${two}\nthree`; // done\nfunction f(x) { return x ?? null }\n"


def coloured(language: str, text: str) -> list[tuple[str, str]]:
    """(text, kind) line by line, with a carried state."""
    stack = ROOT
    out: list[tuple[str, str]] = []
    for line in text.split("\n"):
        tokens, stack = lex_line(language, line, stack)
        out.extend((line[start:end], kind) for start, end, kind in tokens)
    return out


@pytest.mark.parametrize(("language", "text"), [("python", PYTHON), ("rust", RUST), ("js", JAVASCRIPT)])
def test_lexing_line_by_line_colours_as_lexing_the_whole_does(language: str, text: str) -> None:
    lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    by_character = [
        (character, _kind(token))
        for _, token, value in lexer.get_tokens_unprocessed(text)
        for character in value
    ]
    expected = [(character, kind) for character, kind in by_character if kind and character not in "\n"]
    found = [(character, kind) for said, kind in coloured(language, text) for character in said]
    assert found == expected


def test_unknown_languages_and_plain_text_are_not_coloured_and_never_guessed() -> None:
    for language in ("", "text", "nonsense-lang", "console"):
        assert lexer_for(language) is None
        assert lex_line(language, "def f(): pass", ROOT) == ([], ROOT)


@settings(max_examples=count(60, 2000), deadline=None)
@given(
    st.sampled_from(("python", "html", "bash", "c", "yaml", "json", "markdown", "diff", "php", "toml", "go")),
    st.lists(st.text(alphabet="ab \"'`#/*<>{}()=:-+$\\1\t", max_size=30), max_size=8),
)
def test_any_line_in_any_language_is_coloured_without_overlap(language: str, lines: list[str]) -> None:
    stack = ROOT
    for line in lines:
        tokens, stack = lex_line(language, line, stack)
        at = 0
        for start, end, kind in tokens:
            assert at <= start < end <= len(line)
            assert kind in INKS.syntax
            at = end


def test_a_string_over_the_edge_of_two_sections_keeps_its_colour() -> None:
    text = "```py\nx = '''\n" + "inside def\n" * 90 + "'''\ny = 1\n```\n"
    parts = source_parts(split(text))
    assert len(parts) == 3
    last = parts[-1]
    assert isinstance(last, FencePart)
    assert last.lexed.lines()[0] == ("inside def", [(0, 10, "string")])


OLD = [f"line {number}" for number in range(1, 40)]


def unified(old: list[str], new: list[str]) -> str:
    return "\n".join(difflib.unified_diff(old, new, "a/f.py", "b/f.py", lineterm=""))


def test_each_line_of_a_diff_has_its_number_and_sign() -> None:
    new = [*OLD[:4], "changed", *OLD[5:30], "added", *OLD[30:]]
    rows = diff_rows(unified(OLD, new))
    assert [(row.number, row.text) for row in rows if row.sign == "-"] == [(5, "line 5")]
    assert [(row.number, row.text) for row in rows if row.sign == "+"] == [(5, "changed"), (31, "added")]
    assert sum(row.sign == "@" for row in rows) == 1
    assert diff_counts(unified(OLD, new)) == (2, 1)


@settings(max_examples=count(100, 3000), deadline=None)
@given(st.data())
def test_a_diff_shows_the_changed_lines_of_both_files(data: st.DataObject) -> None:
    line = st.sampled_from(("a", "b", "", "--- x", "+++ y", "@@ z", "\\ no"))
    old, new = data.draw(st.lists(line, max_size=12)), data.draw(st.lists(line, max_size=12))
    for row in diff_rows(unified(old, new)):
        if row.sign == "-":
            assert old[row.number - 1] == row.text
        elif row.sign in "+ ":
            assert new[row.number - 1] == row.text


def test_a_folded_diff_says_how_much_it_leaves_out() -> None:
    parts, hidden = diff_parts(unified([], OLD), 12)
    assert hidden == len(OLD) - 12
    shown = [line.plain for part in parts for line in part.draw(60, INKS).lines]
    assert len(shown) == 12
    assert shown[0].strip() == "1 + line 1"
