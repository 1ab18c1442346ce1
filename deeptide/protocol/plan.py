"""The working checklist that the agent keeps and the reader sees.

Invariant: a plan is replaced whole, never patched, so any one event shows all of it.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Status = Literal["pending", "in_progress", "completed"]
BOX: dict[Status, str] = {"pending": "[ ]", "in_progress": "[~]", "completed": "[x]"}


class PlanItem(msgspec.Struct, frozen=True):
    text: str
    status: Status = "pending"


class Plan(msgspec.Struct, frozen=True):
    items: tuple[PlanItem, ...] = ()

    def render(self) -> str:
        """One line an item: `[ ] text`, `[~] text` or `[x] text`."""
        return "\n".join(f"{BOX[item.status]} {item.text}" for item in self.items)
