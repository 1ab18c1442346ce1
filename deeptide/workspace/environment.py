"""What a child process may know: the user's environment without secrets, and nothing that waits for a human.

Invariant: a variable whose name or value looks like a credential never reaches a command of the model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE|^DEEPSEEK_|^DEEPTIDE_", re.IGNORECASE
)
_HARMLESS = re.compile(
    r"^(GIT_AUTHOR_(NAME|EMAIL|DATE)|XAUTHORITY|\w*KEYBOARD\w*|\w*KEYMAP\w*)$", re.IGNORECASE
)
_SECRET_VALUE = re.compile(
    r"://[^/\s:@]+:[^/\s@]+@"
    r"|\bsk-[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}"
    r"|\bAKIA[0-9A-Z]{16}\b|\bxox[abprs]-[\w-]{10,}|-----BEGIN [A-Z ]*PRIVATE KEY"
)
# Start-up files, prompts and git state that a command must not inherit from how DeepTide itself was started.
_DROPPED = frozenset(
    {"BASH_ENV", "ENV", "PROMPT_COMMAND", "SSH_ASKPASS", "SUDO_ASKPASS", "GIT_ASKPASS"}
    | {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_EXTERNAL_DIFF"}
    | {"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"}
)
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": ":",
    "GIT_SEQUENCE_EDITOR": ":",
    "EDITOR": ":",
    "VISUAL": ":",
    "PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "AWS_PAGER": "",
    "BAT_PAGER": "cat",
    "GH_PAGER": "cat",
    "GH_PROMPT_DISABLED": "1",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "TERM": "dumb",
}


def is_secret(name: str, value: str) -> bool:
    """Whether the variable is kept from children. A proxy address keeps its password: without it nothing
    works."""
    if name.lower().endswith("_proxy"):
        return False
    if _SECRET_NAME.search(name) and not _HARMLESS.fullmatch(name):
        return True
    return _SECRET_VALUE.search(value) is not None


def child_env(environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` as a command of the model gets it: secrets out, pagers, editors and prompts off."""
    kept = {
        name: value
        for name, value in environ.items()
        if name not in _DROPPED and not name.startswith("BASH_FUNC_") and not is_secret(name, value)
    }
    return kept | _QUIET
