"""Every byte DeepTide writes goes through here: whole or not at all.

Invariant: a reader never sees a half-written file or a torn line, and what is private (0600 in 0700) is never
readable by others, not even for a moment.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Self

from deeptide.protocol.errors import WorkspaceError
from deeptide.workspace.encoding import Decoded, decode, encode, is_binary
from deeptide.workspace.roots import Roots

__all__ = [
    "MAX_FILE",
    "AppendLog",
    "Decoded",
    "FileLock",
    "LockHeld",
    "Roots",
    "atomic_write",
    "decode",
    "encode",
    "is_binary",
    "private_dir",
    "read_bytes",
    "trouble",
]

MAX_FILE = 10_000_000
"""Bytes of the largest file that is read whole."""


def trouble(
    error: OSError, doing: str, path: Path | str, kept: str = "Nothing was changed."
) -> WorkspaceError:
    """An OSError in words: what could not be done, what was kept, what to do next."""
    advice = {
        errno.ENOSPC: "The disk is full: free some space and try again.",
        errno.EDQUOT: "Your disk quota is used up: free some space and try again.",
        errno.EFBIG: "The file would exceed the size limit of this process or file system (see `ulimit -f`).",
        errno.EACCES: "Check the permissions of the file and its folder.",
        errno.EPERM: "Check the permissions of the file and its folder.",
        errno.EROFS: "The file system is read-only.",
        errno.ENOENT: "Check the path; list the folder to see what is there.",
        errno.ENOTDIR: "A part of the path is a file, not a folder.",
        errno.EISDIR: "The path is a folder; name a file in it.",
        errno.ELOOP: "The path runs through a loop of symbolic links.",
        errno.ENAMETOOLONG: "The name is too long for this file system.",
    }.get(error.errno or 0, "")
    return WorkspaceError(f"Could not {doing} {path}: {error.strerror or error}. {kept}".rstrip(), advice)


def private_dir(path: Path) -> Path:
    """Makes `path` and its missing parents with mode 0700, tightens an existing `path`, and returns it.

    A shared folder (sticky, like /tmp) or another user's is left as it is.
    """
    try:
        _make_private(path)
        info = os.stat(path)
        ours = info.st_uid == os.geteuid() and not info.st_mode & stat.S_ISVTX
        if stat.S_IMODE(info.st_mode) & 0o077 and ours:
            os.chmod(path, 0o700)
    except OSError as error:
        raise trouble(error, "make the folder", path) from error
    return path


def _make_private(path: Path) -> None:
    """What exists keeps its mode: a log may be asked for in a folder that is not ours to close."""
    missing = [path]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for folder in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))


def read_bytes(path: Path, limit: int = MAX_FILE) -> bytes:
    """The whole of a regular file. WorkspaceError for devices, FIFOs, folders and files over `limit`
    bytes."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            info = os.fstat(descriptor)
            if stat.S_ISDIR(info.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
            if not stat.S_ISREG(info.st_mode):
                raise WorkspaceError(
                    f"{path} is {_kind(info.st_mode)}, not a regular file; it was not read.",
                    "Only regular files can be read.",
                )
            if info.st_size > limit:
                raise WorkspaceError(
                    f"{path} has {info.st_size:,} bytes, more than the {limit:,} that are read at once.",
                    "Look at a part of it with the shell, for example head, tail or grep.",
                )
            data: bytes | None = file.read(limit + 1)
            if data is None:
                raise WorkspaceError(
                    f"{path} has nothing to read now and no end; it was not waited for.",
                    "Only regular files can be read.",
                )
            return data
    except OSError as error:
        raise trouble(error, "read", path, "") from error


def _kind(mode: int) -> str:
    kinds = ((stat.S_ISFIFO, "a FIFO"), (stat.S_ISSOCK, "a socket"))
    return next((name for test, name in kinds if test(mode)), "a device")


def atomic_write(path: Path, data: bytes, *, private: bool = False) -> None:
    """Replaces or makes `path` with `data`, all or nothing; parents are made.

    Mode, owner and extended attributes of an existing file are kept. A file with several hard links is
    written in place, so that all its names see the change. `private`: the file is 0600, folders made for it
    are 0700. A symbolic link is followed. Raises WorkspaceError; the old content is then still there.
    """
    target = Path(os.path.realpath(path))
    try:
        if private:
            _make_private(target.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        old = _existing(target)
        if old is not None and not stat.S_ISREG(old.st_mode):
            raise WorkspaceError(
                f"{path} is not a regular file; nothing was written.", "Name a regular file."
            )
        if old is not None and old.st_nlink > 1:
            _write_in_place(target, data, private)
        else:
            _replace(target, data, old, private)
    except OSError as error:
        raise trouble(error, "write", path) from error


def _existing(path: Path) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None


def _replace(target: Path, data: bytes, old: os.stat_result | None, private: bool) -> None:
    temporary = target.with_name(f".{target.name[:100]}.{os.urandom(6).hex()}.tmp")
    mode = 0o600 if private else 0o666
    descriptor = os.open(
        temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600 if old else mode
    )
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if old is not None:
                _take_over(descriptor, target, old, private)
            os.fsync(descriptor)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    sync_dir(target.parent)


def _take_over(descriptor: int, target: Path, old: os.stat_result, private: bool) -> None:
    """Owner first: changing it clears the set-id bits that the mode then restores."""
    if (old.st_uid, old.st_gid) != (os.geteuid(), os.fstat(descriptor).st_gid):
        with suppress(OSError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            for name in os.listxattr(target):
                with suppress(OSError):
                    os.setxattr(descriptor, name, os.getxattr(target, name))
    os.fchmod(descriptor, 0o600 if private else stat.S_IMODE(old.st_mode))


def _write_in_place(target: Path, data: bytes, private: bool) -> None:
    """Not atomic, by need; a failure puts the old content back."""
    descriptor = os.open(target, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(descriptor, "r+b") as file:
        before = file.read()
        try:
            _overwrite(descriptor, data)
        except OSError:
            _overwrite(descriptor, before)
            raise
        if private:
            os.fchmod(descriptor, 0o600)


def _overwrite(descriptor: int, data: bytes) -> None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    os.ftruncate(descriptor, len(data))
    os.fsync(descriptor)


def sync_dir(path: Path) -> None:
    """Makes a rename in `path` survive a power cut, where the file system can."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class AppendLog:
    """A private file that only grows, one whole chunk at a time.

    A chunk that cannot be written whole is cut off again and WorkspaceError raised: the log then ends where
    it ended before, and the next `append` may be tried. `append` hands the bytes to the system (they survive
    a killed process); `sync` to the disk (they survive a power cut).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            _make_private(path.parent)
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise trouble(error, "open the log", path) from error

    @property
    def size(self) -> int:
        """Bytes in the file now."""
        return os.fstat(self._fd).st_size

    def append(self, data: bytes) -> None:
        info = os.fstat(self._fd)
        if not info.st_nlink and stat.S_ISREG(info.st_mode):
            raise WorkspaceError(
                f"The log {self.path} was deleted while it was open; this entry is not kept.",
                "Start a new session with /new. What is on the screen can be saved with /export.",
            )
        before = info.st_size
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._fd, before)
            kept = "What was logged before is kept; this entry is not in the log."
            raise trouble(error, "append to", self.path, kept) from error

    def truncate(self, size: int) -> None:
        """Cuts a torn end off; `size` is the new length in bytes."""
        try:
            os.ftruncate(self._fd, size)
        except OSError as error:
            raise trouble(error, "cut", self.path) from error

    def sync(self) -> None:
        try:
            os.fsync(self._fd)
        except OSError as error:
            # A pipe or a device has nothing to sync.
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise trouble(
                    error, "save", self.path, "The last entries may not survive a power cut."
                ) from error

    def close(self) -> None:
        """Idempotent."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class LockHeld(WorkspaceError):
    """`pid`: the process that holds it, 0 if it has not said so yet."""

    def __init__(self, path: Path, pid: int) -> None:
        who = f"process {pid}" if pid else "another process"
        super().__init__(
            f"{path.name} is in use by {who}.", "Close it there first, or go on in another session."
        )
        self.pid = pid


class FileLock:
    """An advisory `flock` on `path`, which holds the owner's pid as text. The file is never deleted: a
    deleted lock file could be held twice."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = -1

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._fd >= 0

    def acquire(self) -> None:
        """Takes the lock at once or raises LockHeld. Taking it twice by one object is harmless."""
        if self.held:
            return
        try:
            _make_private(self.path.parent)
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise trouble(error, "open the lock", self.path) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            if isinstance(error, BlockingIOError):
                raise LockHeld(self.path, self.holder() or 0) from error
            raise trouble(error, "lock", self.path) from error
        self._fd = descriptor
        # The pid only informs: a full disk must not keep a session from opening.
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)

    def holder(self) -> int | None:
        """The pid of the process that holds the lock now, or None if it is free or its pid is unknown."""
        try:
            with open(self.path, "rb") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    return int(file.read(20) or b"0") or None
        except (OSError, ValueError):
            pass
        return None

    def release(self) -> None:
        """Idempotent."""
        if self.held:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
