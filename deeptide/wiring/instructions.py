"""The user's and the project's instruction files, for the recorded prefix of a new session.

Invariant: read once when a session starts; a project's file only from a trusted folder. Later changes reach the
model as notes or through its own reading, never by changing the prefix.
"""

from __future__ import annotations

import os
from pathlib import Path

from deeptide.permissions.secrets import guarded
from deeptide.protocol.errors import WorkspaceError
from deeptide.protocol.text import clean
from deeptide.workspace.files import decode, is_binary, read_bytes
from deeptide.workspace.roots import home_folder

NAMES = ("AGENTS.md", "CLAUDE.md")
CAP = 32 * 1024


def instruction_files(workspace: Path, config_dir: Path, trusted: bool) -> list[Path]:
    """The user's own file, then (trusted only) one a folder from the git root down to the workspace."""
    folders = [config_dir]
    if trusted:
        folders += _down_from_git_root(workspace)
    found = (next((path for name in NAMES if (path := folder / name).is_file()), None) for folder in folders)
    return [path for path in found if path is not None]


def instructions(workspace: Path, config_dir: Path, trusted: bool) -> tuple[str, tuple[str, ...]]:
    """(the text for the system prompt, notices for the reader). Each file is capped at 32 Ki characters."""
    home = str(home_folder())
    parts, notices = [], []
    for path in instruction_files(workspace, config_dir, trusted):
        try:
            data = read_bytes(path)
        except WorkspaceError as error:
            notices.append(f"{path} was not read: {error}")
            continue
        if refusal := _refused(path, data, home):
            notices.append(f"{path} was not read: {refusal}")
            continue
        text = clean(decode(data).text).strip()
        if len(text) > CAP:
            notices.append(f"{path} has {len(text):,} characters; the first {CAP:,} are used.")
            text = text[:CAP]
        if text:
            parts.append(f"## {path.name} of {_where(path, workspace, config_dir)}\n\n{text}")
    return "\n\n".join(parts), tuple(notices)


def _refused(path: Path, data: bytes, home: str) -> str:
    """Why a file is not fit to be sent with every request; empty if it is."""
    real = os.path.realpath(path)
    if guarded(real, home) or real.startswith(("/proc/", "/sys/", "/dev/")):
        return "it leads to a file that may hold secrets."
    return "it is not text." if is_binary(data) else ""


def _down_from_git_root(workspace: Path) -> list[Path]:
    chain = [workspace, *workspace.parents]
    root = next((folder for folder in chain if (folder / ".git").exists()), workspace)
    return list(reversed(chain[: chain.index(root) + 1]))


def _where(path: Path, workspace: Path, config_dir: Path) -> str:
    if path.parent == config_dir:
        return "the user"
    return "this workspace" if path.parent == workspace else str(path.parent)
