"""Words of a shell line as bash would read them: checked against bash itself, on harmless words only."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deeptide.permissions.shell_words import segments
from deeptide.permissions.words import plain
from tests.deep import count

PIECES = st.sampled_from(
    [
        "a",
        "b c",
        "/",
        "~",
        "$HOME",
        "${HOME}",
        "$UNSET",
        "${UNSET:-d}",
        "'q $HOME'",
        '"w $HOME"',
        "\\$",
        "\\ ",
        "{x,y}",
        "{x,{y,z}}",
        "$'\\t\\x41'",
        "你",
        "=",
        "-",
        ".",
        "..",
        '"$(printf s)"',
        "{}",
        "{x}",
        "%",
        '"{x,y}"',
        "\\{x,y}",
    ]
)


def readings(line: str) -> list[str]:
    """All values of the words after the program."""
    found = segments(line, cwd="/w", home="/home/u").segments[-1]
    return [plain(value) for arg in found.rest for value in arg.values]


@settings(
    max_examples=count(60, 1500), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(PIECES.filter(lambda piece: " " not in piece or piece[0] in "'\"\\"), min_size=1, max_size=4))
def test_a_word_becomes_what_bash_makes_of_it(tmp_path: Path, pieces: list[str]) -> None:
    word = "".join(pieces)
    if "printf" in word or "$UNSET" in word or re.match("~[^/]", word):
        return
    if segments(f"printf {word}").problems:
        return
    env = {"HOME": "/home/u", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {word}"], env=env, cwd=tmp_path, capture_output=True, check=True
    )
    wanted = set(done.stdout.decode().split("\0")[:-1])
    assert wanted <= set(readings(f"printf {word}")), word


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ('rm "$UNSET/"*', ["/*"]),
        ("rm ${UNSET}/x", ["/x"]),
        ("rm $(pwd)/x", ["/x"]),
        ("D=a; rm $D/b", ["a/b"]),
        ("for d in a b; do rm $d; done", ["a", "b"]),
        ("rm ${X:-/d}", ["/d"]),
        ("rm {a,b}/{c,d}", ["a/c", "a/d", "b/c", "b/d"]),
        ("rm ~ ~/x ~root '~'", ["/home/u", "/home/u/x", "/root", "~"]),
        ("X='a b'; rm $X", ["a", "b"]),
        ("X='a b'; rm \"$X\"", ["a b"]),
        ("rm a\\\n  b", ["a", "b"]),
    ],
)
def test_unknown_parts_are_empty_and_known_ones_filled_in(line: str, values: list[str]) -> None:
    assert readings(line) == values


@pytest.mark.parametrize(
    ("line", "programs"),
    [
        ("a | b && c; d || e & f", "abcdef"),
        ("a $(b) `c` <(d)", "bcda"),
        ("if a; then b; elif c; then d; else e; fi", "abcde"),
        ("while a; do b; done; case x in y) c;; esac", "abc"),
        ("a <<E | b && c\nx\nE\nd", "abcd"),
        ("a\n\\b\nc", "abc"),
        ("a | b | c -3\nd && e", "abcde"),
        ("f() { a; }; b", "ab"),
        ("a # b\nc", "ac"),
        ("a 'b; c' \"d; e\"", "a"),
        ("A=$(a) b", "ab"),
    ],
)
def test_every_command_in_a_line_is_found(line: str, programs: str) -> None:
    analysis = segments(line)
    assert "".join(segment.name for segment in analysis.segments) == programs
    assert analysis.problems == ()


@pytest.mark.parametrize("line", ["a 'b", "a $(", "a && ", "if a; then", "a ) b", 'bash -c "$X"', "x < <("])
def test_what_is_not_understood_is_a_problem(line: str) -> None:
    assert segments(line).problems


def test_folders_are_followed_and_forgotten_after_a_subshell() -> None:
    found = segments("cd a && x; (cd /b && y); z; cd; w", cwd="/w", home="/home/u").segments
    folders = {segment.name: segment.cwds for segment in found}
    assert folders["x"] == ("/w/a",)
    assert folders["y"] == ("/b",)
    assert set(folders["z"]) == {"/w/a", "/w"}
    assert folders["w"][0] == "/home/u"
