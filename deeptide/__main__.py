"""The command's entry. `--version` is answered here, before anything is imported.

Invariant: this module imports nothing of ours at the top but the version.
"""

from __future__ import annotations

import sys

from deeptide import __version__


def main() -> int:
    """Runs the command line in sys.argv; returns the exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        print(f"deeptide {__version__}")
        return 0
    # Lazy: argparse alone would double the time of `--version`.
    from deeptide.cli.main import main as run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
