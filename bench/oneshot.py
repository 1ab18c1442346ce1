"""`deeptide exec` from start to exit against the emulator as a server, beside what the model library alone takes."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from report import DEEPTIDE, PYTHON, arguments, emulator, middle, show, world


def once(command: Sequence[str], cwd: Path, env: dict[str, str]) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds, peak MB of the process itself."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or (
        b"exec" in b" ".join(os.fsencode(part) for part in command) and b"pong" not in said
    ):
        raise RuntimeError(f"{command} ended with {process.returncode}: {said!r}")
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def main() -> None:
    options = arguments(__doc__ or "", runs=7)
    with world() as (project, env), emulator([{"match": ".", "text": "pong"}], env) as url:
        command = [*DEEPTIDE, "exec", "ping", "--base-url", url]
        library = [PYTHON, "-c", "import openai"]
        ours, base = [], []
        for run in range(options.runs + 1):
            one, other = once(command, project, env), once(library, project, env)
            if run:
                ours.append(one)
                base.append(other)
    wall, cpu, peak = zip(*ours, strict=True)
    floor = middle([one[0] for one in base])
    show(
        "oneshot",
        [
            ("import openai", floor, "s", ""),
            ("deeptide exec, wall", middle(wall), "s", "<= 0.9"),
            ("ratio of these", middle(wall) / floor, "x", ""),
            ("deeptide exec, CPU", middle(cpu), "s", ""),
            ("deeptide exec, peak memory", middle(peak), "MB", "<= 110"),
        ],
        options,
    )


if __name__ == "__main__":
    main()
