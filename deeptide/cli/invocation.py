"""One parsed command line.

Invariant: only what was said; a flag that was not given is None or empty, so that settings can fill it in.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from deeptide.protocol.errors import UsageError

COMMANDS: dict[str, str] = {
    "exec": "Run one prompt without a screen and print the answer",
    "demo": "Try it with a scripted model: no key, no network",
    "login": "Store an API key, readable by you alone",
    "logout": "Forget a stored API key",
    "sessions": "List or delete sessions",
    "config": "Show or change settings",
    "doctor": "Check the installation and say where everything lies",
    "emulator": "Serve a local DeepSeek for tests of any agent",
}


class Invocation(argparse.Namespace):
    """What argv asks for. `resume`: None is a new session, empty is "let me pick" (headless: the latest)."""

    command: str = "tui"
    prompt: list[str]
    version: bool = False
    print_mode: bool = False
    resume: str | None = None
    go_on: bool = False
    model: str | None = None
    effort: str | None = None
    mode: str | None = None
    yolo: bool = False
    base_url: str | None = None
    trust: bool = False
    cwd: str | None = None
    max_turns: int | None = None
    max_cost: float | None = None
    output: str | None = None
    action: str = ""
    selector: str = ""
    everywhere: bool = False
    yes: bool = False
    key: str = ""
    value: str | None = None
    example: bool = False
    rest: list[str]

    def __init__(self, **said: object) -> None:
        super().__init__(**{"prompt": [], "rest": [], **said})

    @property
    def workspace(self) -> Path:
        """The folder to work in, absolute and real. Raises UsageError if it is none."""
        try:
            folder = Path(self.cwd).expanduser().resolve() if self.cwd else Path.cwd().resolve()
        except (OSError, RuntimeError) as error:
            raise UsageError(
                f"The folder {self.cwd or '.'} cannot be found.", "Give another --cwd."
            ) from error
        if not folder.is_dir():
            raise UsageError(f"{folder} is not a folder.", "Give another --cwd.")
        return folder

    def settings(self) -> dict[str, object]:
        """The flags that are settings, by dotted key: the topmost layer.

        A headless run is one turn, so its money cap is the turn's: what a resumed session cost before it does
        not count. In the terminal app the cap is the session's.
        """
        cap = "limits.max_cost_turn" if self.command == "exec" else "limits.max_cost_session"
        said: dict[str, object] = {
            "model.name": self.model,
            "model.effort": self.effort,
            "model.base_url": self.base_url,
            "permissions.mode": "yolo" if self.yolo else self.mode,
            "limits.max_turns": self.max_turns,
            cap: self.max_cost,
        }
        return {key: value for key, value in said.items() if value is not None}
