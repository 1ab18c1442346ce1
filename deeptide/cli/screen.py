"""The terminal app, and the demo in it.

Invariant: only what the first frame needs is imported before it is drawn; the house is built after it.
"""

from __future__ import annotations

from deeptide.cli.invocation import Invocation
from deeptide.cli.start import loaded
from deeptide.config.load import load
from deeptide.config.paths import find_paths
from deeptide.tui.ports import House, Start
from deeptide.tui.run import run


def run_screen(call: Invocation) -> int:
    """Shows the app until it is left. Raises the DeepTideError that kept a session from opening."""
    paths, workspace = find_paths(), call.workspace
    # Read once here, so that wrong settings are said on the plain terminal and the first frame has its colours.
    settings = load(paths, flags=call.settings()).settings
    demo = call.command == "demo"
    home = paths.home / "demo" if demo else paths.home

    def build() -> House:
        # Lazy: the agent, its tools and the model catalogue are not needed to draw an empty prompt.
        from deeptide.cli.opening import options_of
        from deeptide.wiring.house import House as Built

        try:
            return Built(options_of(call))
        finally:
            loaded()

    return run(
        build,
        workspace=workspace,
        home=home,
        start=start_of(call),
        theme=settings.ui.theme,
        command="deeptide demo" if demo else "deeptide",
    )


def start_of(call: Invocation) -> Start:
    """What the app opens with."""
    prompt = " ".join(call.prompt)
    if call.go_on:
        return Start("resume", "latest", prompt)
    if call.resume is None:
        return Start("new", "", prompt)
    return Start("resume", call.resume, prompt) if call.resume else Start("pick", "", prompt)
