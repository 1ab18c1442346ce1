"""shell: output, status, limits, and nothing left behind."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from tests.tools.workbench import Workbench


def _runs(pid: int) -> bool:
    """Whether the process is there and no zombie that its parent has yet to bury."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_output_and_status_come_back_and_live_output_on_the_way(bench: Workbench) -> None:
    output = await bench.output("shell", command="echo out; echo err >&2; pwd")
    assert output.text.startswith(f"out\nerr\n{bench.root}\n[exit 0, ")
    assert not output.is_error and output.summary == "exit 0"
    assert "".join(bench.live) == f"out\nerr\n{bench.root}\n"


async def test_a_failure_is_an_error_with_its_status(bench: Workbench) -> None:
    output = await bench.output("shell", command="echo no; exit 3")
    assert output.is_error and output.summary == "exit 3" and output.text.startswith("no\n[exit 3, ")
    assert "[exit 0, 0." in await bench.text("shell", command="true")
    assert "no output]" in await bench.text("shell", command="true")


async def test_a_long_output_is_cut_and_the_whole_is_in_a_file_the_model_can_read(bench: Workbench) -> None:
    result = await bench.result("shell", command="seq 1 30000")
    assert result.content.startswith("1\n2\n") and "\n30000\n[exit 0, " in result.content
    assert len(result.content) <= 24_000 and result.spill in result.content
    assert Path(result.spill).read_text() == "".join(f"{n}\n" for n in range(1, 30_001))
    assert "20000\t20000" in await bench.text("read", path=result.spill, offset=19_999, limit=3)
    assert await bench.text("grep", pattern="^29999$", path=result.spill) == f"{result.spill}:29999:29999"


async def test_time_runs_out_for_the_whole_group(bench: Workbench) -> None:
    mark = bench.root / "pid"
    output = await bench.output(
        "shell", command=f"sleep 300 & echo $! > {mark}; echo here; wait", timeout_s=1
    )
    assert output.is_error and output.summary == "timed out"
    assert "here\n[timed out: stopped after 1 s" in output.text
    assert not _runs(int(mark.read_text()))


async def test_a_cancelled_call_leaves_no_process(bench: Workbench) -> None:
    mark = bench.root / "pid"
    task = asyncio.create_task(bench.output("shell", command=f"echo $$ > {mark}; sleep 300"))
    while not (mark.exists() and mark.read_text().strip()):
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not _runs(int(mark.read_text()))


async def test_a_command_gets_no_secret_no_terminal_and_no_input(bench: Workbench) -> None:
    bench.ctx = replace(bench.ctx, env={**os.environ, "DEEPSEEK_API_KEY": "sk-very-secret", "PLAIN": "seen"})
    text = await bench.text("shell", command="env; cat; test -t 1 || echo no terminal")
    assert "very-secret" not in text and "PLAIN=seen" in text and "no terminal" in text


async def test_escapes_never_reach_the_model_or_the_screen(bench: Workbench) -> None:
    text = await bench.text("shell", command=r"printf 'a\033]0;x\007b\r\n10%%\r20%%\n'")
    assert text.startswith("ab\n20%\n[exit 0")
    assert "\x1b" not in "".join(bench.live)


async def test_binary_output_is_named_and_not_shown(bench: Workbench) -> None:
    assert "[binary, 2,000 bytes]" in await bench.text("shell", command="head -c 2000 /dev/zero")


async def test_the_preview_is_the_command_verbatim(bench: Workbench) -> None:
    preview, _ = await bench.approved("shell", command="echo  'a\n b'  # \x1b[0m")
    assert (preview.text, preview.kind) == ("echo  'a\n b'  # \x1b[0m", "command")


async def test_the_intent_is_the_whole_command_and_the_title_one_line(bench: Workbench) -> None:
    tool = bench.registry.get("shell")
    assert tool is not None and not tool.read_only
    args = {"command": "cd /tmp &&\n  rm -rf x"}
    (intent,) = tool.intents(args, bench.ctx)
    assert (intent.kind, intent.target) == ("run", args["command"])
    assert tool.title(args) == "$ cd /tmp && rm -rf x"


async def test_an_empty_command_is_refused(bench: Workbench) -> None:
    assert "empty" in await bench.refused("shell", command="  ")
    assert "NUL" in await bench.refused("shell", command="echo \0")
