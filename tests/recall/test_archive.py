"""Archives: complete or absent, numbered for ever, read with tolerance."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.protocol.errors import WorkspaceError
from deeptide.protocol.messages import Message, ToolCall, ToolResult, assistant, tool, user
from deeptide.recall.archive import SCHEMA, Archive, list_cycles, read, write
from tests.deep import count

MESSAGES = (
    user("把端口改成 8443\n第二行"),
    assistant("sure", thinking="hm", calls=(ToolCall("c", "read", '{"path": "a"}'),)),
    tool(ToolResult("c", "read", "line\r\n\x1b[31mred\u2028", spill="/s")),
)


def archived(directory: Path, *messages: Message, briefing: str = "We chose X because Y.") -> Archive:
    return write(
        directory,
        session="s1",
        model="deepseek-flash",
        started=1.5,
        ended=9.0,
        messages=messages,
        briefing=briefing,
    )


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    made = archived(tmp_path / "cycles", *MESSAGES)
    again = read(made.path)
    assert again == made
    assert again.messages == MESSAGES
    assert again.header.messages == 3
    assert again.intact


def test_the_file_is_a_header_line_then_messages_then_the_briefing_and_private(tmp_path: Path) -> None:
    path = archived(tmp_path / "cycles", *MESSAGES).path
    lines = [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]
    assert path.name == "1.jsonl"
    assert list(lines[0]) == ["schema", "cycle", "session", "model", "started", "ended", "messages", "sha256"]
    assert [line["index"] for line in lines[1:-1]] == [0, 1, 2]
    assert lines[-1] == {"briefing": "We chose X because Y."}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_numbers_go_on_from_the_largest_on_disk_whatever_it_holds(tmp_path: Path) -> None:
    directory = tmp_path / "cycles"
    archived(directory, user("one"))
    (directory / "7.jsonl").write_text("torn")
    (directory / "notes.txt").write_text("not an archive")
    (directory / ".9.jsonl.abc.tmp").write_text("left by a crash")
    made = archived(directory, user("eight"))
    assert made.cycle == 8
    assert (directory / "7.jsonl").read_text() == "torn"


def test_a_write_that_fails_says_so(tmp_path: Path) -> None:
    (tmp_path / "cycles").write_text("a file where the folder should be")
    with pytest.raises(WorkspaceError):
        archived(tmp_path / "cycles", user("kept in the log"))
    assert (tmp_path / "cycles").read_text() == "a file where the folder should be"


def test_a_newer_schema_is_skipped_with_a_notice(tmp_path: Path) -> None:
    made = archived(tmp_path, user("one"))
    archived(tmp_path, user("two"))
    text = made.path.read_text().replace(f'"schema":{SCHEMA}', '"schema":99,"new_field":1', 1)
    made.path.write_text(text)
    listing = list_cycles(tmp_path)
    assert [archive.cycle for archive in listing] == [2]
    assert "newer DeepTide" in listing.notices[0]
    with pytest.raises(WorkspaceError, match="schema 99"):
        read(made.path)


def test_one_bad_line_is_skipped_and_counted_and_the_rest_is_used(tmp_path: Path) -> None:
    made = archived(tmp_path, *MESSAGES)
    lines = made.path.read_bytes().split(b"\n")
    lines[2] = lines[2][:20]
    made.path.write_bytes(b"\n".join(lines))
    again = read(made.path)
    assert (again.skipped, again.intact) == (1, False)
    assert [line.index for line in again.lines] == [0, 2]
    assert again.briefing == made.briefing
    assert "1 lines could not be read" in list_cycles(tmp_path).notices[0]


def test_a_file_cut_short_tells_how_much_is_missing(tmp_path: Path) -> None:
    made = archived(tmp_path, *MESSAGES)
    os.truncate(made.path, made.path.stat().st_size // 2)
    again = read(made.path)
    assert not again.intact
    assert again.skipped == 3 - len(again.lines)


def test_a_changed_body_is_noticed(tmp_path: Path) -> None:
    made = archived(tmp_path, user("port 8443"))
    made.path.write_bytes(made.path.read_bytes().replace(b"8443", b"8444"))
    assert not read(made.path).intact
    assert "it was changed" in list_cycles(tmp_path).notices[0]


def test_no_header_or_no_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "1.jsonl").write_text("garbage\n")
    with pytest.raises(WorkspaceError, match=r"1\.jsonl has no readable header"):
        read(tmp_path / "1.jsonl")
    with pytest.raises(WorkspaceError, match="Could not read"):
        read(tmp_path / "2.jsonl")


def test_a_missing_folder_is_an_empty_list(tmp_path: Path) -> None:
    listing = list_cycles(tmp_path / "nowhere")
    assert (len(listing), listing.notices) == (0, ())


_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@settings(max_examples=count(40, 500), deadline=None)
@given(st.lists(_texts, max_size=6), _texts)
def test_any_text_survives(tmp_path_factory: pytest.TempPathFactory, texts: list[str], briefing: str) -> None:
    directory = tmp_path_factory.mktemp("cycles")
    made = archived(directory, *map(user, texts), briefing=briefing)
    again = read(made.path)
    assert [message.text for message in again.messages] == texts
    assert (again.briefing, again.intact) == (briefing, True)
