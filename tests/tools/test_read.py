"""read: pages, encodings, refusals that help, and what it remembers."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tools.workbench import Workbench


async def test_a_file_comes_numbered_under_a_header_with_its_hash(bench: Workbench) -> None:
    path = bench.file("src/a.py", "one\n\n  three\n")
    text = await bench.text("read", path="src/a.py")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    assert text == f"[src/a.py · lines 1-3 of 3 · sha {digest}]\n1\tone\n2\t\n3\t  three"
    assert bench.ctx.reads.known(path) == digest


async def test_an_absolute_path_and_a_link_lead_to_the_same_file(bench: Workbench) -> None:
    path = bench.file("a.txt", "x\n")
    (bench.root / "link.txt").symlink_to(path)
    assert await bench.text("read", path=str(path)) == await bench.text("read", path="link.txt")


async def test_offset_and_limit_give_a_page_that_says_where_to_go_on(bench: Workbench) -> None:
    bench.file("a.txt", "".join(f"l{n}\n" for n in range(1, 11)))
    text = await bench.text("read", path="a.txt", offset=4, limit=3)
    assert text.split("\n")[1:] == ["4\tl4", "5\tl5", "6\tl6", "[4 more lines: go on with offset 7]"]
    assert "lines 4-6 of 10" in text


async def test_pages_joined_are_the_whole_file(bench: Workbench) -> None:
    lines = [f"{n} {'x' * (n % 90)}" for n in range(1, 5001)]
    bench.file("a.txt", "\n".join(lines) + "\n")
    seen: list[str] = []
    while len(seen) < len(lines):
        result = await bench.result("read", path="a.txt", offset=len(seen) + 1)
        assert result.spill == "", "a page never needs the cap"
        rows = [row.split("\t", 1) for row in result.content.split("\n") if "\t" in row]
        assert [int(number) for number, _ in rows] == list(range(len(seen) + 1, len(seen) + len(rows) + 1))
        seen += [text for _, text in rows]
    assert seen == lines


async def test_an_offset_past_the_end_says_how_many_lines_there_are(bench: Workbench) -> None:
    bench.file("a.txt", "x\ny\n")
    assert "has 2 lines; there is no line 3" in await bench.refused("read", path="a.txt", offset=3)


async def test_an_empty_file_is_empty_and_readable(bench: Workbench) -> None:
    path = bench.file("a.txt", "")
    assert "a.txt · empty · sha" in await bench.text("read", path="a.txt")
    assert bench.ctx.reads.known(path)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("é\n".encode("latin-1"), "latin-1"),
        ("\ufeff行\n".encode(), "BOM"),
        ("行 one\n".encode("utf-16"), "utf-16"),
        ("中文内容，测试\n".encode("gb18030"), "gb18030"),
        (b"a\r\nb\r\n", "CRLF"),
        (b"a\r\nb\nc\n", "mixed line endings"),
        (b"a\nb", "no newline at end"),
    ],
)
async def test_what_is_odd_about_a_file_is_said_and_its_text_is_right(
    bench: Workbench, data: bytes, said: str
) -> None:
    bench.file("a.txt", data)
    text = await bench.text("read", path="a.txt")
    assert said in text.split("\n")[0]
    assert "\r" not in text and "\ufeff" not in text and "\ufffd" not in text


async def test_chinese_in_any_encoding_is_read_alike(bench: Workbench) -> None:
    for encoding in ("utf-8", "utf-16", "gb18030"):
        bench.file("a.txt", "第一行内容\n第二行内容\n".encode(encoding))
        assert (await bench.text("read", path="a.txt")).endswith("1\t第一行内容\n2\t第二行内容")


async def test_a_long_line_is_cut_with_a_mark(bench: Workbench) -> None:
    bench.file("a.txt", "x" * 50_000 + "\nshort\n")
    text = await bench.text("read", path="a.txt")
    assert "… [line cut: 50,000 characters]\n2\tshort" in text and len(text) < 3000


async def test_escapes_in_a_file_do_not_reach_the_reader(bench: Workbench) -> None:
    bench.file("a.txt", "a\x1b]0;pwned\x07b\x1b[2J\u202e\n")
    assert (await bench.text("read", path="a.txt")).endswith("1\tab")


async def test_a_binary_file_is_refused_with_its_kind_and_size(bench: Workbench) -> None:
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (640).to_bytes(4, "big") + (480).to_bytes(4, "big") + b"\0" * 50
    bench.file("a.png", png)
    assert "a PNG image of 640x480 pixels, 74 bytes" in await bench.refused("read", path="a.png")
    bench.file("b", b"SQLite format 3\0" + b"\0" * 84)
    assert "an SQLite database, 100 bytes" in await bench.refused("read", path="b")
    bench.file("c", b"\0\1\2")
    assert "binary data, 3 bytes" in await bench.refused("read", path="c")


async def test_a_folder_points_to_list(bench: Workbench) -> None:
    (bench.root / "src").mkdir()
    assert "is a folder. Use list" in await bench.refused("read", path="src")


async def test_a_missing_file_names_the_nearest(bench: Workbench) -> None:
    bench.file("src/settings.py", "x")
    bench.file("src/other.py", "x")
    assert "Did you mean src/settings.py?" in await bench.refused("read", path="src/setings.py")
    assert "Did you mean src/settings.py?" in await bench.refused("read", path="src/Settings.py")
    assert "Did you mean src/settings.py?" in await bench.refused("read", path="lib/settings.py")
    assert "Use glob or list" in await bench.refused("read", path="nothing/like/it")


async def test_a_fifo_and_an_impossible_path_are_refused_at_once(bench: Workbench) -> None:
    os.mkfifo(bench.root / "pipe")
    with pytest.raises(Exception, match="FIFO"):
        await bench.output("read", path="pipe")
    assert "NUL" in await bench.refused("read", path="a\0b")
    assert "empty" in await bench.refused("read", path=" ")


async def test_a_spilled_output_of_many_megabytes_can_still_be_read(bench: Workbench) -> None:
    bench.file("big.txt", "some output line\n" * 800_000)
    assert "lines 790,000-790,001 of 800,000" in await bench.text(
        "read", path="big.txt", offset=790_000, limit=2
    )


async def test_instructions_of_a_folder_come_once_with_the_first_touch(bench: Workbench) -> None:
    bench.file("AGENTS.md", "root rules")
    bench.file("a/AGENTS.md", "rules of a")
    bench.file("a/b/CLAUDE.md", "rules of b")
    bench.file("a/b/x.py", "x\n")
    bench.file("a/b/y.py", "y\n")
    first = await bench.text("read", path="a/b/x.py")
    assert first.index("from a/AGENTS.md]\nrules of a") < first.index("from a/b/CLAUDE.md]\nrules of b")
    assert "root rules" not in first
    assert "rules of" not in await bench.text("read", path="a/b/y.py")


async def test_an_untrusted_folder_gives_no_instructions(bench: Workbench) -> None:
    bench.ctx = replace(bench.ctx, notes=None)
    bench.file("a/AGENTS.md", "rules of a")
    bench.file("a/x.py", "x\n")
    assert "rules" not in await bench.text("read", path="a/x.py")


async def test_instructions_outside_the_workspace_are_never_given(bench: Workbench, tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("foreign rules")
    (tmp_path / "x.py").write_text("x\n")
    assert "foreign rules" not in await bench.text("read", path=str(tmp_path / "x.py"))


async def test_a_long_instruction_file_is_cut_and_says_so(bench: Workbench) -> None:
    bench.file("a/AGENTS.md", "r" * 40_000)
    bench.file("a/x.py", "x\n")
    result = await bench.output("read", path="a/x.py")
    assert "[cut: a/AGENTS.md has 40,000 bytes, 32,768 are shown]" in result.text


async def test_an_instruction_file_that_links_out_of_the_workspace_is_not_given(
    bench: Workbench, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("the secret")
    bench.file("a/x.py", "x\n")
    (bench.root / "a" / "AGENTS.md").symlink_to(tmp_path / "secret")
    assert "the secret" not in await bench.text("read", path="a/x.py")
