"""`deeptide demo`: the real program on a small sample project, with the emulator in place of the provider.

Invariant: the demo touches only its own folder below DEEPTIDE_HOME; it needs no key and no network.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import httpx

from deeptide.emulator.demo import SAMPLE, demo_hint, demo_script
from deeptide.emulator.emulator import Emulator
from deeptide.emulator.transport import EmulatorTransport
from deeptide.workspace.files import atomic_write, private_dir

DEMO_MODEL = "deepseek-flash"
DEMO_WINDOW = 32_768
"""Tokens: small enough that a visitor sees the warnings and a compaction within minutes."""


class Demo:
    def __init__(self, home: Path) -> None:
        self.home = private_dir(home / "demo")
        self.project = self.home / "project"

    def prepare(self, fresh: bool) -> Path:
        """The sample project as shipped (`fresh`), or as the last demo left it. Returns its folder."""
        if fresh and self.project.exists():
            shutil.rmtree(self.project)
        if not self.project.exists():
            for name, text in SAMPLE.items():
                atomic_write(self.project / name, text.encode())
        return self.project

    @property
    def hint(self) -> str:
        """What the welcome says: that this is a script, and what to type."""
        return demo_hint()

    def transport(self) -> httpx.AsyncBaseTransport:
        return EmulatorTransport(Emulator(demo_script(), window=DEMO_WINDOW))
