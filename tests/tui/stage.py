"""The app over a real house whose provider is the emulator, in process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from textual.pilot import Pilot

from deeptide.emulator.emulator import Emulator
from deeptide.emulator.script import Answerer, Say, Script
from deeptide.emulator.transport import EmulatorTransport
from deeptide.transcript.blocks import AnswerBlock, Block, NoteBlock, ToolBlock
from deeptide.tui.app import DeepTideApp
from deeptide.tui.palette import DARK, Palette
from deeptide.tui.ports import Start
from deeptide.wiring.house import House, Options

PATIENCE_S = 30.0


@dataclass
class OnStage:
    app: DeepTideApp
    pilot: Pilot[int]
    emulator: Emulator
    workspace: Path

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for the condition; far longer than is ever needed."""
        end = monotonic() + PATIENCE_S
        while not holds():
            assert monotonic() < end, f"waited in vain; the transcript is {self.blocks}"
            await self.pilot.pause(0.02)

    async def say(self, text: str, key: str = "enter") -> None:
        self.app.composer.prompt.insert(text)
        await self.pilot.pause()
        await self.pilot.press(key)

    @property
    def session(self) -> Any:
        return self.app.back.lobby.session

    @property
    def blocks(self) -> tuple[Block, ...]:
        return self.app.back.lobby.bridge.transcript.blocks if self.app.back.lobby.bridge else ()

    @property
    def answers(self) -> list[str]:
        return [block.markdown for block in self.blocks if isinstance(block, AnswerBlock)]

    @property
    def notes(self) -> list[str]:
        return [block.text for block in self.blocks if isinstance(block, NoteBlock)]

    @property
    def tools(self) -> list[ToolBlock]:
        return [block for block in self.blocks if isinstance(block, ToolBlock)]

    async def idle(self) -> None:
        """Until the turn is over and its last frame is drawn."""
        await self.until(lambda: not self.session.busy and not self.app.activity.label)
        await self.pilot.pause()


@asynccontextmanager
async def on_stage(
    folder: Path,
    says: Sequence[Say] | Answerer = (),
    *,
    size: tuple[int, int] = (80, 24),
    start: Start | None = None,
    key: str | None = None,
    ready: bool = True,
    palette: Palette = DARK,
    before: Callable[[], None] = lambda: None,
    **options: Any,
) -> AsyncIterator[OnStage]:
    """`key` is the one the emulator accepts; `ready` waits for the session. `before` runs where the house is
    built. `options` go to the house."""
    workspace = folder / "project"
    workspace.mkdir(exist_ok=True)
    script = says if callable(says) else Script.of(says)
    emulator = Emulator(script, key=key)
    options.setdefault("transport", EmulatorTransport(emulator))

    def build() -> House:
        before()
        return House(Options(workspace=workspace, home=folder / "home", **options))

    app = DeepTideApp(
        build, workspace=workspace, home=folder / "home", start=start, palette=palette, still=True
    )
    async with app.run_test(size=size) as pilot:
        stage = OnStage(app, pilot, emulator, workspace)
        if ready:
            await stage.until(lambda: bool(app.status.facts.model))
            await pilot.pause()
        yield stage
        if app.back.lobby.bridge is not None:
            await app.back.lobby.leave()
