"""Which folders the user trusts, so that their project files may steer the agent.

Invariant: trust is given by the user only, never by a file in the folder itself. Trusting a folder trusts
what lies below it, except that the home folder and the root are trusted for themselves alone.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from deeptide.config.paths import Paths
from deeptide.protocol.errors import ConfigError, WorkspaceError
from deeptide.workspace.files import atomic_write, private_dir, read_bytes


class _TrustFile(msgspec.Struct):
    folders: list[str] = []


def is_trusted(paths: Paths, folder: Path) -> bool:
    """Whether `folder` or a folder above it was trusted. Raises ConfigError when the file is damaged."""
    listed = set(_listed(paths))
    real = folder.resolve()
    if str(real) in listed:
        return True
    alone = _alone()
    return any(str(above) in listed and above not in alone for above in real.parents)


def trust(paths: Paths, folder: Path) -> None:
    """Trusts `folder` from now on; doing it twice changes nothing."""
    real = str(folder.resolve())
    folders = _listed(paths)
    if real not in folders:
        _write(paths, [*folders, real])


def distrust(paths: Paths, folder: Path) -> bool:
    """Takes the trust in exactly `folder` back; False if it was not listed."""
    real = str(folder.resolve())
    folders = _listed(paths)
    if real not in folders:
        return False
    _write(paths, [known for known in folders if known != real])
    return True


def _alone() -> set[Path]:
    alone = {Path("/")}
    try:
        alone.add(Path.home().resolve())
    except RuntimeError:
        pass
    return alone


def _listed(paths: Paths) -> list[str]:
    if not paths.trust_file.exists():
        return []
    try:
        return msgspec.json.decode(read_bytes(paths.trust_file), type=_TrustFile).folders
    except WorkspaceError as error:
        raise ConfigError(str(error), error.advice or "Mend its permissions.") from error
    except msgspec.MsgspecError as error:
        raise ConfigError(
            f"{paths.trust_file} is damaged.", "Delete it and trust your folders again."
        ) from error


def _write(paths: Paths, folders: list[str]) -> None:
    private_dir(paths.home)
    atomic_write(paths.trust_file, msgspec.json.encode(_TrustFile(folders)), private=True)
