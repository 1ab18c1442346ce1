"""The registry: frozen order and size of the schemas, the cap and its spill file."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.prompts.library import Library
from deeptide.protocol.errors import ToolError
from deeptide.protocol.messages import ToolCall
from deeptide.tools.registry import CAP, cut_middle, standard
from deeptide.tools.tool import Output
from tests.deep import count
from tests.tools.workbench import Workbench

NAMES = [
    "read",
    "write",
    "edit",
    "list",
    "glob",
    "grep",
    "shell",
    "todo",
    "ask_user",
    "recall_archive",
    "read_archive",
]
BUDGET = 12 * 1024


def test_the_tools_keep_their_names_and_their_order() -> None:
    registry = standard(Library())
    assert [schema.name for schema in registry.schemas] == NAMES
    assert [registry.get(name).name for name in NAMES] == NAMES  # type: ignore[union-attr]
    assert registry.get("rm") is None


def test_two_registries_offer_the_same_bytes() -> None:
    first, second = standard(Library()).schemas, standard(Library()).schemas
    assert msgspec.json.encode(first) == msgspec.json.encode(second)


def test_system_text_and_schemas_fit_the_budget_of_a_first_request() -> None:
    library = Library()
    system = library.text("system", workspace="/home/someone/project", platform="Linux", instructions="")
    tools = [
        {
            "type": "function",
            "function": {
                "name": schema.name,
                "description": schema.description,
                "parameters": json.loads(bytes(schema.parameters)),
            },
        }
        for schema in standard(library).schemas
    ]
    body = json.dumps({"messages": [{"role": "system", "content": system}], "tools": tools})
    assert len(body.encode()) <= BUDGET


def test_every_schema_is_an_object_whose_required_keys_exist() -> None:
    for schema in standard(Library()).schemas:
        parameters = json.loads(bytes(schema.parameters))
        assert list(parameters) == ["type", "properties", "required"] and parameters["type"] == "object"
        assert set(parameters["required"]) <= set(parameters["properties"])


def test_an_unknown_tool_is_refused_with_the_names_that_exist() -> None:
    with pytest.raises(ToolError) as caught:
        standard(Library()).parse(ToolCall("c", "bash", "{}"))
    assert "shell" in caught.value.advice


def test_a_short_result_is_only_cleaned(bench: Workbench) -> None:
    call = ToolCall("c1", "shell")
    result = bench.registry.cap(call, Output("a\x1b[31mb\x1b]0;title\x07\u202ec\r\n"), bench.ctx)
    assert (result.content, result.spill, result.call_id, result.name) == ("abc\n", "", "c1", "shell")
    assert bench.registry.cap(call, Output(""), bench.ctx).content == "(no output)"


def test_a_long_result_keeps_head_and_tail_and_the_whole_is_in_a_private_file(bench: Workbench) -> None:
    text = "\n".join(f"line {n} 行" for n in range(20_000))
    result = bench.registry.cap(ToolCall("call/7", "shell"), Output(text), bench.ctx)
    assert len(result.content) <= CAP
    assert result.content.startswith("line 0 行\nline 1 行\n") and result.content.endswith("\nline 19999 行")
    assert result.spill in result.content and "read with offset" in result.content
    spill = Path(result.spill)
    assert spill.read_text() == text
    assert spill.stat().st_mode & 0o777 == 0o600 and spill.parent.stat().st_mode & 0o777 == 0o700


def test_a_second_spill_of_the_same_call_id_does_not_overwrite_the_first(bench: Workbench) -> None:
    call = ToolCall("c1", "shell")
    first = bench.registry.cap(call, Output("a" * 30_000), bench.ctx)
    second = bench.registry.cap(call, Output("b" * 30_000), bench.ctx)
    assert first.spill != second.spill
    assert Path(first.spill).read_text() == "a" * 30_000


def test_an_output_that_is_already_spilled_is_not_spilled_again(bench: Workbench, tmp_path: Path) -> None:
    result = bench.registry.cap(
        ToolCall("c1", "shell"), Output("x" * 50_000, spill="/tmp/there.txt"), bench.ctx
    )
    assert result.spill == "/tmp/there.txt" and "/tmp/there.txt" in result.content
    assert not bench.ctx.spill_dir.exists()


def test_a_spill_that_cannot_be_written_still_gives_a_capped_result_that_says_so(
    bench: Workbench, tmp_path: Path
) -> None:
    (tmp_path / "spill").write_text("in the way")
    result = bench.registry.cap(ToolCall("c1", "shell"), Output("x" * 50_000), bench.ctx)
    assert len(result.content) <= CAP and result.spill == ""
    assert "could not be kept" in result.content


@settings(max_examples=count(100, 5000), deadline=None)
@given(st.text(alphabet="ab\n", min_size=1, max_size=2000), st.integers(150, 1000))
def test_the_cut_is_within_the_limit_and_its_parts_are_the_ends_of_the_text(text: str, limit: int) -> None:
    if len(text) <= limit:
        return
    cut = cut_middle(text, limit, "See there.")
    assert len(cut) <= limit
    head, _, rest = cut.partition("[… ")
    said, _, tail = rest.partition(" See there.]")
    assert text.startswith(head.rstrip("\n").lstrip("\n")) or text.lstrip("\n").startswith(head.strip("\n"))
    assert text.rstrip("\n").endswith(tail.strip("\n"))
    assert said.endswith("characters left out.")
