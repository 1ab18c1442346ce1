"""The session picker: every stored talk, newest first, with where it stood.

Invariant: it lists what the store lists, from all folders; the filter only hides.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from deeptide.protocol.text import clean
from deeptide.tui.ports import Listed
from deeptide.tui.screens.picker import Picker
from deeptide.tui.widgets.rows import Row
from deeptide.tui.widgets.welcome import home_relative


def ago(then: float, now: float) -> str:
    """`just now`, `5 min ago`, `3 h ago`, `yesterday`, `12 days ago`, or the date when it is older."""
    passed = max(0.0, now - then)
    if passed < 90:
        return "just now"
    if passed < 5400:
        return f"{round(passed / 60)} min ago"
    if passed < 86_400:
        return f"{round(passed / 3600)} h ago"
    days = int(passed // 86_400)
    if days == 1:
        return "yesterday"
    return f"{days} days ago" if days < 31 else time.strftime("%Y-%m-%d", time.localtime(then))


def named(info: Listed) -> str:
    first = next((line for line in clean(info.first).splitlines() if line.strip()), "")
    return clean(info.title) or first or "(nothing said)"


class SessionPicker(Picker):
    heading = "Sessions"
    empty = "No session yet. What you say now starts the first."
    keys = "type to filter · Tab all folders · Enter resumes · Esc"

    def __init__(self, sessions: Sequence[Listed], workspace: Path, current: str, now: float) -> None:
        super().__init__()
        self._here = str(workspace)
        self._all = {info.id: info for info in sessions}
        self._current = current
        self._now_s = now
        self._wide = not any(info.workspace == self._here for info in sessions)

    def rows(self) -> Sequence[Row]:
        shown = [info for info in self._all.values() if self._wide or info.workspace == self._here]
        return [self._row(info) for info in shown]

    def _row(self, info: Listed) -> Row:
        where = f"{Path(info.workspace).name}  " if self._wide else ""
        turns = f"{info.turns} turn" + ("" if info.turns == 1 else "s")
        detail = f"{where}{turns}  {ago(info.updated, self._now_s)}"
        words = f"{info.id} {info.first} {info.last} {info.workspace}"
        return Row(info.id, named(info), detail, words, marked=info.id == self._current)

    def preview(self, row: Row) -> Text:
        info = self._all[row.value]
        text = Text()
        text.append(f"{info.id}  {info.model}  ", "dim")
        text.append(clean(home_relative(Path(info.workspace))), "dim")
        for head, words in (("first", info.first), ("last", info.last)):
            if words:
                text.append(f"\n{head:<6}", "dim")
                text.append(clean(words).strip()[:600].replace("\n", "\n      "))
        return text

    def act(self, key: str) -> bool:
        if key == "tab":
            self._wide = not self._wide
            self.refresh_rows()
            return True
        return super().act(key)
