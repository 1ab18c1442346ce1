"""The blocks a transcript is made of, as frozen values.

Invariant: an `id` is made from the place in the log that the block stands for, so it is the same live and
replayed; ids that begin with `live:` belong to blocks that no record stands for. Two blocks with one id are
two states of one thing, the later one replacing the earlier.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from deeptide.protocol.events import EndReason, ToolStatus
from deeptide.protocol.plan import Plan
from deeptide.protocol.usage import Money, Usage
from deeptide.transcript.prose import Prose

Level = Literal["info", "warning", "error", "model", "shell"]
CallStatus = ToolStatus | Literal["writing", "waiting", "running"]
Mark = Literal["", "interrupted", "cut", "length", "content_filter"]

OPEN_CALLS = ("writing", "waiting", "running")


class Block(msgspec.Struct, frozen=True, gc=False):
    id: str


class UserBlock(Block, frozen=True, gc=False):
    """The user's words; `steered` when given while a turn was running."""

    text: str
    steered: bool = False


class ThinkingBlock(Block, frozen=True, gc=False):
    """`elapsed_ms` is the share of the response's time by its share of the characters; 0 while `open`."""

    source: str | Prose
    elapsed_ms: int = 0
    open: bool = False

    @property
    def text(self) -> str:
        return str(self.source)


class AnswerBlock(Block, frozen=True, gc=False):
    """`mark` says why the answer is not whole; it is empty for a finished one."""

    source: str | Prose
    open: bool = False
    mark: Mark = ""

    @property
    def markdown(self) -> str:
        return str(self.source)


class ToolBlock(Block, frozen=True, gc=False):
    """One call. `output` is what the model read (while running: the last lines printed so far); `trace` is
    one line on how the call was allowed or denied."""

    call_id: str
    name: str
    title: str
    arguments: str = "{}"
    output: str = ""
    diff: str = ""
    status: CallStatus = "waiting"
    summary: str = ""
    elapsed_ms: int = 0
    trace: str = ""
    spill: str = ""


class NoteBlock(Block, frozen=True, gc=False):
    """A remark. Level `model`: facts appended for the model, `label` naming their kinds (`date, git`);
    level `shell`: the user's own command and its output."""

    level: Level
    text: str
    advice: str = ""
    label: str = ""


class DividerBlock(Block, frozen=True, gc=False):
    """A line across the talk: `label` is the event, `detail` its figures."""

    label: str
    detail: str = ""


class PlanBlock(Block, frozen=True, gc=False):
    plan: Plan


class SummaryBlock(Block, frozen=True, gc=False):
    """Older talk was replaced by `text` in what the model sees. `undone` when that was taken back."""

    label: str
    detail: str
    text: str
    undone: bool = False


class TurnBlock(Block, frozen=True, gc=False):
    """The foot of a finished turn. `elapsed_ms` is wall time; `calls` counts tool calls."""

    turn: int
    reason: EndReason
    elapsed_ms: int = 0
    model: str = ""
    usage: Usage = Usage()
    cost: Money | None = None
    calls: int = 0


class Change(msgspec.Struct, frozen=True, gc=False):
    """One step of the view. `add` puts the block before the block with id `before`, or at the end if that is
    empty; `update` replaces the block with the same id; `remove` takes it out."""

    op: Literal["add", "update", "remove"]
    block: Block
    before: str = ""
