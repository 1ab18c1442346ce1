"""write: new files, whole replacements, and never over something unknown."""

from __future__ import annotations

import os

import pytest

from deeptide.protocol.errors import DeepTideError, ToolError
from tests.tools.workbench import Workbench


async def test_a_new_file_and_its_folders_are_made(bench: Workbench) -> None:
    output = await bench.output("write", path="src/deep/a.py", content="x = 1\ny = '行'\n")
    assert (bench.root / "src/deep/a.py").read_bytes() == "x = 1\ny = '行'\n".encode()
    assert output.text.startswith("[src/deep/a.py · created +2 -0 · sha ")
    assert output.diff.startswith("--- /dev/null\n+++ b/src/deep/a.py\n@@ -0,0 +1,2 @@\n+x = 1\n")


async def test_a_file_that_was_never_read_is_not_replaced(bench: Workbench) -> None:
    path = bench.file("a.txt", "precious\n")
    assert "has not been read" in await bench.refused("write", path="a.txt", content="new\n")
    assert path.read_text() == "precious\n"


async def test_a_file_that_was_read_is_replaced_and_may_be_written_again(bench: Workbench) -> None:
    path = bench.file("a.txt", "one\n")
    await bench.output("read", path="a.txt")
    await bench.output("write", path="a.txt", content="two\n")
    output = await bench.output("write", path="a.txt", content="three\n")
    assert path.read_text() == "three\n" and "replaced +1 -1" in output.text


async def test_a_file_that_changed_since_it_was_read_is_left_alone(bench: Workbench) -> None:
    path = bench.file("a.txt", "one\n")
    await bench.output("read", path="a.txt")
    path.write_text("someone else\n")
    assert "has changed since you read it" in await bench.refused("write", path="a.txt", content="x\n")
    assert path.read_text() == "someone else\n"


async def test_the_preview_is_the_diff_that_is_applied(bench: Workbench) -> None:
    path = bench.file("a.txt", "one\ntwo\n")
    await bench.output("read", path="a.txt")
    preview, output = await bench.approved("write", path="a.txt", content="one\n2\n")
    assert preview.kind == "diff" and preview.text == output.diff
    assert "-two\n+2\n" in preview.text and path.read_text() == "one\n2\n"


async def test_a_preview_writes_nothing_and_a_change_during_the_approval_stops_the_run(
    bench: Workbench,
) -> None:
    path = bench.file("a.txt", "one\n")
    await bench.output("read", path="a.txt")
    with pytest.raises(ToolError, match="has changed"):
        await bench.approved("write", lambda: path.write_text("meanwhile\n"), path="a.txt", content="x\n")
    assert path.read_text() == "meanwhile\n"


async def test_a_file_that_appears_during_the_approval_is_not_overwritten(bench: Workbench) -> None:
    path = bench.root / "a.txt"
    with pytest.raises(ToolError):
        await bench.approved("write", lambda: path.write_text("meanwhile\n"), path="a.txt", content="x\n")
    assert path.read_text() == "meanwhile\n"


async def test_a_file_read_again_during_the_approval_is_still_not_overwritten(bench: Workbench) -> None:
    path = bench.file("a.txt", "one\n")
    await bench.output("read", path="a.txt")

    def meanwhile() -> None:
        path.write_text("meanwhile\n")
        bench.ctx.reads.record(path, path.read_bytes())

    with pytest.raises(ToolError, match="while the approval was open"):
        await bench.approved("write", meanwhile, path="a.txt", content="x\n")
    assert path.read_text() == "meanwhile\n"


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"a\r\nb\r\n", "c\nd\n", b"c\r\nd\r\n"),
        (b"\xef\xbb\xbfa\n", "b\n", b"\xef\xbb\xbfb\n"),
        ("é\n".encode("latin-1"), "ü\n", "ü\n".encode("latin-1")),
        ("a行\n".encode("utf-16"), "b行\n", "b行\n".encode("utf-16")),
        (b"a\r\nb\n", "c\nd\n", b"c\nd\n"),
    ],
)
async def test_encoding_mark_and_line_endings_are_kept(
    bench: Workbench, before: bytes, content: str, after: bytes
) -> None:
    path = bench.file("a.txt", before)
    await bench.output("read", path="a.txt")
    await bench.output("write", path="a.txt", content=content)
    assert path.read_bytes() == after


async def test_characters_the_encoding_lacks_are_refused_and_nothing_is_written(bench: Workbench) -> None:
    path = bench.file("a.txt", "é\n".encode("latin-1"))
    await bench.output("read", path="a.txt")
    with pytest.raises(DeepTideError, match="latin-1"):
        await bench.output("write", path="a.txt", content="行\n")
    assert path.read_bytes() == "é\n".encode("latin-1")


async def test_mode_and_link_are_kept(bench: Workbench) -> None:
    path = bench.file("run.sh", "echo 1\n")
    path.chmod(0o751)
    (bench.root / "link").symlink_to("run.sh")
    await bench.output("read", path="link")
    await bench.output("write", path="link", content="echo 2\n")
    assert (bench.root / "link").is_symlink() and path.read_text() == "echo 2\n"
    assert path.stat().st_mode & 0o777 == 0o751


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")
async def test_a_read_only_file_is_left_alone(bench: Workbench) -> None:
    path = bench.file("a.txt", "one\n")
    path.chmod(0o444)
    await bench.output("read", path="a.txt")
    assert "is read-only" in await bench.refused("write", path="a.txt", content="two\n")


async def test_a_folder_and_a_binary_file_are_refused(bench: Workbench) -> None:
    (bench.root / "src").mkdir()
    assert "is a folder" in await bench.refused("write", path="src", content="x")
    path = bench.file("a.bin", b"\0\1")
    bench.ctx.reads.record(path, b"\0\1")
    assert "binary" in await bench.refused("write", path="a.bin", content="x")


async def test_the_same_content_again_is_no_change_and_no_error(bench: Workbench) -> None:
    bench.file("a.txt", "one\n")
    await bench.output("read", path="a.txt")
    output = await bench.output("write", path="a.txt", content="one\n")
    assert "no change" in output.text and output.diff == ""


async def test_an_empty_new_file_is_made_and_lone_surrogates_do_not_break_a_write(bench: Workbench) -> None:
    await bench.output("write", path="empty", content="")
    assert (bench.root / "empty").read_bytes() == b""
    await bench.output("write", path="odd", content="a\ud800b")
    assert (bench.root / "odd").read_text() == "a\ufffdb"


async def test_a_dangling_link_out_of_the_workspace_is_judged_by_where_it_leads(bench: Workbench) -> None:
    (bench.root / "link").symlink_to(bench.root.parent / "outside.txt")
    tool = bench.registry.get("write")
    assert tool is not None
    (intent,) = tool.intents({"path": "link", "content": ""}, bench.ctx)
    assert (intent.kind, intent.target) == ("write", str(bench.root.parent / "outside.txt"))
