"""CPU time of showing a streamed answer, by the length the answer already has.

    python bench/streaming.py [--tokens 4000] [--paced 500] [--json FILE]

A headless app of 100x40 cells shows one answer. It is first filled to the given length, then further tokens
arrive: `bulk` as fast as they can be taken, `paced` at 100 tokens a second. Figures are CPU milliseconds per
1,000 tokens (a token is four characters), and for `paced` also the share of one core.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from report import arguments, show  # noqa: E402
from textual.app import App, ComposeResult  # noqa: E402

from deeptide.protocol.events import Record, StepStarted, TextDelta  # noqa: E402
from deeptide.transcript.blocks import AnswerBlock  # noqa: E402
from deeptide.transcript.build import Transcript  # noqa: E402
from deeptide.tui.scrollback.markdown import parser  # noqa: E402
from deeptide.tui.scrollback.scrollback import Scrollback  # noqa: E402

TOKEN = 4
LENGTHS = (0, 1_000, 5_000, 20_000, 100_000)
PARAGRAPH = """## Step {n}

The function `walk` visits **every** entry of the tree, in the order in which the *index* lists them, and
hands each one to the callback. It does not follow links that lead out of the root. 中文说明在这里。

- first check the path, then the size
- second, read the head of the file
  - unless it is binary
- third, stop

```python
def walk(root: Path, number: int = {n}) -> Iterator[Path]:
    \"\"\"Yields every file under root.\"\"\"
    for entry in sorted(root.iterdir()):
        if entry.is_dir():
            yield from walk(entry)  # deeper
        else:
            yield entry
```

| file | lines | note |
|------|------:|------|
| a.py | {n} | the first |
| b.py | 80 | the second |

"""


def text_of(tokens: int) -> str:
    parts: list[str] = []
    size, number = 0, 0
    while size < tokens * TOKEN:
        parts.append(PARAGRAPH.replace("{n}", str(number)))
        size += len(parts[-1])
        number += 1
    return "".join(parts)[: tokens * TOKEN]


class Bench(App[None]):
    def compose(self) -> ComposeResult:
        yield Scrollback()


async def measure(length: int, tokens: int, rate: float) -> dict[str, float]:
    """`rate` in tokens a second; 0 for bulk."""
    app = Bench()
    async with app.run_test(size=(100, 40)) as pilot:
        scrollback = app.query_one(Scrollback)
        transcript = Transcript()
        scrollback.apply(transcript.apply(Record(1, 0.0, StepStarted(1, 1, "m", "low"))))
        whole = text_of(length + tokens)
        scrollback.apply(transcript.apply(TextDelta(whole[: length * TOKEN])))
        await pilot.pause(0.2)
        rest = whole[length * TOKEN :]
        pieces = [rest[at : at + TOKEN] for at in range(0, len(rest), TOKEN)]
        cpu, wall = time.process_time(), time.perf_counter()
        for number, piece in enumerate(pieces):
            scrollback.apply(transcript.apply(TextDelta(piece)))
            if rate:
                await asyncio.sleep(max(0.0, wall + (number + 1) / rate - time.perf_counter()))
            elif number % 20 == 0:
                await asyncio.sleep(0)
        scrollback.flush()
        await pilot.pause()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        assert app.is_running
        block = transcript.blocks[-1]
        assert isinstance(block, AnswerBlock)
        assert block.markdown == whole, "text was lost"
        tail = "".join(character for character in whole[-400:] if character.isalnum())[-8:]
        shown = "".join(character for character in scrollback.visible_text() if character.isalnum())
        assert tail in shown, "the last words are not on the screen"
    return {
        "cpu_ms_per_1k": cpu * 1000 / len(pieces) * 1000,
        "core_percent": cpu / wall * 100,
        "wall_s": wall,
    }


def main() -> None:
    options = arguments(__doc__ or "", tokens=4000, paced=500)
    parser()
    rows = []
    for length in LENGTHS:
        bulk = asyncio.run(measure(length, options.tokens, 0))
        rows.append((f"bulk CPU per 1k tokens, {length:,} long", bulk["cpu_ms_per_1k"], "ms", "<= 30, flat"))
        if options.paced:
            paced = asyncio.run(measure(length, options.paced, 100))
            rows.append(
                (f"at 100 tokens a second, {length:,} long", paced["core_percent"], "%", "<= 25 of a core")
            )
    show("streaming", rows, options)


if __name__ == "__main__":
    main()
