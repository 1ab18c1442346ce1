"""A question to the human and its answer, as values.

Invariant: an approval is an event; its answer comes back by id through `session.answer`. No futures here.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Mode = Literal["plan", "ask", "auto-edit", "yolo"]
MODES: tuple[Mode, ...] = ("plan", "ask", "auto-edit", "yolo")

Choice = Literal["once", "session", "always", "deny"]


class Approval(msgspec.Struct, frozen=True, omit_defaults=True):
    """One question. `kind` is `permission` (may this call run?) or `question` (the model asks the human).

    `preview` is what will happen, verbatim: the shell command or the unified diff; `preview_kind` says which.
    `rule` and `reason` say what decided that a human is needed. `scope` is the rule that `session`/`always`
    would store (empty: those choices are not offered). `strong` means it is asked every time.
    `options` are the answers offered for a question; free text is always allowed.
    """

    id: str
    call_id: str
    tool: str
    title: str
    kind: Literal["permission", "question"] = "permission"
    preview: str = ""
    preview_kind: Literal["text", "command", "diff"] = "text"
    rule: str = ""
    reason: str = ""
    scope: str = ""
    strong: bool = False
    options: tuple[str, ...] = ()


class Decision(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer. `text` is the reason that goes to the model with `deny`, or the answer to a question."""

    choice: Choice
    text: str = ""
