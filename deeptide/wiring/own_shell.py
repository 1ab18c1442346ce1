"""The user's own `!command`: run at once, shown, and told to the model.

Invariant: it runs as the user asked, without a question, but with the same environment, bounds and clean-up as a
command of the agent.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from deeptide.workspace.roots import Roots
from deeptide.workspace.shell import child_env, run


async def run_for_user(command: str, roots: Roots, spill_dir: Path, timeout_s: float) -> str:
    """The note for the model: the command, its output (capped) and how it ended."""
    spill = spill_dir / f"user-{secrets.token_hex(4)}.txt"
    done = await run(
        command, cwd=roots.workspace, env=child_env(os.environ), timeout_s=timeout_s, spill=spill
    )
    ended = "timed out" if done.timed_out else f"exit {done.status}"
    whole = f"\n(the whole output is in {spill})" if done.spilled else ""
    return f"The user ran a command in the workspace.\n$ {command}\n{done.text}\n({ended}){whole}"
