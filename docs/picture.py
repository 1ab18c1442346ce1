"""Draw the README's picture: the demo, played in the real app, as `docs/demo.svg`.

    python docs/picture.py

Run it again after a change of looks.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from pathlib import Path

from deeptide.tui.app import DeepTideApp
from deeptide.tui.palette import choose
from deeptide.tui.ports import Start
from deeptide.wiring.house import House, Options

SIZE = (104, 36)
TARGET = Path(__file__).parent / "demo.svg"


async def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        options = Options(workspace=Path.cwd(), home=Path(home), demo=True)
        app = DeepTideApp(
            lambda: House(options),
            workspace=Path("~/basket"),
            home=None,
            start=Start(),
            palette=choose("dark", {}),
        )
        async with app.run_test(size=SIZE) as pilot:
            await pilot.pause(1.0)
            await pilot.press(*"fix the failing test")
            await pilot.press("enter")
            for _ in range(2):
                await wait_for_question(app)
                if "edit" in app.back.lobby.session.gate.pending[0].title:
                    break
                await pilot.press("y")
            svg = app.export_screenshot(title="deeptide demo")
            await app.back.lobby.leave()
    # The fonts named in it would be fetched from a foreign host by whoever opens the picture.
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.S)
    svg = svg.replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas")
    TARGET.write_text(re.sub(r"\n\s*\n+", "\n", svg), encoding="utf-8")


async def wait_for_question(app: DeepTideApp) -> None:
    for _ in range(200):
        await asyncio.sleep(0.1)
        if app._back is not None and app.back.lobby.bridge and app.back.lobby.session.gate.pending:
            await asyncio.sleep(0.8)
            return
    raise SystemExit("the demo asked nothing")


if __name__ == "__main__":
    asyncio.run(main())
