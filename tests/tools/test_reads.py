"""What the model has seen survives a resume by the first line of the logged results."""

from __future__ import annotations

from dataclasses import replace

from deeptide.protocol.messages import ToolResult
from deeptide.tools.reads import ReadState, stamped
from tests.tools.workbench import Workbench


async def test_a_resumed_session_may_edit_what_it_read_wrote_or_edited_before(bench: Workbench) -> None:
    bench.file("read me [now] · sha.txt", "one\n")
    bench.file("编辑.txt", "one\n")
    results = [
        await bench.result("read", path="read me [now] · sha.txt"),
        await bench.result("read", path="编辑.txt"),
        await bench.result("edit", path="编辑.txt", edits=[{"old": "one", "new": "two"}]),
        await bench.result("write", path="new/file.txt", content="x\n"),
    ]
    bench.ctx = replace(bench.ctx, reads=ReadState())
    bench.ctx.reads.seed(results, bench.ctx.roots.resolve)
    for name, old in (("read me [now] · sha.txt", "one"), ("编辑.txt", "two"), ("new/file.txt", "x")):
        await bench.output("edit", path=name, edits=[{"old": old, "new": "three"}])
        assert (bench.root / name).read_text() == "three\n"


async def test_after_a_resume_a_file_changed_meanwhile_must_be_read_again(bench: Workbench) -> None:
    path = bench.file("a.txt", "one\n")
    results = [await bench.result("read", path="a.txt")]
    path.write_text("two\n")
    bench.ctx = replace(bench.ctx, reads=ReadState())
    bench.ctx.reads.seed(results, bench.ctx.roots.resolve)
    said = await bench.refused("edit", path="a.txt", edits=[{"old": "two", "new": "3"}])
    assert "has changed since you read it" in said


def test_only_the_first_line_of_a_good_result_of_a_file_tool_counts() -> None:
    line = "[a.txt · lines 1-1 of 1 · sha 0123456789ab]"
    assert stamped(ToolResult("c", "read", f"{line}\n1\tx")) == ("a.txt", "0123456789ab")
    assert stamped(ToolResult("c", "read", f"x\n{line}")) is None
    assert stamped(ToolResult("c", "shell", line)) is None
    assert stamped(ToolResult("c", "edit", line, is_error=True)) is None
    assert stamped(ToolResult("c", "read", "[a.txt · sha 12]")) is None
