"""edit: exact, unique, all or nothing; what is overlooked is said; a miss shows what is there."""

from __future__ import annotations

import pytest

from deeptide.protocol.errors import DeepTideError, ToolError
from tests.tools.workbench import Workbench

PYTHON = "def f(x):\n    if x:\n        return 1\n    return 2\n\n\ndef g(x):\n    return f(x)\n"


async def edited(bench: Workbench, content: str | bytes, *edits: dict[str, object]) -> bytes:
    path = bench.file("a.py", content)
    await bench.output("read", path="a.py")
    await bench.output("edit", path="a.py", edits=list(edits))
    return path.read_bytes()


async def missed(bench: Workbench, content: str | bytes, *edits: dict[str, object]) -> str:
    """What is said about an edit that fails; the file must be as before."""
    path = bench.file("a.py", content)
    before = path.read_bytes()
    await bench.output("read", path="a.py")
    said = await bench.refused("edit", path="a.py", edits=list(edits))
    assert path.read_bytes() == before
    return said


async def test_one_exact_place_is_replaced_and_the_rest_stays(bench: Workbench) -> None:
    after = await edited(bench, PYTHON, {"old": "return 2", "new": "return 3"})
    assert after == PYTHON.replace("return 2", "return 3").encode()


async def test_an_empty_new_deletes(bench: Workbench) -> None:
    assert await edited(bench, "a\nb\nc\n", {"old": "b\n", "new": ""}) == b"a\nc\n"


async def test_several_edits_apply_each_to_the_result_of_the_one_before(bench: Workbench) -> None:
    after = await edited(bench, "one two\n", {"old": "one", "new": "three"}, {"old": "three two", "new": "4"})
    assert after == b"4\n"


async def test_if_one_edit_fails_none_is_made(bench: Workbench) -> None:
    said = await missed(bench, "one two\n", {"old": "one", "new": "1"}, {"old": "three", "new": "3"})
    assert said.startswith("Edit 2 of 2: old does not occur")


async def test_two_places_are_ambiguous_and_their_lines_are_named(bench: Workbench) -> None:
    said = await missed(bench, "x = 1\ny = 2\nx = 1\n", {"old": "x = 1", "new": "x = 3"})
    assert "old occurs 2 times, at lines 1, 3" in said and "set all" in said


async def test_overlapping_places_are_ambiguous_too(bench: Workbench) -> None:
    assert "occurs 2 times" in await missed(bench, "aaa\n", {"old": "aa", "new": "b"})


async def test_all_replaces_every_place(bench: Workbench) -> None:
    assert await edited(bench, "aa b aa\naa\n", {"old": "aa", "new": "c", "all": True}) == b"c b c\nc\n"
    assert await edited(bench, "aaaaa\n", {"old": "aa", "new": "b", "all": True}) == b"bba\n"


async def test_a_file_that_was_never_read_or_has_changed_is_left_alone(bench: Workbench) -> None:
    path = bench.file("a.py", "one\n")
    edits = [{"old": "one", "new": "two"}]
    assert "has not been read" in await bench.refused("edit", path="a.py", edits=edits)
    await bench.output("read", path="a.py")
    path.write_text("one more\n")
    assert "has changed since you read it" in await bench.refused("edit", path="a.py", edits=edits)
    assert path.read_text() == "one more\n"


async def test_a_file_may_be_edited_again_after_an_edit(bench: Workbench) -> None:
    await edited(bench, "one\n", {"old": "one", "new": "two"})
    await bench.output("edit", path="a.py", edits=[{"old": "two", "new": "three"}])
    assert (bench.root / "a.py").read_text() == "three\n"


async def test_the_preview_is_the_diff_that_is_applied(bench: Workbench) -> None:
    bench.file("a.py", PYTHON)
    await bench.output("read", path="a.py")
    preview, output = await bench.approved(
        "edit", path="a.py", edits=[{"old": "return 2", "new": "return 3"}]
    )
    assert preview.text == output.diff and "-    return 2\n+    return 3\n" in output.diff
    assert output.text.startswith("[a.py · edited +1 -1 · sha ")


async def test_a_change_while_the_approval_is_open_stops_the_edit(bench: Workbench) -> None:
    path = bench.file("a.py", PYTHON)
    await bench.output("read", path="a.py")

    def meanwhile() -> None:
        path.write_text("# new\n" + PYTHON)
        bench.ctx.reads.record(path, path.read_bytes())

    with pytest.raises(ToolError, match="while the approval was open"):
        await bench.approved("edit", meanwhile, path="a.py", edits=[{"old": "return 2", "new": "return 3"}])
    assert path.read_text() == "# new\n" + PYTHON


async def test_what_cannot_work_is_said_before_anyone_is_asked(bench: Workbench) -> None:
    bench.file("a.py", PYTHON)
    await bench.output("read", path="a.py")
    with pytest.raises(ToolError, match="does not occur"):
        await bench.approved("edit", path="a.py", edits=[{"old": "return 9", "new": "x"}])


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ([], "There are no edits"),
        ([{"old": "", "new": "x"}], "old is empty"),
        ([{"old": "one", "new": "one"}], "old and new are the same"),
        ([{"old": "one", "new": "1"}, {"old": "1", "new": "one"}], "change nothing in the end"),
    ],
)
async def test_an_edit_that_means_nothing_is_refused(
    bench: Workbench, edits: list[dict[str, object]], said: str
) -> None:
    assert said in await missed(bench, "one\n", *edits)


async def test_line_endings_are_overlooked_and_the_new_text_gets_those_of_the_file(bench: Workbench) -> None:
    after = await edited(bench, b"a\r\nb\r\nc\r\n", {"old": "a\nb\n", "new": "x\ny\nz\n"})
    assert after == b"x\r\ny\r\nz\r\nc\r\n"
    assert await edited(bench, b"a\nb\nc\n", {"old": "a\r\nb\r\n", "new": "x\r\n"}) == b"x\nc\n"
    assert await edited(bench, b"a\rb\rc", {"old": "a\nb", "new": "x\ny"}) == b"x\ry\rc"


async def test_a_single_line_replaced_by_several_in_a_crlf_file_stays_a_crlf_file(bench: Workbench) -> None:
    assert await edited(bench, b"a\r\nb\r\n", {"old": "b", "new": "x\ny"}) == b"a\r\nx\r\ny\r\n"


async def test_in_a_mixed_file_the_endings_of_the_place_decide(bench: Workbench) -> None:
    after = await edited(bench, b"a\nb\nc\r\nd\r\ne\n", {"old": "c\nd\n", "new": "x\ny\n"})
    assert after == b"a\nb\nx\r\ny\r\ne\n"


async def test_spaces_at_line_ends_are_overlooked_and_said(bench: Workbench) -> None:
    path = bench.file("a.py", "one  \ntwo\t\nthree\n")
    await bench.output("read", path="a.py")
    output = await bench.output("edit", path="a.py", edits=[{"old": "one\ntwo\n", "new": "1\n2\n"}])
    assert path.read_text() == "1\n2\nthree\n"
    assert "The edit matched line 1 apart from spaces at line ends." in output.text


async def test_one_uniform_indentation_is_overlooked_and_given_to_the_new_text(bench: Workbench) -> None:
    path = bench.file("a.py", PYTHON)
    await bench.output("read", path="a.py")
    edits = [{"old": "if x:\n    return 1", "new": "if x > 0:\n\n    return 5"}]
    output = await bench.output("edit", path="a.py", edits=edits)
    assert path.read_text() == PYTHON.replace(
        "    if x:\n        return 1", "    if x > 0:\n\n        return 5"
    )
    assert "matched line 2 apart from the indentation, which was adapted" in output.text


async def test_too_much_indentation_is_taken_off_alike(bench: Workbench) -> None:
    after = await edited(bench, "a:\n  b\n", {"old": "    a:\n      b\n", "new": "    a:\n      c\n"})
    assert after == b"a:\n  c\n"


async def test_an_indentation_that_is_not_uniform_is_not_overlooked(bench: Workbench) -> None:
    said = await missed(bench, "  a\n      b\n", {"old": "a\n  b", "new": "c"})
    assert "does not occur" in said


async def test_two_places_that_match_only_loosely_are_refused_even_with_all(bench: Workbench) -> None:
    edit = {"old": "a \nb", "new": "c", "all": True}
    said = await missed(bench, "a\nb\n\na\nb\n", edit)
    assert "old occurs 2 times apart from spaces at line ends, at lines 1, 4" in said
    assert "set all" not in said


async def test_an_exact_match_wins_over_looser_ones(bench: Workbench) -> None:
    after = await edited(bench, "  a\n  b\na\nb\n  a \n", {"old": "\na\nb\n", "new": "\nc\n"})
    assert after == b"  a\n  b\nc\n  a \n"


async def test_a_miss_shows_the_nearest_lines_with_their_numbers(bench: Workbench) -> None:
    said = await missed(bench, PYTHON, {"old": "def f(x):\n    if x:\n        return 7\n", "new": "x"})
    assert "The nearest lines are:\n1\tdef f(x):\n2\t    if x:\n3\t        return 1\n" in said
    said = await missed(bench, PYTHON, {"old": "def gg(x):", "new": "x"})
    assert "7\tdef g(x):" in said
    assert "Nothing in it is like old" in await missed(bench, PYTHON, {"old": "完全不同的内容", "new": "x"})


async def test_a_miss_writes_hidden_characters_out(bench: Workbench) -> None:
    said = await missed(bench, "a = 'x\u202ey'\nb\n", {"old": "a = 'xy'\n", "new": "c"})
    assert "1\ta = 'x\\u202ey'" in said


async def test_a_file_in_an_old_encoding_takes_what_it_can_hold(bench: Workbench) -> None:
    data = "naïve = 'é'\nx = 1\n".encode("latin-1")
    after = await edited(bench, data, {"old": "x = 1", "new": "x = 'ü'"})
    assert after == "naïve = 'é'\nx = 'ü'\n".encode("latin-1")
    with pytest.raises(DeepTideError, match="latin-1"):
        await edited(bench, data, {"old": "x = 1", "new": "x = '行'"})
    assert (bench.root / "a.py").read_bytes() == data


async def test_a_missing_file_points_to_the_nearest(bench: Workbench) -> None:
    bench.file("abc.py", "x\n")
    said = await bench.refused("edit", path="abd.py", edits=[{"old": "x", "new": "y"}])
    assert "Did you mean abc.py?" in said


async def test_all_in_a_large_file_costs_no_more_than_the_file(bench: Workbench) -> None:
    edit = {"old": "x", "new": "yy", "all": True}
    assert await edited(bench, "x = 1\n" * 200_000, edit) == b"yy = 1\n" * 200_000
