"""Files are written whole or not at all, on a real file system with real failures."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deeptide.protocol.errors import WorkspaceError
from deeptide.workspace.files import (
    AppendLog,
    FileLock,
    LockHeld,
    atomic_write,
    private_dir,
    read_bytes,
)
from tests.deep import count


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def run_python(code: str, *args: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, args)],
        capture_output=True,
        text=True,
        timeout=30,
    )


# ---- atomic_write --------------------------------------------------------------------------------------


def test_a_new_file_is_written_with_its_folders(tmp_path: Path) -> None:
    atomic_write(tmp_path / "a" / "b.txt", b"text")
    assert (tmp_path / "a" / "b.txt").read_bytes() == b"text"


def test_an_existing_file_keeps_its_mode(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_bytes(b"old")
    script.chmod(0o755)
    atomic_write(script, b"new")
    assert script.read_bytes() == b"new"
    assert mode(script) == 0o755


def test_a_private_file_is_closed_to_others_and_so_is_its_folder(tmp_path: Path) -> None:
    atomic_write(tmp_path / "own" / "key", b"k", private=True)
    assert mode(tmp_path / "own" / "key") == 0o600
    assert mode(tmp_path / "own") == 0o700


def test_a_file_that_was_open_to_others_becomes_private(tmp_path: Path) -> None:
    key = tmp_path / "own" / "key"
    key.parent.mkdir()
    key.write_bytes(b"old")
    key.chmod(0o644)
    atomic_write(key, b"new", private=True)
    assert mode(key) == 0o600


def test_all_names_of_a_hard_linked_file_see_the_change(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_bytes(b"a longer old text")
    os.link(first, second)
    atomic_write(first, b"new")
    assert second.read_bytes() == b"new"
    assert first.stat().st_ino == second.stat().st_ino


def test_a_symbolic_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "real", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    atomic_write(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_extended_attributes_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"old")
    try:
        os.setxattr(file, "user.note", b"kept")
    except (OSError, AttributeError):
        pytest.skip("no extended attributes here")
    atomic_write(file, b"new")
    assert os.getxattr(file, "user.note") == b"kept"


def test_a_failed_write_leaves_the_old_file_and_no_scraps(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"old")
    done = run_python(
        """
        import resource, sys
        from pathlib import Path
        from deeptide.protocol.errors import WorkspaceError
        from deeptide.workspace.files import atomic_write
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            atomic_write(Path(sys.argv[1]), b"x" * 5000)
        except WorkspaceError as error:
            print(error, "|", error.advice)
        """,
        file,
    )
    assert "Nothing was changed" in done.stdout, done.stderr
    assert "ulimit" in done.stdout
    assert file.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


def test_a_failed_write_in_place_puts_the_old_content_back(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_bytes(b"old" * 100)
    os.link(first, second)
    done = run_python(
        """
        import resource, sys
        from pathlib import Path
        from deeptide.protocol.errors import WorkspaceError
        from deeptide.workspace.files import atomic_write
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            atomic_write(Path(sys.argv[1]), b"x" * 5000)
        except WorkspaceError as error:
            print(error)
        """,
        first,
    )
    assert "Nothing was changed" in done.stdout, done.stderr
    assert second.read_bytes() == b"old" * 100


def test_a_folder_or_a_fifo_is_not_overwritten(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for target in (tmp_path / "fifo", tmp_path):
        with pytest.raises(WorkspaceError):
            atomic_write(target, b"x")
    assert stat.S_ISFIFO((tmp_path / "fifo").stat().st_mode)


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"0" * 50_000)
    writer = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path; from deeptide.workspace.files import atomic_write\n"
            "for n in range(60): atomic_write(Path(sys.argv[1]), str(n % 10).encode() * 50_000)",
            str(file),
        ]
    )
    seen = 0
    while writer.poll() is None:
        data = file.read_bytes()
        assert len(data) == 50_000
        assert len(set(data)) == 1
        seen += 1
    assert writer.returncode == 0
    assert seen


# ---- reading and folders -------------------------------------------------------------------------------


def test_devices_fifos_folders_and_huge_files_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    huge = tmp_path / "huge"
    with open(huge, "wb") as file:
        file.truncate(10_000_001)
    for path in (tmp_path / "fifo", tmp_path, huge, Path("/dev/zero"), tmp_path / "missing"):
        with pytest.raises(WorkspaceError) as caught:
            read_bytes(path)
        assert caught.value.advice


def test_a_regular_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\x00\xff\r\n")
    assert read_bytes(tmp_path / "a") == b"\x00\xff\r\n"


def test_private_folders_are_made_and_tightened(tmp_path: Path) -> None:
    assert mode(private_dir(tmp_path / "x" / "y")) == 0o700
    assert mode(tmp_path / "x") == 0o700
    (tmp_path / "open").mkdir(mode=0o755)
    assert mode(private_dir(tmp_path / "open")) == 0o700
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WorkspaceError, match="file"):
        private_dir(tmp_path / "file")


# ---- AppendLog -----------------------------------------------------------------------------------------


@settings(max_examples=count(40, 500), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(min_size=1, max_size=50).filter(lambda line: b"\n" not in line), max_size=10))
def test_what_is_appended_is_read_back_line_by_line(tmp_path: Path, lines: list[bytes]) -> None:
    path = tmp_path / "log.jsonl"
    path.unlink(missing_ok=True)
    with AppendLog(path) as log:
        for line in lines:
            log.append(line + b"\n")
        log.sync()
        assert log.size == path.stat().st_size
    assert path.read_bytes() == b"".join(line + b"\n" for line in lines)
    assert mode(path) == 0o600


def test_a_full_disk_is_said_with_advice() -> None:
    before = mode(Path("/dev"))
    log = AppendLog(Path("/dev/full"))
    with pytest.raises(WorkspaceError, match="kept") as caught:
        log.append(b"entry\n")
    assert "disk is full" in caught.value.advice
    log.close()
    log.close()
    assert mode(Path("/dev")) == before


def test_a_shared_folder_is_not_closed_to_others(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    private_dir(shared)
    AppendLog(shared / "log").close()
    atomic_write(shared / "key", b"k", private=True)
    FileLock(shared / "lock").acquire()
    assert mode(shared) == 0o1777
    assert {mode(file) for file in shared.iterdir()} == {0o600}


@settings(
    max_examples=count(4, 40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.integers(1, 3000), st.integers(10, 900))
def test_a_torn_write_is_cut_off_again(tmp_path: Path, limit: int, size: int) -> None:
    path = tmp_path / "log.jsonl"
    path.unlink(missing_ok=True)
    done = run_python(
        """
        import resource, sys
        from pathlib import Path
        from deeptide.protocol.errors import WorkspaceError
        from deeptide.workspace.files import AppendLog
        path, limit, size = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
        log = AppendLog(path)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        written = 0
        try:
            while True:
                log.append(b"x" * (size - 1) + b"\\n")
                written += 1
        except WorkspaceError as error:
            assert error.advice
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        log.append(b"after\\n")
        print(written)
        """,
        path,
        limit,
        size,
    )
    assert done.returncode == 0, done.stderr
    whole = b"x" * (size - 1) + b"\n"
    assert path.read_bytes() == whole * int(done.stdout) + b"after\n"
    assert int(done.stdout) == limit // size


def test_a_killed_writer_loses_nothing_that_was_appended(tmp_path: Path) -> None:
    path = tmp_path / "log"
    done = run_python(
        """
        import os, signal, sys
        from pathlib import Path
        from deeptide.workspace.files import AppendLog
        log = AppendLog(Path(sys.argv[1]))
        for n in range(100):
            log.append(b"%d\\n" % n)
        os.kill(os.getpid(), signal.SIGKILL)
        """,
        path,
    )
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes().split() == [b"%d" % n for n in range(100)]


def test_a_torn_end_can_be_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"whole\ntor")
    with AppendLog(path) as log:
        log.truncate(6)
        log.append(b"next\n")
    assert path.read_bytes() == b"whole\nnext\n"


# ---- FileLock ------------------------------------------------------------------------------------------


def test_a_second_owner_is_told_who_holds_the_lock(tmp_path: Path) -> None:
    with FileLock(tmp_path / "lock") as lock:
        assert lock.held
        with pytest.raises(LockHeld, match=str(os.getpid())) as caught:
            FileLock(tmp_path / "lock").acquire()
        assert caught.value.pid == os.getpid()
        assert FileLock(tmp_path / "lock").holder() == os.getpid()
    assert not lock.held
    assert lock.holder() is None
    FileLock(tmp_path / "lock").acquire()


def test_a_killed_owner_leaves_the_lock_free(tmp_path: Path) -> None:
    owner = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, time; from pathlib import Path; from deeptide.workspace.files import FileLock\n"
            "FileLock(Path(sys.argv[1])).acquire() or print('held', flush=True); lock = 1; time.sleep(60)",
            str(tmp_path / "lock"),
        ],
        stdout=subprocess.PIPE,
    )
    assert owner.stdout is not None
    owner.stdout.readline()
    owner.kill()
    owner.wait()
    lock = FileLock(tmp_path / "lock")
    lock.acquire()
    assert lock.held
    lock.release()


def test_a_living_owner_in_another_process_is_named(tmp_path: Path) -> None:
    owner = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path; from deeptide.workspace.files import FileLock\n"
            "lock = FileLock(Path(sys.argv[1])); lock.acquire(); print('held', flush=True); sys.stdin.read()",
            str(tmp_path / "lock"),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert owner.stdout is not None
    owner.stdout.readline()
    with pytest.raises(LockHeld) as caught:
        FileLock(tmp_path / "lock").acquire()
    assert caught.value.pid == owner.pid
    owner.communicate(b"")
