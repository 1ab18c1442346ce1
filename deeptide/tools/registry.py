"""The tools in their frozen order, and the only way in (parse) and out (cap) for any call.

Invariant: the schemas and their order never depend on anything but the prompt texts, because they are part of
the cached request prefix; no result longer than its limit gets out uncut.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from deeptide.prompts.library import Library
from deeptide.protocol.errors import DeepTideError, ToolError
from deeptide.protocol.messages import ToolCall, ToolResult, ToolSchema
from deeptide.protocol.text import clean
from deeptide.tools import arguments
from deeptide.tools.archive import ReadArchive, RecallArchive
from deeptide.tools.ask import AskUser
from deeptide.tools.edit import Edit
from deeptide.tools.folders import Glob, ListFolder
from deeptide.tools.grep import Grep
from deeptide.tools.plan import Todo
from deeptide.tools.read import Read
from deeptide.tools.shell import Shell
from deeptide.tools.spill import write_spill
from deeptide.tools.tool import Output, Tool, ToolContext
from deeptide.tools.write import Write

CAP = 24_000
"""Characters of a result that enter the history, unless the settings say otherwise."""
_HEAD_SHARE = 0.6


class Registry:
    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._parameters = {
            name: msgspec.json.decode(tool.schema.parameters) for name, tool in self._tools.items()
        }

    @property
    def schemas(self) -> tuple[ToolSchema, ...]:
        return tuple(tool.schema for tool in self._tools.values())

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def parse(self, call: ToolCall) -> dict[str, Any]:
        """The checked arguments of `call`. Raises ToolError, also for a tool that does not exist."""
        if call.name not in self._tools:
            raise ToolError(
                f"There is no tool named {call.name!r}.", f"The tools are: {', '.join(self._tools)}."
            )
        return arguments.parse(call, self._parameters[call.name])

    def cap(self, call: ToolCall, output: Output, ctx: ToolContext, limit: int = CAP) -> ToolResult:
        """What the model reads: cleaned, and cut in the middle when longer than `limit` characters, the whole
        being written to a file in `ctx.spill_dir`. Does file work: call it in a thread."""
        text = clean(output.text)
        spill = output.spill
        if len(text) > limit:
            note = ""
            if not spill:
                try:
                    spill = str(write_spill(ctx.spill_dir, call.id, text))
                except DeepTideError as error:
                    note = f"The whole could not be kept: {error}"
            note = note or f"The whole is in {spill}: use read with offset, or grep with that path."
            text = cut_middle(text, limit, note)
        return ToolResult(call.id, call.name, text or "(no output)", output.is_error, spill)


def cut_middle(text: str, limit: int, note: str) -> str:
    """Head and tail of `text` at line ends where possible, around a line that says what was left out; the
    result is at most `limit` characters, or the note's own length if that is more."""
    frame = f"\n\n[… {len(text):,} of {len(text):,} characters left out. {note}]\n\n"
    room = max(0, limit - len(frame))
    head = text[: int(room * _HEAD_SHARE)]
    tail = text[len(text) - (room - len(head)) :] if room > len(head) else ""
    newline = head.rfind("\n", len(head) // 2)
    head = head[:newline] if newline > 0 else head
    newline = tail.find("\n", 0, len(tail) // 2)
    tail = tail[newline + 1 :] if newline >= 0 else tail
    gone = len(text) - len(head) - len(tail)
    return f"{head}\n\n[… {gone:,} of {len(text):,} characters left out. {note}]\n\n{tail}".strip("\n")


def standard(library: Library) -> Registry:
    """Every built-in tool, described by the texts of `library`, in the order that requests keep for ever."""
    kinds = (Read, Write, Edit, ListFolder, Glob, Grep, Shell, Todo, AskUser, RecallArchive, ReadArchive)
    return Registry(kind(library.tool(kind.name)) for kind in kinds)
