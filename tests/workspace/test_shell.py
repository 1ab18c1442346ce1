"""Commands run to quiescence: bounded output, bounded time, nobody left behind."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from deeptide.protocol.errors import WorkspaceError
from deeptide.workspace.shell import Finished, Limits, child_env, run
from tests.deep import count


@pytest.fixture
def sh(tmp_path: Path) -> Callable[..., Any]:
    async def call(command: str, timeout_s: float = 20, **more: Any) -> Finished:
        env = child_env(os.environ)
        return await run(
            command, cwd=tmp_path, env=env, timeout_s=timeout_s, spill=tmp_path / "spill" / "out.txt", **more
        )

    return call


def running(word: str) -> list[int]:
    """Living processes with `word` among their arguments."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        if word in (process.info["cmdline"] or []) and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process.pid)
    return found


async def test_output_and_status_come_back(sh: Callable[..., Any]) -> None:
    done = await sh("echo out; echo err >&2; exit 3")
    assert (done.status, done.text) == (3, "out\nerr\n")
    assert done.total_bytes == 8
    assert not (done.timed_out or done.cancelled or done.spilled or done.binary)


async def test_it_runs_in_the_folder_with_empty_input_and_no_login(
    sh: Callable[..., Any], tmp_path: Path
) -> None:
    done = await sh("pwd; cat; shopt -q login_shell && echo login; tty; echo $0")
    assert done.text.splitlines()[0] == str(tmp_path)
    assert "login" not in done.text
    assert "not a tty" in done.text


async def test_a_signal_is_told_as_the_shell_does(sh: Callable[..., Any]) -> None:
    assert (await sh("kill -9 $$")).status == 137


async def test_it_returns_when_the_shell_ends_though_the_pipe_is_held(sh: Callable[..., Any]) -> None:
    done = await sh("sleep 3601 & echo done")
    assert (done.status, done.text) == (0, "done\n")
    assert done.elapsed_ms < 20_000
    assert running("3601") == []


async def test_processes_that_left_the_session_are_ended_too(sh: Callable[..., Any]) -> None:
    await sh("setsid nohup sleep 3602 >/dev/null 2>&1 & (setsid sleep 3603 &) ; sleep 0.2; exit 0")
    assert running("3602") == running("3603") == []


async def test_a_timeout_ends_all_of_it(sh: Callable[..., Any]) -> None:
    done = await sh("echo before; trap '' TERM; setsid sleep 3604 & sleep 3605; sleep 3605", timeout_s=0.5)
    assert done.timed_out
    assert done.status is None
    assert done.text == "before\n"
    assert running("3604") == running("3605") == []


async def test_a_command_that_forgets_its_environment_is_ended_on_timeout(sh: Callable[..., Any]) -> None:
    await sh("env -i setsid sleep 3606 & sleep 30", timeout_s=0.5)
    assert running("3606") == []


async def test_a_polite_command_may_clean_up(sh: Callable[..., Any], tmp_path: Path) -> None:
    await sh("trap 'echo bye > mark; exit' TERM; while :; do sleep 0.05; done", timeout_s=0.5)
    assert (tmp_path / "mark").read_text() == "bye\n"


async def test_cancelling_the_task_ends_everything_first(sh: Callable[..., Any]) -> None:
    task = asyncio.ensure_future(sh("sleep 3607 & setsid sleep 3608 & echo up; sleep 3609"))
    while len(running("3607") + running("3608") + running("3609")) < 3:
        await asyncio.sleep(0.02)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert running("3607") == running("3608") == running("3609") == []


async def test_cancelled_at_any_moment_of_its_start_nothing_runs_on(sh: Callable[..., Any]) -> None:
    for moment in range(12):
        task = asyncio.create_task(sh("exec sleep 98.5"))
        for _ in range(moment):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert not running("98.5")


async def test_an_interrupted_list_of_commands_never_goes_on_to_the_next(
    sh: Callable[..., Any], tmp_path: Path
) -> None:
    for number in range(count(10, 200)):
        stop = asyncio.Event()
        asyncio.get_running_loop().call_later(0.05, stop.set)
        await sh(f"sleep 30 | sleep 30; touch went-on-{number}", stop=stop)
    assert not list(tmp_path.glob("went-on-*"))


async def test_stopping_keeps_what_was_said(sh: Callable[..., Any]) -> None:
    stop = asyncio.Event()
    task = asyncio.ensure_future(sh("echo said; sleep 3610", on_output=lambda _: stop.set(), stop=stop))
    done = await task
    assert done.cancelled
    assert done.text == "said\n"
    assert running("3610") == []


async def test_a_forking_crowd_is_ended(sh: Callable[..., Any]) -> None:
    await sh("for i in 1 2 3 4 5 6 7 8; do (while :; do sleep 3611 & wait; done) & done; wait", timeout_s=0.5)
    assert running("3611") == []


async def test_long_output_keeps_both_ends_and_spills_the_whole(
    sh: Callable[..., Any], tmp_path: Path
) -> None:
    done = await sh("seq 1 20000")
    assert done.spilled
    assert len(done.text) < 31_000
    assert done.text.startswith("1\n2\n3\n")
    assert done.text.endswith("19999\n20000\n")
    assert "characters left out" in done.text
    assert str(tmp_path / "spill" / "out.txt") in done.text
    assert (tmp_path / "spill" / "out.txt").read_text() == "".join(f"{n}\n" for n in range(1, 20001))
    left_out = int(done.text.split("[… ")[1].split(" ")[0].replace(",", ""))
    gap = done.text.split("\n[…")[0] + "\n", done.text.split("…]\n")[1]
    assert left_out + len(gap[0]) + len(gap[1]) == done.total_bytes


async def test_short_output_is_not_spilled(sh: Callable[..., Any], tmp_path: Path) -> None:
    done = await sh("seq 1 100")
    assert not done.spilled
    assert not (tmp_path / "spill").exists()


async def test_a_flood_is_ended_at_the_cap_and_the_loop_stays_awake(sh: Callable[..., Any]) -> None:
    beats, live = 0, 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.001)
            beats += 1

    def on_output(text: str) -> None:
        nonlocal live
        live += 1
        assert len(text) < 9_000

    heart = asyncio.ensure_future(beat())
    began = time.monotonic()
    done = await sh("yes", on_output=on_output, limits=Limits(spill=20_000_000))
    elapsed = time.monotonic() - began
    heart.cancel()
    assert done.status is None
    assert "20,000,000 bytes" in done.stopped
    assert 20_000_000 < done.total_bytes < 40_000_000
    assert beats > 10
    assert live <= elapsed / 0.05 + 3


async def test_a_spill_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = await run(
        "seq 1 20000",
        cwd=tmp_path,
        env=child_env(os.environ),
        timeout_s=20,
        spill=tmp_path / "file" / "out.txt",
    )
    assert done.status == 0
    assert not done.spilled
    assert "could not be saved" in done.text


async def test_escapes_are_taken_out_even_when_split(sh: Callable[..., Any]) -> None:
    pieces: list[str] = []
    done = await sh(
        r"printf 'a\033'; sleep 0.1; printf '[31mred\033]0;ti'; sleep 0.1; printf 'tle\007 ok\n'",
        on_output=pieces.append,
    )
    assert done.text == "ared ok\n"
    assert "".join(pieces) == "ared ok\n"


async def test_a_character_split_over_two_writes_stays_whole(sh: Callable[..., Any]) -> None:
    done = await sh(r"printf '\xe4\xbd'; sleep 0.1; printf '\xa0\n'; printf '\xff\n'")
    assert done.text == "你\n\ufffd\n"


async def test_progress_lines_keep_their_last_state(sh: Callable[..., Any]) -> None:
    done = await sh(r"for i in 10 50 100; do printf '%s%%\r' $i; done; echo; echo end")
    assert done.text == "100%\nend\n"


async def test_binary_output_is_counted_not_shown(sh: Callable[..., Any]) -> None:
    done = await sh(r"printf 'a\000b'; head -c 1000 /dev/zero")
    assert done.binary
    assert done.text == "[binary, 1,003 bytes]"


async def test_output_is_seen_while_it_runs(sh: Callable[..., Any], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    seen: list[str] = []

    def on_output(text: str) -> None:
        seen.append(text)
        if "first" in text:
            descriptor = os.open(tmp_path / "go", os.O_WRONLY | os.O_NONBLOCK)
            os.write(descriptor, b"x\n")
            os.close(descriptor)

    done = await sh("exec 3<>go; echo first; read -u 3 x; echo second", on_output=on_output)
    assert done.text == "first\nsecond\n"
    assert "".join(seen) == done.text


async def test_secrets_do_not_reach_the_command(
    sh: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hush")
    assert "hush" not in (await sh("env")).text


@pytest.mark.parametrize("command", ["echo \0", "echo \ud800", "echo " + "x" * 3_000_000])
async def test_a_command_that_cannot_be_started_is_an_error_with_advice(
    sh: Callable[..., Any], command: str
) -> None:
    with pytest.raises(WorkspaceError) as caught:
        await sh(command)
    assert caught.value.advice


async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="nowhere"):
        await run("true", cwd=tmp_path / "nowhere", env={}, timeout_s=5, spill=tmp_path / "s")


async def test_no_descriptor_is_lost(sh: Callable[..., Any]) -> None:
    await sh("true")
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(5):
        await sh("echo x")
        with pytest.raises(WorkspaceError):
            await sh("echo \0")
    after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert after <= before + 1


async def test_many_commands_run_side_by_side(sh: Callable[..., Any]) -> None:
    done = await asyncio.gather(*(sh(f"sleep 0.1; echo {n}") for n in range(6)))
    assert [one.text for one in done] == [f"{n}\n" for n in range(6)]
