"""From a command line that wants a screen to an exit code.

Invariant: whatever happens inside, the terminal is given back as it was found, and what ended the app early is
raised again here for the command line to say.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from deeptide.tui import terminal
from deeptide.tui.app import DeepTideApp
from deeptide.tui.palette import choose
from deeptide.tui.ports import HouseFactory, Start


def run(
    house_factory: HouseFactory,
    *,
    workspace: Path,
    home: Path | None = None,
    start: Start | None = None,
    theme: str = "auto",
    command: str = "deeptide",
) -> int:
    """Show the app until the user leaves it; the exit code. `house_factory` is called in a thread after the
    first paint. `home` is where earlier prompts are kept (None: nowhere). `command` is what to start again to go on.

    Raises the DeepTideError that kept a house or a session from opening.
    """
    terminal.forget_empty_no_color(os.environ)
    terminal.forget_fixed_size(os.environ)
    palette = choose(theme, os.environ)
    app = DeepTideApp(house_factory, workspace=workspace, home=home, start=start or Start(), palette=palette)
    _write(terminal.PUSH_TITLE)
    try:
        app.run()
    finally:
        _write(terminal.POP_TITLE)
    if app.failure is not None:
        raise app.failure
    if app.left:
        print(f"Go on with this session: {command} --resume {app.left}")
    return app.return_code or 0


def _write(sequence: str) -> None:
    if sys.stdout.isatty():
        sys.stdout.write(sequence)
        sys.stdout.flush()
