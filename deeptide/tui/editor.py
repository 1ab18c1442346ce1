"""Writing a prompt in the user's own editor.

Invariant: the text lives in a private file only while the editor is open, and an editor that fails changes
nothing.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from deeptide.protocol.errors import UsageError
from deeptide.workspace.files import atomic_write

DEFAULT = "vi"


def command(environ: Mapping[str, str]) -> list[str]:
    """The editor's words from $VISUAL or $EDITOR. Raises UsageError for an unclosed quote."""
    line = environ.get("VISUAL") or environ.get("EDITOR") or DEFAULT
    try:
        return shlex.split(line) or [DEFAULT]
    except ValueError as error:
        raise UsageError(f"$VISUAL or $EDITOR is not a command line: {line}", "Close its quotes.") from error


def edit(text: str, environ: Mapping[str, str]) -> str:
    """`text` as it is after the editor was closed. Blocks; the terminal must be free. Raises UsageError when the
    editor cannot be started or ends with an error."""
    words = command(environ)
    with tempfile.TemporaryDirectory(prefix="deeptide-") as folder:
        path = Path(folder) / "prompt.md"
        atomic_write(path, text.encode("utf-8", "replace"), private=True)
        try:
            done = subprocess.run([*words, os.fspath(path)], check=False)
        except OSError as error:
            advice = "Set $VISUAL or $EDITOR to an editor that is installed."
            raise UsageError(f"Could not start the editor {words[0]}: {error.strerror}.", advice) from error
        if done.returncode != 0:
            raise UsageError(f"The editor ended with status {done.returncode}; your text is as it was.")
        return path.read_bytes().decode("utf-8", "replace").rstrip("\n")
