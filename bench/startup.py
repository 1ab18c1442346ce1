"""Start-up: `--version` against `python -c pass`, and the first frame against an empty Textual app."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from drive import Terminal
from report import DEEPTIDE, PYTHON, arguments, middle, show, world

EMPTY = "from textual.app import App\nfrom textual.widgets import Static\n" + (
    "class Empty(App):\n    def compose(self):\n        yield Static('ready')\nEmpty().run()\n"
)


def wall_ms(command: Sequence[str], cwd: Path, env: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, cwd=cwd, env=env, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - began) * 1000


def paint_ms(command: Sequence[str], cwd: Path, env: dict[str, str]) -> tuple[float, float, Terminal]:
    """Wall and CPU until something stands on the screen, and the program, still running."""
    terminal = Terminal(command, cwd=cwd, env=env)
    painted = terminal.wait(lambda text: bool(text.strip()))
    spent = terminal.cpu_ms()
    if painted is None:
        raise RuntimeError("nothing was painted")
    return (painted - terminal.started) * 1000, spent, terminal


def main() -> None:
    options = arguments(__doc__ or "", runs=9)
    with world() as (project, env):
        empty = [PYTHON, "-c", EMPTY]
        nothing, version, floor, floor_cpu = [], [], [], []
        paint, paint_cpu, ready, rss, cpu = [], [], [], [], []
        for run in range(options.runs + 1):
            bare = wall_ms([PYTHON, "-c", "pass"], project, env)
            ours = wall_ms([*DEEPTIDE, "--version"], project, env)
            base, base_cpu, terminal = paint_ms(empty, project, env)
            terminal.close()
            first, first_cpu, terminal = paint_ms(DEEPTIDE, project, env)
            terminal.key("zq")
            typed = terminal.wait(lambda text: "zq" in text)
            terminal.settle(2.0)
            if typed is None:
                raise RuntimeError("the first key was not shown")
            memory, spent = terminal.rss_mb(), terminal.cpu_s()
            terminal.close()
            if run == 0:
                continue  # the first run fills the file cache and writes bytecode
            nothing.append(bare)
            version.append(ours)
            floor.append(base)
            floor_cpu.append(base_cpu)
            paint.append(first)
            paint_cpu.append(first_cpu)
            ready.append((typed - terminal.started) * 1000)
            rss.append(memory)
            cpu.append(spent)
    show(
        "startup",
        [
            ("python -c pass", middle(nothing), "ms", ""),
            ("deeptide --version", middle(version), "ms", "<= 2x python -c pass"),
            ("ratio of these", middle(version) / middle(nothing), "x", "<= 2"),
            ("empty Textual app, first frame", middle(floor), "ms", ""),
            ("deeptide, first frame", middle(paint), "ms", "<= 1.3x the empty app"),
            ("ratio of these frames", middle(paint) / middle(floor), "x", "<= 1.3"),
            ("empty Textual app, CPU to it", middle(floor_cpu), "ms", ""),
            ("deeptide, CPU to it", middle(paint_cpu), "ms", ""),
            ("ratio of these CPU times", middle(paint_cpu) / middle(floor_cpu), "x", "<= 1.3"),
            ("deeptide, first key shown", middle(ready), "ms", "<= 500"),
            ("memory after 2 s", middle(rss), "MB", "<= 110"),
            ("CPU after 2 s", middle(cpu), "s", ""),
        ],
        options,
    )


if __name__ == "__main__":
    main()
