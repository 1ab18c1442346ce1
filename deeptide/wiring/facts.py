"""Date, git status and mode as notes appended to the talk.

Invariant: volatile facts are only ever appended, with the user's next message, and only when the view does not
already say them; the prefix of a request never holds one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import date

from deeptide.context.assemble import Fold
from deeptide.workspace.git import status_line
from deeptide.workspace.roots import Roots

MODE_NOTES = {
    "plan": "Mode: plan. Look and think; calls that change anything are refused. End with a plan to approve.",
    "ask": "Mode: ask. Edits and commands that are not plainly read-only are put to the user first.",
    "auto-edit": "Mode: auto-edit. Edits in the workspace need no approval; other commands are asked.",
    "yolo": "Mode: yolo. Calls run without approval, except destructive ones. Be careful.",
}
NO_GIT = "Git: this workspace is not a repository."


class Facts:
    """`today` is injectable for tests."""

    def __init__(self, roots: Roots, fold: Fold, today: Callable[[], date] = date.today) -> None:
        self._roots, self._fold, self._today = roots, fold, today

    async def note(self) -> str:
        """The lines that differ from what the view last says; empty if none does."""
        git = await asyncio.to_thread(status_line, self._roots.workspace)
        known = self._told()
        lines = (
            f"Today is {self._today():%A, %Y-%m-%d}.",
            f"Git: {git}" if git else NO_GIT,
            MODE_NOTES[self._fold.mode],
        )
        return "\n".join(line for line in lines if known.get(_topic(line)) != line)

    def _told(self) -> dict[str, str]:
        known: dict[str, str] = {}
        for entry in self._fold.entries:
            lines = entry.message.text.splitlines() if entry.kind == "note" else []
            if lines and all(_topic(line) for line in lines):
                known.update({_topic(line): line for line in lines})
        return known


def _topic(line: str) -> str:
    return next((topic for topic in ("Today is ", "Git: ", "Mode: ") if line.startswith(topic)), "")
