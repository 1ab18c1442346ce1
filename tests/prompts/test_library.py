"""The prompt library: strict slots, includes, lookup order, and texts that stay fit for a cached prefix."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deeptide.prompts.library import Library, PromptError, locate
from tests.deep import count

TOOLS = ["read", "write", "edit", "list", "glob", "grep", "shell", "todo", "ask_user"]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    root = tmp_path / "texts"
    (root / "tools").mkdir(parents=True)
    (root / "hello.md").write_text("Hello {{name}}, {{name}} of {{place}}.\n")
    (root / "outer.md").write_text("Before. {{>inner}} After {{place}}.\n")
    (root / "inner.md").write_text("Inside {{name}}.\n")
    (root / "loop.md").write_text("{{>loop}}\n")
    (root / "tools" / "dig.md").write_text("Dig a hole.\r\n")
    return root


def test_slots_are_filled_wherever_they_stand(texts: Path) -> None:
    assert Library(texts).text("hello", name="Ada", place="Rome") == "Hello Ada, Ada of Rome."


def test_a_missing_slot_raises_and_names_it(texts: Path) -> None:
    with pytest.raises(PromptError, match="slot 'place' was not given"):
        Library(texts).text("hello", name="Ada")


def test_an_unknown_slot_raises_and_names_it(texts: Path) -> None:
    with pytest.raises(PromptError, match="slot 'age' is not in the text"):
        Library(texts).text("hello", name="Ada", place="Rome", age="36")


def test_an_included_text_brings_its_slots_along(texts: Path) -> None:
    library = Library(texts)
    assert library.text("outer", name="Ada", place="Rome") == "Before. Inside Ada. After Rome."
    with pytest.raises(PromptError, match="slot 'name' was not given"):
        library.text("outer", place="Rome")


def test_a_text_that_includes_itself_is_refused(texts: Path) -> None:
    with pytest.raises(PromptError, match="includes itself"):
        Library(texts).text("loop")


def test_an_unknown_text_raises_with_the_known_names(texts: Path) -> None:
    with pytest.raises(PromptError) as caught:
        Library(texts).text("nothing")
    assert "hello" in caught.value.advice


@settings(
    max_examples=count(50, 1000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(name=st.text(), place=st.text())
def test_a_value_is_never_read_as_a_template(tmp_path: Path, name: str, place: str) -> None:
    (tmp_path / "hello.md").write_text("<{{name}}|{{place}}>")
    library = Library(tmp_path)
    for value in (name, name + "{{place}}", "{{>hello}}" + name):
        assert library.text("hello", name=value, place=place) == f"<{value}|{place}>"


def test_tool_texts_are_found_by_tool_name_and_stripped(texts: Path) -> None:
    assert Library(texts).tool("dig") == "Dig a hole."


def test_the_fingerprint_follows_every_text_and_every_name(texts: Path) -> None:
    first = Library(texts).fingerprint()
    assert Library(texts).fingerprint() == first and re.fullmatch("[0-9a-f]{64}", first)
    (texts / "tools" / "dig.md").write_text("Dig a deep hole.\n")
    second = Library(texts).fingerprint()
    assert second != first
    (texts / "inner.md").rename(texts / "outside.md")
    assert Library(texts).fingerprint() not in (first, second)


def test_an_empty_folder_is_an_error_and_not_an_empty_prompt(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match="No prompt files"):
        Library(tmp_path).fingerprint()


def test_the_checkout_wins_over_the_packaged_copy_and_the_copy_serves_without_it(tmp_path: Path) -> None:
    package = tmp_path / "deeptide"
    shutil.copytree(Library().root, package / "prompts" / "text")
    assert locate(package) == package / "prompts" / "text"
    shutil.copytree(Library().root, tmp_path / "prompts")
    assert locate(package) == package / "prompts" / "text", "prompts/ beside an installed package is not ours"
    (tmp_path / "pyproject.toml").write_text("")
    assert locate(package) == tmp_path / "prompts"
    assert Library(package / "prompts" / "text").fingerprint() == Library().fingerprint()


def test_every_shipped_text_renders_with_exactly_its_slots() -> None:
    library = Library()
    for name in [*TOOLS, "recall_archive", "read_archive"]:
        assert library.tool(name)
    assert library.text("system", workspace="/w", platform="Linux", instructions="")
    assert library.text("compaction", focus="")
    for name in ("compaction_retry", "compaction_relay", "cycle_handoff_briefing", "cycle_handoff_retry"):
        assert library.text(name)


def test_the_system_text_carries_the_relay_paragraph_and_ends_with_the_instructions() -> None:
    library = Library()
    text = library.text("system", workspace="/w", platform="Linux", instructions="Use tabs.")
    assert library.text("compaction_relay") in text
    assert text.endswith("Use tabs.")
    assert "{{" not in text


def test_no_text_holds_a_date() -> None:
    root = Library().root
    for file in root.rglob("*.md"):
        assert not re.search(r"\b20\d\d\b", file.read_text()), file.name


def test_the_compaction_text_fixes_the_headings_in_their_order() -> None:
    text = Library().text("compaction", focus="the API")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    expected = ["Goal", "Constraints", "Progress", "Done", "In Progress", "Blocked"]
    assert headings == [*expected, "Key Decisions", "Dead Ends", "Next step"]
    assert "the API" in text


def test_the_briefing_text_holds_the_marker_and_two_whole_blocks() -> None:
    text = Library().text("cycle_handoff_briefing")
    assert "CONTEXT CHECKPOINT COMPACTION" in text
    assert text.count("\n<carry_forward>\n") == text.count("\n</carry_forward>") == 2
    assert "do not copy" in text
