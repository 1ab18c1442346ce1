"""Listing and finding sessions from their logs alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from deeptide.protocol.errors import SessionError
from deeptide.protocol.events import Renamed, SessionStarted, TurnStarted, UserMessage
from deeptide.session.log import Log
from deeptide.session.store import TRASH_DAYS, Store


def talk(store: Store, *said: str, workspace: str = "/w", title: str = "") -> str:
    folder = store.new_folder()
    log = Log(folder)
    log.append(
        SessionStarted(folder.name, workspace, "system", (), "deepseek-flash", "high", "ask", "1", 1000)
    )
    for turn, text in enumerate(said, 1):
        log.append(UserMessage(text))
        log.append(TurnStarted(turn))
    if title:
        log.append(Renamed(title))
    log.close()
    return folder.name


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_a_session_is_listed_with_what_was_said(store: Store) -> None:
    talk(store, "fix the 登录 bug", "and the tests")
    (info,) = store.list()
    assert (info.first, info.last, info.turns, info.name) == (
        "fix the 登录 bug",
        "and the tests",
        2,
        "fix the 登录 bug",
    )


def test_empty_sessions_and_foreign_folders_are_not_listed(store: Store) -> None:
    talk(store)
    (store.root / "junk").mkdir()
    (store.root / "bad").mkdir()
    (store.root / "bad" / "log.jsonl").write_bytes(b"\xff\xfe garbage\n")
    assert store.list() == []


def test_a_log_of_a_newer_version_is_still_listed(store: Store) -> None:
    name = talk(store, "hello")
    with open(store.path(name) / "log.jsonl", "ab") as file:
        file.write(b'{"seq":4,"at":1,"event":{"type":"from_the_future"}}\n')
    assert [info.id for info in store.list()] == [name]


def test_finding_by_id_prefix_title_and_latest(store: Store) -> None:
    one = talk(store, "one", title="登录")
    two = talk(store, "two", workspace="/other")
    assert store.find(one).id == one
    assert store.find("登录").id == one
    assert store.find(two[:8]).id == two
    assert store.find("latest", "/w").id == one
    assert store.find("latest", "/nowhere").id in (one, two)


def test_what_cannot_be_found_is_said(store: Store) -> None:
    with pytest.raises(SessionError, match="no session to resume"):
        store.find("latest")
    talk(store, "x")
    with pytest.raises(SessionError, match="No session is called"):
        store.find("zzzz")


def test_deleting_moves_to_a_trash_that_is_swept_after_its_time(store: Store) -> None:
    name = talk(store, "x")
    where = store.trash(name)
    assert (where / "log.jsonl").exists()
    assert store.list() == []
    assert store.sweep() == 0
    assert store.sweep(now=where.stat().st_mtime + (TRASH_DAYS + 1) * 86_400) == 1
    assert not where.exists()


def test_the_folder_is_private(store: Store) -> None:
    folder = store.new_folder()
    assert folder.stat().st_mode & 0o077 == 0
    assert len(folder.name) == 10
