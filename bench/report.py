"""What the benchmarks share: the world they run in, medians, and how numbers are shown.

Invariant: every figure comes with its aim and with what it was compared to in the same run.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PYTHON = sys.executable
DEEPTIDE = [PYTHON, "-m", "deeptide"]


def arguments(about: str, **defaults: int) -> argparse.Namespace:
    """`--json FILE` and one integer option per default."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--json", type=Path, help="also append the figures as one line to this file")
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=value, help=f"default {value}")
    return parser.parse_args()


@contextlib.contextmanager
def world() -> Iterator[tuple[Path, dict[str, str]]]:
    """A throw-away project folder and an environment with its own DEEPTIDE_HOME and a key that reaches nobody.

    Our package is compiled first, and bytecode may be written, so that starts are measured warm.
    """
    compileall.compile_dir(str(ROOT / "deeptide"), quiet=2)
    with tempfile.TemporaryDirectory(prefix="deeptide-bench-") as name:
        project = Path(name) / "project"
        project.mkdir()
        env = {key: value for key, value in os.environ.items() if not key.startswith("DEEPTIDE_")}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        env |= {
            "DEEPTIDE_HOME": str(Path(name) / "home"),
            "DEEPSEEK_API_KEY": "bench",
            "DEEPTIDE_BASE_URL": "http://127.0.0.1:9",
            "PYTHONPATH": str(ROOT),
        }
        yield project, env


@contextlib.contextmanager
def emulator(lines: Sequence[dict[str, Any]], env: dict[str, str]) -> Iterator[str]:
    """The emulator as a server of its own, answering from script `lines`; its base address."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as script:
        script.write("\n".join(json.dumps(line) for line in lines) + "\n")
        script.flush()
        command = [PYTHON, "-m", "deeptide.emulator", "--port", "0", "--script", script.name]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, cwd=ROOT)
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            if not url:
                raise RuntimeError("the emulator did not start")
            yield url
        finally:
            server.terminate()
            server.wait()


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def middle(values: Sequence[float]) -> float:
    return statistics.median(values)


def show(name: str, rows: Sequence[tuple[str, float, str, str]], options: argparse.Namespace) -> None:
    """Prints rows of (what, figure, unit, aim) as a table, and the same as one JSON line."""
    width = max(len(what) for what, *_ in rows)
    print(
        f"{name} · Python {platform.python_version()} · {os.cpu_count()} cores · load {os.getloadavg()[0]:.1f}"
    )
    for what, figure, unit, aim in rows:
        print(f"  {what:<{width}}  {figure:>9.2f} {unit:<4} {f'aim {aim}' if aim else ''}".rstrip())
    line = json.dumps({"bench": name, **{what: round(figure, 3) for what, figure, *_ in rows}})
    print(line)
    if options.json:
        with options.json.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
