"""What a long transcript costs: mounting it, keeping it, resizing it, moving in it.

    python bench/scrollback.py [--blocks 20000] [--json FILE]

A headless app of 100x40 cells. Times are wall milliseconds; memory is the resident set of the whole process.
`line_up` and `page_up` run from the action of the key to the bytes of the whole window.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from report import arguments, show  # noqa: E402
from textual.app import App, ComposeResult  # noqa: E402

from deeptide.protocol.events import (  # noqa: E402
    AssistantMessage,
    Record,
    StepStarted,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from deeptide.protocol.messages import ToolCall, ToolResult, assistant  # noqa: E402
from deeptide.transcript.build import Transcript  # noqa: E402
from deeptide.tui.scrollback.scrollback import Scrollback  # noqa: E402

ANSWER = """Here is what I found in part {n}.

- the **first** thing, with `code`
- the second thing, 第二件事

```python
x = {n}
print(x)
```

That is all for now; the rest is as it was before, and nothing else has to be done about it today.
"""


def records(blocks: int) -> list[Record]:
    """A session with about so many blocks: six a turn."""
    found: list[Record] = []

    def say(*events: object) -> None:
        for event in events:
            found.append(Record(len(found) + 1, float(len(found)), event))  # type: ignore[arg-type]

    for turn in range(blocks // 6):
        call = ToolCall(f"c{turn}", "shell", '{"command": "make"}')
        say(UserMessage(f"Question {turn}"), TurnStarted(turn), StepStarted(turn, 1, "m", "low"))
        say(
            AssistantMessage(
                assistant("", thinking="Let me see.", calls=(call,)), "tool_calls", "m", elapsed_ms=900
            )
        )
        say(ToolStarted(call.id, "shell", "$ make"))
        say(ToolFinished(ToolResult(call.id, "shell", "built\n" * 12), "ok", 40, "12 lines"))
        say(StepStarted(turn, 2, "m", "low"))
        say(AssistantMessage(assistant(ANSWER.replace("{n}", str(turn))), "stop", "m", elapsed_ms=900))
        say(TurnEnded(turn, "done"))
    return found


def rss_mb() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


class Bench(App[None]):
    def compose(self) -> ComposeResult:
        yield Scrollback()


def percentile(times: list[float], share: float) -> float:
    return round(sorted(times)[int(len(times) * share)], 1) if times else 0.0


def frame_ms(app: Bench, scrollback: Scrollback, move: Callable[..., None]) -> float:
    """From the action of a key to the bytes of the whole window."""
    start = time.perf_counter()
    if move.__name__ == "action_lines":
        move(-1)
    else:
        move()
    for strip in scrollback.render_lines(scrollback.size.region):
        strip.render(app.console)
    return (time.perf_counter() - start) * 1000


async def measure(blocks: int) -> dict[str, float]:
    log = records(blocks)
    figures: dict[str, float] = {"events": len(log)}
    app = Bench()
    async with app.run_test(size=(100, 40)) as pilot:
        scrollback = app.query_one(Scrollback)
        scrollback.focus()
        await pilot.pause(0.5)
        before = rss_mb()
        transcript = Transcript()
        start = time.perf_counter()
        changes = transcript.apply_all(log)
        figures["fold_ms"] = (time.perf_counter() - start) * 1000
        start = time.perf_counter()
        scrollback.apply(changes)
        scrollback.flush()
        await pilot.pause()
        figures["mount_ms"] = (time.perf_counter() - start) * 1000
        figures["blocks"] = len(scrollback.column)
        figures["sections_laid_out"] = scrollback.column.laid
        figures["rss_mb"] = rss_mb()
        figures["rss_grown_mb"] = rss_mb() - before
        start = time.perf_counter()
        await pilot.resize_terminal(77, 33)
        await pilot.pause()
        figures["resize_ms"] = (time.perf_counter() - start) * 1000
        moves = {"line_up": scrollback.action_lines, "page_up": scrollback.action_page_up}
        for name, move in moves.items():
            times = [frame_ms(app, scrollback, move) for _ in range(200)]
            figures[f"{name}_p50_ms"], figures[f"{name}_p95_ms"] = (
                percentile(times, 0.5),
                percentile(times, 0.95),
            )
        start = time.perf_counter()
        hits = scrollback.search("nothing else has to be")
        figures["search_ms"] = (time.perf_counter() - start) * 1000
        assert hits
        figures["rss_after_mb"] = rss_mb()
        assert app.is_running
    return {name: round(value, 1) for name, value in figures.items()}


AIMS = {"resize_ms": "<= 250", "rss_mb": "<= 60", "page_up_p95_ms": "<= 16", "line_up_p95_ms": "<= 16"}


def main() -> None:
    options = arguments(__doc__ or "", blocks=20_000)
    figures = asyncio.run(measure(options.blocks))
    rows = [
        (name, value, name.rpartition("_")[2] if name.endswith(("ms", "mb")) else "", AIMS.get(name, ""))
        for name, value in figures.items()
    ]
    show("scrollback", rows, options)


if __name__ == "__main__":
    main()
