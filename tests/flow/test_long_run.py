"""A long job in a real repository, run by the real program, killed again and again.

The emulator stands on a real socket in the test process; DeepTide runs as a process of its own and is ended by
SIGKILL at random moments. What it had said on standard output was acknowledged and must be in the log.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import textual

from deeptide.context.assemble import Fold
from deeptide.emulator.emulator import Emulator
from deeptide.emulator.server import Served, serve
from deeptide.protocol.events import ToolFinished, decode_event
from deeptide.session.log import LOG, load
from tests.deep import DEEP, count
from tests.fakes.chores import NEW, OLD, Chore

FILES = count(24, 110)
KILLS = count(4, 20)
EVENTS = ("tool_finished", "assistant_message", "user_message", "plan_changed", "turn_ended")


def repository(root: Path) -> list[str]:
    """A public package as the package index has it, in a git repository, each file with the name to change."""
    package = Path(textual.__file__).parent
    shutil.copytree(package, root / "src", ignore=shutil.ignore_patterns("__pycache__"))
    names = [path for path in sorted((root / "src").rglob("*.py")) if 1_000 < path.stat().st_size < 12_000]
    chosen = []
    for number, file in enumerate(names[:FILES]):
        text = file.read_text(encoding="utf-8")
        newline = "\r\n" if number % 4 == 0 else "\n"
        body = f"{text}\n\ndef {OLD}():\n    return '{file.stem} 名'\n\n\n{OLD}()\n".replace("\n", newline)
        file.write_bytes(body.encode())
        chosen.append(file.relative_to(root).as_posix())
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run(["git", "init", "-q", root], check=True)
    subprocess.run([*git, "add", "-A"], cwd=root, check=True)
    subprocess.run([*git, "commit", "-qm", "start"], cwd=root, check=True)
    return chosen


def expected(root: Path, files: list[str]) -> dict[str, bytes]:
    return {name: (root / name).read_bytes().replace(OLD.encode(), NEW.encode()) for name in files}


async def start(served: Served, root: Path, home: Path, resume: bool) -> asyncio.subprocess.Process:
    arguments = ["exec", "--base-url", f"{served.url}/v1", "--mode", "yolo", "--output", "stream-json"]
    arguments += ["--max-turns", "2000", "--trust", *(["--resume", "latest"] if resume else [])]
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "deeptide", *arguments, "go on with the renaming",
        cwd=root,
        env={**os.environ, "DEEPTIDE_HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[2])},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip


async def watch(process: asyncio.subprocess.Process, kill_after: float | None) -> list[bytes]:
    """The lines it wrote until it ended, or until it was killed `kill_after` seconds after its first event."""
    lines: list[bytes] = []
    assert process.stdout is not None
    deadline: float | None = None
    loop = asyncio.get_running_loop()
    while True:
        try:
            left = None if deadline is None else max(0.0, deadline - loop.time())
            line = await asyncio.wait_for(process.stdout.readline(), left)
        except TimeoutError:
            process.kill()
            lines += (await process.stdout.read()).split(b"\n")
            break
        except ValueError:
            continue
        if not line:
            break
        lines.append(line)
        if kill_after is not None and deadline is None:
            deadline = loop.time() + kill_after
    await process.wait()
    return lines


def durable(lines: list[bytes]) -> list[Any]:
    found = []
    for line in lines:
        try:
            data = json.loads(line)
        except ValueError:
            continue
        if data.get("type") in EVENTS:
            found.append(decode_event(json.dumps(data).encode()))
    return found


@pytest.mark.timeout(900 if DEEP else 240)
async def test_killed_at_random_moments_it_resumes_and_ends_with_the_right_files(tmp_path: Path) -> None:
    root, home = tmp_path / "repo", tmp_path / "home"
    files = repository(root)
    wanted = expected(root, files)
    emulator = Emulator(Chore(files))
    dice = random.Random(7)
    acknowledged: list[Any] = []
    killed = 0
    async with await serve(emulator) as served:
        for attempt in range(KILLS):
            process = await start(served, root, home, resume=attempt > 0)
            acknowledged += durable(await watch(process, dice.uniform(0.0, 0.7)))
            killed += process.returncode == -signal.SIGKILL
        process = await start(served, root, home, resume=True)
        lines = await watch(process, None)
        acknowledged += durable(lines)
        assert process.stderr is not None
        assert process.returncode == 0, (await process.stderr.read()).decode()
    assert killed == KILLS, "it was too fast to be killed"
    result = json.loads(lines[-1])
    assert result["answer"] == "All done."
    assert {name: (root / name).read_bytes() for name in files} == wanted

    refused = [(request.status, request.error) for request in emulator.requests if request.status >= 400]
    assert not refused
    (folder,) = [path for path in (home / "sessions").iterdir() if (path / LOG).exists()]
    loaded = load(folder / LOG)
    assert not loaded.torn and not loaded.unreadable
    assert not Fold.of(loaded.records).open_calls()
    logged = [record.event for record in loaded.records]
    missing = [event for event in acknowledged if event not in logged]
    assert not missing, f"{len(missing)} acknowledged events are not in the log"
    calls = [event for event in logged if isinstance(event, ToolFinished)]
    assert len(calls) >= count(50, 200)
    assert not (root / "src" / "__pycache__").exists()
    shutil.rmtree(root)
