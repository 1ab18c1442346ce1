"""list, glob and grep: with ripgrep and without it the same answers, in the same order and form."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.protocol.errors import ToolError
from deeptide.tools import listing, spots
from deeptide.tools.globs import Matcher
from deeptide.tools.grep_worker import Job, rows
from tests.deep import count
from tests.tools.workbench import Workbench, workbench

RG = listing.ripgrep(os.environ)
needs_rg = pytest.mark.skipif(RG is None, reason="ripgrep is not installed")
ENGINES = ["walker", pytest.param("rg", marks=needs_rg)]


@pytest.fixture(params=ENGINES)
def both(request: pytest.FixtureRequest, bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> Workbench:
    """The workbench with either engine."""
    if request.param == "walker":
        monkeypatch.setattr(sys, "executable", _python_without_rg(bench.root.parent))
        bench.ctx = replace(bench.ctx, env={**os.environ, "PATH": "/nowhere"})
    return bench


def _python_without_rg(folder: Path) -> str:
    """A path of this Python in a folder that holds no `rg`."""
    link = folder / "bin" / "python"
    link.parent.mkdir(exist_ok=True)
    link.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    link.chmod(0o755)
    return str(link)


def tree(bench: Workbench) -> None:
    bench.file(".gitignore", "*.log\n/build/\n!keep.log\n")
    bench.file("a.py", "import os\nprint('Hello')\n\nhello = 1\n")
    bench.file("b.log", "hello\n")
    bench.file("keep.log", "hello from the log\n")
    bench.file("build/x.py", "hello\n")
    bench.file("src/.gitignore", "gen.py\n")
    bench.file("src/gen.py", "hello\n")
    bench.file("src/main.py", "x = 'hello'\n")
    bench.file("src/sub/main.ts", "// hello 行\n")
    bench.file(".github/ci.yml", "hello\n")
    bench.file("logo.bin", b"hello\n\0\n")
    bench.file("z-dir/a.py", "nothing\n")
    bench.file("z.py", "hello\n")


async def test_grep_leaves_out_what_git_ignores_what_is_hidden_and_what_is_binary(both: Workbench) -> None:
    tree(both)
    assert await both.text("grep", pattern="hello") == (
        "a.py:4:hello = 1\n"
        "keep.log:1:hello from the log\n"
        "src/main.py:1:x = 'hello'\n"
        "src/sub/main.ts:1:// hello 行\n"
        "z.py:1:hello"
    )


async def test_grep_takes_case_glob_path_and_limit(both: Workbench) -> None:
    tree(both)
    assert await both.text("grep", pattern="hello", ignore_case=True, path="a.py") == (
        "a.py:2:print('Hello')\na.py:4:hello = 1"
    )
    assert await both.text("grep", pattern="hello", glob="*.{ts,log}") == (
        "keep.log:1:hello from the log\nsrc/sub/main.ts:1:// hello 行"
    )
    assert await both.text("grep", pattern="hello", glob="src/**/*.ts") == "src/sub/main.ts:1:// hello 行"
    assert await both.text("grep", pattern="hello", path="src", glob="*.py") == "src/main.py:1:x = 'hello'"
    assert await both.text("grep", pattern="hello", glob=".github/*") == ".github/ci.yml:1:hello"
    assert await both.text("grep", pattern="hello", limit=2) == (
        "a.py:4:hello = 1\nkeep.log:1:hello from the log\n[stopped at 2 matches: narrow the search]"
    )
    assert await both.text("grep", pattern="never there") == "No match."


async def test_a_file_or_folder_that_is_named_is_searched_though_ignored(both: Workbench) -> None:
    tree(both)
    assert await both.text("grep", pattern="hello", path="b.log") == "b.log:1:hello"
    assert await both.text("grep", pattern="hello", path="build") == "build/x.py:1:hello"
    assert await both.text("grep", pattern="hello", path=".github") == ".github/ci.yml:1:hello"


async def test_context_lines_are_joined_where_they_touch(both: Workbench) -> None:
    both.file("a.txt", "".join(f"{n}\n" for n in range(1, 21)))
    assert await both.text("grep", pattern="^(3|5|15)$", context=1) == (
        "a.txt-2-2\na.txt:3:3\na.txt-4-4\na.txt:5:5\na.txt-6-6\n--\na.txt-14-14\na.txt:15:15\na.txt-16-16"
    )


async def test_a_match_in_a_very_long_line_is_shown_with_its_surroundings(both: Workbench) -> None:
    both.file("min.js", "行" * 5000 + "needle" + "y" * 5000 + "\n")
    text = await both.text("grep", pattern="needle")
    assert "行needley" in text and "[line cut: 10,006 characters]" in text and len(text) < 600


async def test_windows_line_ends_do_not_hide_the_end_of_a_line(both: Workbench) -> None:
    both.file("a.txt", b"one\r\ntwo\r\n")
    assert await both.text("grep", pattern="one$") == "a.txt:1:one"


async def test_utf16_with_a_mark_is_searched(both: Workbench) -> None:
    both.file("a.txt", "zero\n行 needle\n".encode("utf-16"))
    assert await both.text("grep", pattern="needle") == "a.txt:2:行 needle"


async def test_empty_lines_and_empty_matches_count(both: Workbench) -> None:
    both.file("a.txt", "x\n\ny\n")
    assert await both.text("grep", pattern="^$") == "a.txt:2:"
    assert await both.text("grep", pattern="q*") == "a.txt:1:x\na.txt:2:\na.txt:3:y"


async def test_what_only_one_engine_knows_is_still_found(both: Workbench) -> None:
    both.file("a.txt", "foobar\nfoobaz\nabab\n")
    assert await both.text("grep", pattern="foo(?=baz)") == "a.txt:2:foobaz"
    assert await both.text("grep", pattern=r"(ab)\1") == "a.txt:3:abab"


async def test_a_wrong_pattern_is_refused_with_the_reason(both: Workbench) -> None:
    both.file("a.txt", "x\n")
    assert "not a valid regular expression: unterminated" in await both.refused("grep", pattern="x[")
    assert "line by line" in await both.refused("grep", pattern="a\nb")
    assert "There is no file nowhere" in await both.refused("grep", pattern="x", path="nowhere")


async def test_file_names_with_line_breaks_spaces_and_escapes_do_no_harm(both: Workbench) -> None:
    both.file("a\nb c.txt", "hello\n")
    both.file("\x1b[31m.txt", "hello\n")
    assert await both.text("grep", pattern="hello") == ".txt:1:hello\na␊b c.txt:1:hello"
    assert await both.text("glob", pattern="*.txt") == ".txt\na␊b c.txt"


async def test_a_link_out_of_the_folder_is_not_followed(both: Workbench, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("hello secret\n")
    (both.root / "link.txt").symlink_to(tmp_path / "secret.txt")
    (both.root / "linked").symlink_to(tmp_path)
    assert await both.text("grep", pattern="hello") == "No match."
    assert await both.text("glob", pattern="*.txt") == "No file matches."


async def test_files_that_may_hold_secrets_are_passed_over_unless_named(both: Workbench) -> None:
    both.file("server.pem", "hello key\n")
    both.file(".env", "hello token\n")
    both.file(".env.example", "hello nothing\n")
    assert await both.text("grep", pattern="hello") == "No match."
    assert await both.text("grep", pattern="hello", glob=".env*") == ".env.example:1:hello nothing"
    assert await both.text("grep", pattern="hello", path="server.pem") == "server.pem:1:hello key"


async def test_glob_finds_by_name_by_path_and_hidden_only_when_asked(both: Workbench) -> None:
    tree(both)
    assert await both.text("glob", pattern="*.py") == "a.py\nsrc/main.py\nz-dir/a.py\nz.py"
    assert await both.text("glob", pattern="src/*.py") == "src/main.py"
    assert await both.text("glob", pattern="main.*", path="src") == "src/main.py\nsrc/sub/main.ts"
    assert await both.text("glob", pattern=".github/**") == ".github/ci.yml"
    assert await both.text("glob", pattern="*.rs") == "No file matches."


async def test_glob_says_when_there_are_more(both: Workbench) -> None:
    for n in range(305):
        both.file(f"f{n:03}.txt", "")
    text = await both.text("glob", pattern="*.txt")
    assert text.count("\n") == 300 and "more than 300 files" in text


async def test_glob_in_a_file_or_nowhere_is_refused(both: Workbench) -> None:
    both.file("a.txt", "")
    assert "is a file, not a folder" in await both.refused("glob", pattern="*", path="a.txt")
    assert "no file nowhere" in await both.refused("glob", pattern="*", path="nowhere")
    assert "pattern is empty" in await both.refused("glob", pattern=" ")


async def test_a_catastrophic_pattern_is_stopped_and_the_loop_goes_on(bench: Workbench) -> None:
    bench.file("a.txt", "a" * 200 + "\n")
    search = spots.Search(bench.root, r"^(?=a)(a+)+$(?<=b)", False, False, "", 10_000_000, 100)
    found, ending = await spots.find_spots(search, lambda path: True, bench.ctx.env, time_s=1.0)
    assert found == [] and "not complete" in ending


async def test_the_worker_takes_no_module_from_the_workspace(both: Workbench) -> None:
    both.file("re.py", "raise SystemExit('hello from the workspace')\n")
    both.file("a.txt", "ab\n")
    here = os.getcwd()
    os.chdir(both.root)
    try:
        assert await both.text("grep", pattern="a(?=b)", glob="*.txt") == "a.txt:1:ab"
    finally:
        os.chdir(here)


async def test_list_shows_folders_sizes_links_and_what_git_ignores(bench: Workbench) -> None:
    tree(bench)
    (bench.root / "link").symlink_to("a.py")
    text = await bench.text("list")
    assert text == (
        ".github/\n.gitignore  24 bytes\na.py  36 bytes\nb.log  6 bytes  (ignored by git)\n"
        "build/  (ignored by git)\nkeep.log  19 bytes\nlink -> a.py\nlogo.bin  8 bytes\nsrc/\nz-dir/\nz.py  6 bytes"
    )
    assert await bench.text("list", path="z-dir") == "a.py  8 bytes"
    assert "is a file, not a folder. Use read" in await bench.refused("list", path="a.py")
    (bench.root / "empty").mkdir()
    assert await bench.text("list", path="empty") == "(empty folder)"


async def test_list_says_when_there_are_more(bench: Workbench) -> None:
    for n in range(510):
        bench.file(f"f{n:03}", "")
    assert (await bench.text("list")).endswith("f499  0 bytes\n[10 more entries: use glob to narrow it down]")


NAMES = st.sampled_from(["a", "b.py", "c.log", ".h", "d", "build", "é.py", "B.py", "a-b", "a.b"])
LEAVES = st.sampled_from(["a", "b.py", "c.log", "c.txt", ".h", "é.py"])
RULES = st.sampled_from(
    ["*.log", "*.txt", "build/", "/d", "!c.txt", "a*", "# no", "", "d/**/b.py", "[ab].py", "**/a"]
)
NAME = st.text(alphabet="abé.", min_size=1, max_size=4).filter(lambda name: name.strip("."))
WORDS = st.sampled_from(["x", "foo bar", "Foo", "行", "foo(1)", "", "  foo"])


@needs_rg
@settings(max_examples=count(15, 1500), deadline=None)
@given(
    st.lists(st.tuples(st.lists(NAMES, max_size=2), LEAVES, st.lists(WORDS, max_size=4)), max_size=8),
    st.lists(st.tuples(st.lists(NAMES, max_size=2), st.lists(RULES, max_size=3)), max_size=3),
    st.sampled_from(["foo", "^$", "行|Foo", r"\bfoo\b", "o{2}", "."]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_ripgrep_and_the_walker_see_the_same_in_the_same_order(
    files: list[tuple[list[str], str, list[str]]],
    ignores: list[tuple[list[str], list[str]]],
    pattern: str,
    ignore_case: bool,
    hidden: bool,
    repository: bool,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bench = workbench(Path(folder) / "outer" / "work", Path(folder) / "spill")
        for parts, leaf, lines in files:
            _try_file(bench, "/".join([*parts, leaf]), "\n".join(lines))
        for parts, rules in ignores:
            _try_file(bench, "/".join([*parts, ".gitignore"]), "\n".join(rules))
        bench.root.mkdir(parents=True, exist_ok=True)
        (bench.root.parent / ".gitignore").write_text("b.py\n")
        if repository:
            (bench.root.parent / ".git" / "info").mkdir(parents=True)
            (bench.root.parent / ".git" / "info" / "exclude").write_text("a-b\n")
        plain = [path for path in listing.walked(bench.root, hidden) if listing.is_plain(path)]
        assert RG is not None
        listed = listing._listed(RG, bench.root, hidden, os.environ)
        assert listed is not None and [path for path in listed if listing.is_plain(path)] == plain
        search = spots.Search(bench.root, pattern, ignore_case, hidden, "", 10_000_000, 100)
        job = Job(os.fspath(bench.root), pattern, ignore_case, hidden, "", 10_000_000)
        mine = b"".join(rows(job))
        theirs = subprocess.run(spots._rg_command(RG, search), capture_output=True).stdout
        shape = spots._ROW.findall(theirs)
        assert shape == spots._ROW.findall(mine)


def _try_file(bench: Workbench, name: str, content: str) -> None:
    try:
        bench.file(name, content)
    except OSError:
        pass  # a name that is a folder already


@settings(max_examples=count(200, 20_000), deadline=None)
@given(
    st.lists(
        st.sampled_from(["a", "b", "*", "?", "**", "/", "[ab]", "[!a]", "{a,b}", ".", "é"]),
        min_size=1,
        max_size=8,
    ),
    st.lists(NAME, min_size=1, max_size=4),
)
def test_a_pattern_means_what_a_slow_and_simple_reading_says(tokens: list[str], names: list[str]) -> None:
    pattern = "".join(tokens)
    try:
        matcher = Matcher(pattern)
    except ToolError:
        assert pattern.count("{a,b}") > 6 or not pattern.removeprefix("./").strip("/")
        return
    assert matcher("/".join(names)) == any(_slow(one, names) for one in _expand(pattern))


def _expand(pattern: str) -> list[str]:
    if "{a,b}" not in pattern:
        return [pattern]
    return [more for letter in "ab" for more in _expand(pattern.replace("{a,b}", letter, 1))]


def _slow(pattern: str, names: list[str]) -> bool:
    pattern = pattern.removeprefix("./").lstrip("/")
    if "/" not in pattern:
        return _part(pattern, names[-1])
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    return _path([*parts, "**"] if pattern.endswith("/") else parts, names)


def _path(parts: list[str], names: list[str]) -> bool:
    if not parts:
        return not names
    if parts[0] == "**":
        return any(_path(parts[1:], names[skip:]) for skip in range(len(names) + 1))
    return bool(names) and _part(parts[0], names[0]) and _path(parts[1:], names[1:])


def _part(part: str, name: str) -> bool:
    if not part:
        return not name
    if part[0] == "*":
        return any(_part(part[1:], name[skip:]) for skip in range(len(name) + 1))
    if part.startswith(("[ab]", "[!a]")):
        wanted = "ab" if part[1] == "a" else None
        ok = bool(name) and (name[0] in wanted if wanted else name[0] != "a")
        return ok and _part(part[4:], name[1:])
    return bool(name) and part[0] in ("?", name[0]) and _part(part[1:], name[1:])


def test_a_pattern_full_of_stars_is_matched_in_no_time() -> None:
    assert not Matcher("**/*a*a*a*a*a*a*a*a*a*a*a*b/**/*a*a*a*a*a*b")("/".join(["a" * 60] * 20))
    with pytest.raises(ToolError, match="alternatives"):
        Matcher("{a,b}" * 10)
