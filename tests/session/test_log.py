"""The log holds what it acknowledged, through torn tails, foreign lines and a second opener."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deeptide.protocol.errors import SessionError
from deeptide.protocol.events import NoteAppended, UserMessage
from deeptide.session.log import GAP, LOG, Log, load
from tests.deep import count


def test_what_was_appended_is_read_back_in_order(tmp_path: Path) -> None:
    log = Log(tmp_path)
    for text in ("one", "二", "three 🌊"):
        log.append(UserMessage(text))
    log.close()
    records = load(tmp_path / LOG).records
    assert [(r.seq, r.event) for r in records] == [
        (1, UserMessage("one")),
        (2, UserMessage("二")),
        (3, UserMessage("three 🌊")),
    ]


def test_one_event_is_one_line_whatever_it_holds(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.append(UserMessage("a\nb\r\nc\u2028d\x0be\x85"))
    log.close()
    assert (tmp_path / LOG).read_bytes().count(b"\n") == 1
    assert load(tmp_path / LOG).records[0].event == UserMessage("a\nb\r\nc\u2028d\x0be\x85")


@given(cut=st.integers(min_value=0, max_value=400))
@settings(
    max_examples=count(30, 400), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_cut_anywhere_every_whole_line_survives_and_the_log_goes_on(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    folder = tmp_path_factory.mktemp("log")
    log = Log(folder)
    texts = ["first", "第二行", "third"]
    for text in texts:
        log.append(UserMessage(text))
    log.close()
    path = folder / LOG
    data = path.read_bytes()[:cut]
    path.write_bytes(data)
    whole = data.count(b"\n")

    log = Log(folder)
    loaded = log.read()
    assert [r.event for r in loaded.records] == [UserMessage(text) for text in texts[:whole]]
    after = log.append(UserMessage("next"))
    log.close()
    assert after.seq == whole + 1
    assert [r.event for r in load(path).records][-1] == UserMessage("next")
    assert not load(path).torn


def test_a_torn_end_is_set_aside_not_destroyed(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.append(UserMessage("whole"))
    log.close()
    with open(tmp_path / LOG, "ab") as file:
        file.write(b'{"seq":2,"at":1,"event":{"type":"user_mess')
    log = Log(tmp_path)
    loaded = log.read()
    log.close()
    assert loaded.torn
    (kept,) = tmp_path.glob("torn-*.bin")
    assert kept.read_bytes().startswith(b'{"seq":2')


def test_a_line_this_version_cannot_read_keeps_its_place_and_stays_in_the_file(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.append(UserMessage("one"))
    log.close()
    with open(tmp_path / LOG, "ab") as file:
        file.write(b'{"seq":2,"at":1,"event":{"type":"from_the_future","x":1}}\n')
    log = Log(tmp_path)
    log.read()
    log.append(UserMessage("next"))
    log.close()
    loaded = load(tmp_path / LOG)
    assert loaded.unreadable == (2,)
    assert b"from_the_future" in (tmp_path / LOG).read_bytes()
    assert [r.seq for r in loaded.records] == list(range(1, len(loaded.records) + 1))


def test_a_gap_is_filled_so_that_later_entries_keep_their_identity(tmp_path: Path) -> None:
    log = Log(tmp_path)
    for text in ("one", "two", "three"):
        log.append(UserMessage(text))
    log.close()
    lines = (tmp_path / LOG).read_bytes().splitlines(keepends=True)
    (tmp_path / LOG).write_bytes(lines[0] + b"garbage\n" + lines[2])
    records = load(tmp_path / LOG).records
    assert [r.event for r in records] == [UserMessage("one"), GAP, UserMessage("three")]


def test_a_second_process_is_told_who_holds_the_session(tmp_path: Path) -> None:
    log = Log(tmp_path)
    code = (
        "import sys; from pathlib import Path; from deeptide.session.log import Log\n"
        "try: Log(Path(sys.argv[1]))\nexcept Exception as e: print(e)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True)
    log.close()
    assert "is open in process" in done.stdout


def test_a_killed_holder_leaves_the_session_free_and_its_lines_whole(tmp_path: Path) -> None:
    code = (
        "import sys, os; from pathlib import Path; from deeptide.session.log import Log\n"
        "from deeptide.protocol.events import UserMessage\n"
        "log = Log(Path(sys.argv[1]))\n"
        "for n in range(50): log.append(UserMessage(str(n)))\n"
        "print('ready', flush=True); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True)
    log = Log(tmp_path)
    loaded = log.read()
    log.close()
    assert [r.event for r in loaded.records] == [UserMessage(str(n)) for n in range(50)]


def test_a_log_that_is_gone_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="cannot be read"):
        load(tmp_path / "nothing" / LOG)


def test_notes_and_messages_are_told_apart(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.append(NoteAppended("mention", "file"))
    log.close()
    assert load(tmp_path / LOG).records[0].event == NoteAppended("mention", "file")
