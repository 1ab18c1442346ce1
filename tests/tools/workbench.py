"""A workspace with real files, and every tool called the way the agent calls it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from deeptide.prompts.library import Library
from deeptide.protocol.approvals import Approval, Decision
from deeptide.protocol.errors import ToolError
from deeptide.protocol.messages import ToolCall, ToolResult
from deeptide.protocol.plan import Plan
from deeptide.recall.search import Document, Found, search
from deeptide.tools.notes import FolderNotes
from deeptide.tools.reads import ReadState
from deeptide.tools.registry import Registry, standard
from deeptide.tools.tool import Output, Preview, ToolContext
from deeptide.workspace.files import Roots


class Archive:
    """A recall port over messages kept in memory."""

    def __init__(self) -> None:
        self.documents: list[Document] = []

    def add(self, cycle: int, index: int, text: str) -> None:
        self.documents.append(Document(cycle, index, "user", text, len(self.documents) + 1))

    async def search(self, query: str, cycle: int | None, max_results: int) -> Found:
        return search(self.documents, query, cycle, max_results)

    async def read(self, cycle: int, message_index: int) -> str | None:
        wanted = (each for each in self.documents if (each.cycle, each.index) == (cycle, message_index))
        return next((f"[user]\n{each.text}" for each in wanted), None)


@dataclass
class Workbench:
    root: Path
    ctx: ToolContext
    registry: Registry
    archive: Archive
    live: list[str] = field(default_factory=list)
    asked: list[Approval] = field(default_factory=list)
    decision: Decision = field(default_factory=lambda: Decision("once"))
    calls: int = 0

    def file(self, name: str, content: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def _next(self, name: str, args: dict[str, Any]) -> tuple[ToolCall, dict[str, Any], ToolContext]:
        self.calls += 1
        call = ToolCall(f"call_{self.calls}", name, json.dumps(args))
        return call, self.registry.parse(call), replace(self.ctx, call_id=call.id, promised={})

    async def output(self, name: str, **args: Any) -> Output:
        _, parsed, ctx = self._next(name, args)
        tool = self.registry.get(name)
        assert tool is not None and tool.title(parsed)
        tool.intents(parsed, ctx)
        return await tool.run(parsed, ctx)

    async def result(self, name: str, **args: Any) -> ToolResult:
        call, parsed, ctx = self._next(name, args)
        tool = self.registry.get(name)
        assert tool is not None
        return self.registry.cap(call, await tool.run(parsed, ctx), ctx)

    async def text(self, name: str, **args: Any) -> str:
        return (await self.result(name, **args)).content

    async def approved(
        self, name: str, between: Callable[[], object] = lambda: None, **args: Any
    ) -> tuple[Preview, Output]:
        """Preview, whatever happens while the approval is open, then run."""
        _, parsed, ctx = self._next(name, args)
        tool = self.registry.get(name)
        assert tool is not None
        preview = await tool.preview(parsed, ctx)
        between()
        return preview, await tool.run(parsed, ctx)

    async def refused(self, name: str, **args: Any) -> str:
        """What the model is told when the tool refuses."""
        with pytest.raises(ToolError) as caught:
            await self.output(name, **args)
        assert caught.value.advice, "a refusal says what to do next"
        return f"{caught.value} {caught.value.advice}"


def workbench(root: Path, spill: Path, path: str | None = None) -> Workbench:
    """`path` replaces PATH, to choose whether ripgrep is found."""
    root = Path(os.path.realpath(root))
    env = dict(os.environ) if path is None else {**os.environ, "PATH": path}
    archive = Archive()
    bench: Workbench

    async def ask(approval: Approval) -> Decision:
        bench.asked.append(approval)
        return bench.decision

    ctx = ToolContext(
        roots=Roots(root),
        spill_dir=spill,
        emit=lambda text: bench.live.append(text),
        reads=ReadState(),
        plan=Plan(),
        ask=ask,
        recall=archive,
        call_id="",
        env=env,
        notes=FolderNotes(root),
    )
    bench = Workbench(root, ctx, standard(Library()), archive)
    return bench
