"""From an Invocation to the options a house is built with.

Invariant: nothing is decided here; a flag that was not given stays a setting of the files.
"""

from __future__ import annotations

from deeptide.cli.invocation import Invocation
from deeptide.wiring.house import Options


def options_of(call: Invocation) -> Options:
    """Raises UsageError when the folder is none."""
    return Options(
        workspace=call.workspace,
        flags=call.settings(),
        trust=call.trust,
        interactive=call.command != "exec",
        demo=call.command == "demo",
        fresh_demo=not call.go_on and call.resume is None,
    )
