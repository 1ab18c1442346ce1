"""`emulator`: the local DeepSeek as a server.

Invariant: the same as `python -m deeptide.emulator`, flag for flag.
"""

from __future__ import annotations

import sys

from deeptide.cli.invocation import Invocation
from deeptide.emulator.__main__ import main


def run_emulator(call: Invocation) -> int:
    """Serves until it is stopped."""
    sys.argv[1:] = call.rest
    return main()
