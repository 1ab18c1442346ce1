"""What a tool is, and what it is given: the shape that the agent, the policy and every tool agree on.

Invariant: a tool keeps no state of its own between calls; whatever lasts is in the ToolContext it is given.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from deeptide.permissions.intents import Intent
from deeptide.permissions.secrets import guarded
from deeptide.protocol.approvals import Approval, Decision
from deeptide.protocol.messages import ToolSchema
from deeptide.protocol.plan import Plan
from deeptide.recall.search import Found
from deeptide.tools.notes import FolderNotes
from deeptide.tools.reads import ReadState
from deeptide.workspace.files import Roots

Args = Mapping[str, Any]


class Preview(msgspec.Struct, frozen=True):
    """What the approval panel shows, verbatim and uncleaned: the panel must make escapes visible."""

    text: str = ""
    kind: Literal["text", "command", "diff"] = "text"


class Output(msgspec.Struct, frozen=True):
    """What a call came to. `text` is for the model and not yet capped; `summary` is a few words for the folded
    card; `diff` is the unified diff that was applied; `plan` replaces the session's plan; `spill` is a file
    that already holds the whole output, so that the cap need not write another."""

    text: str
    is_error: bool = False
    summary: str = ""
    diff: str = ""
    plan: Plan | None = None
    spill: str = ""


class RecallPort(Protocol):
    """What left the view, searchable and readable. The session implements it over its log and archives."""

    async def search(self, query: str, cycle: int | None, max_results: int) -> Found:
        """The best hits; raises ToolError for a query without a searchable word."""
        ...

    async def read(self, cycle: int, message_index: int) -> str | None:
        """The whole message as logged, as text headed by its role; None if there is none at that place."""
        ...


def holds_secrets(path: str) -> bool:
    """Whether the file at the absolute `path` may hold secrets, by the house's one list."""
    return guarded(path, os.path.realpath(os.path.expanduser("~")))


@dataclass(frozen=True)
class ToolContext:
    """The world of one call.

    `spill_dir` takes whole outputs too long for the history. `emit` shows live output and costs nothing
    lasting. `env` is the process environment; the shell tool strips secrets from it. `notes` appends the
    AGENTS.md of a folder on its first touch; None where the folder is not trusted. `guarded` says of an absolute
    path whether a search must pass over the file, because it may hold secrets.
    `promised` holds the hash of the content that the preview of this call was made from. `timeout_s`: how long a
    command may run when the call does not say.
    """

    roots: Roots
    spill_dir: Path
    emit: Callable[[str], None]
    reads: ReadState
    plan: Plan
    ask: Callable[[Approval], Awaitable[Decision]]
    recall: RecallPort
    call_id: str
    env: Mapping[str, str]
    notes: FolderNotes | None = None
    guarded: Callable[[str], bool] = holds_secrets
    promised: dict[Path, str] = field(default_factory=dict)
    timeout_s: int = 120


class Tool(Protocol):
    """One thing the agent can do. `args` has always been checked against `schema` by the registry.

    `read_only`: running it changes nothing outside the session, so calls of this kind may run side by side.
    """

    @property
    def name(self) -> str: ...

    @property
    def schema(self) -> ToolSchema: ...

    @property
    def read_only(self) -> bool: ...

    def title(self, args: Args) -> str:
        """One line for the card: `read src/a.py:1-80`, `$ pytest -q`."""
        ...

    def intents(self, args: Args, ctx: ToolContext) -> tuple[Intent, ...]:
        """What the call would touch, for the policy; paths are absolute and resolved. May raise ToolError."""
        ...

    async def preview(self, args: Args, ctx: ToolContext) -> Preview:
        """What `run` will do. Raises ToolError when it cannot succeed, so nobody is asked in vain."""
        ...

    async def run(self, args: Args, ctx: ToolContext) -> Output:
        """Does it. Raises ToolError whose text and advice tell the model what to change."""
        ...


class Offered(ABC):
    """The part every tool shares: name, frozen schema, and a preview of nothing but its title."""

    name: str
    read_only = True

    def __init__(self, description: str, properties: Mapping[str, Any], required: tuple[str, ...]) -> None:
        parameters = {"type": "object", "properties": properties, "required": required}
        self.schema = ToolSchema(self.name, description, msgspec.Raw(msgspec.json.encode(parameters)))

    @abstractmethod
    def title(self, args: Args) -> str: ...

    def intents(self, args: Args, ctx: ToolContext) -> tuple[Intent, ...]:
        return ()

    async def preview(self, args: Args, ctx: ToolContext) -> Preview:
        return Preview(self.title(args))


def one_line(text: str, limit: int = 80) -> str:
    """`text` on one line for a title, cut with `…` to `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
