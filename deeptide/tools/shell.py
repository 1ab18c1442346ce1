"""Running a command in the workspace.

Invariant: the command gets no secrets, no terminal and no input, and when the call is over nothing of it runs.
"""

from __future__ import annotations

import asyncio

from deeptide.permissions.intents import Intent
from deeptide.protocol.errors import ToolError
from deeptide.tools.spill import spill_path
from deeptide.tools.tool import Args, Offered, Output, Preview, ToolContext, one_line
from deeptide.workspace import shell
from deeptide.workspace.shell import Finished, Limits

_MOST_S = 1_800
_KEEP = 20_000


class Shell(Offered):
    name = "shell"
    read_only = False

    def __init__(self, description: str) -> None:
        timeout = {"type": "integer", "minimum": 1, "description": "At most 1800"}
        super().__init__(description, {"command": {"type": "string"}, "timeout_s": timeout}, ("command",))

    def title(self, args: Args) -> str:
        return f"$ {one_line(args['command'], 120)}"

    def intents(self, args: Args, ctx: ToolContext) -> tuple[Intent, ...]:
        return (Intent("run", args["command"]),)

    async def preview(self, args: Args, ctx: ToolContext) -> Preview:
        return Preview(args["command"], "command")

    async def run(self, args: Args, ctx: ToolContext) -> Output:
        command = args["command"]
        if not command.strip() or "\0" in command:
            raise ToolError("The command is empty or holds a NUL character.", "Give a command for bash.")
        timeout_s = min(args.get("timeout_s", ctx.timeout_s), _MOST_S)
        spill = await asyncio.to_thread(spill_path, ctx.spill_dir, ctx.call_id)
        done = await shell.run(
            command,
            cwd=ctx.roots.workspace,
            env=shell.child_env(ctx.env),
            timeout_s=timeout_s,
            on_output=ctx.emit,
            spill=spill,
            limits=Limits(keep=_KEEP),
        )
        ending = _ending(done, timeout_s)
        text = done.text.rstrip("\n")
        return Output(
            f"{text}\n[{ending}]" if text else f"[{ending}, no output]",
            is_error=done.status != 0,
            summary=ending.split(",")[0].split(":")[0],
            spill=str(spill) if done.spilled else "",
        )


def _ending(done: Finished, timeout_s: int) -> str:
    took = f"{done.elapsed_ms / 1000:.1f} s"
    if done.timed_out:
        said = f"timed out: stopped after {timeout_s} s; give a longer timeout_s, or a smaller task"
    elif done.stopped:
        said = f"stopped: {done.stopped}"
    elif done.cancelled:
        said = "cancelled"
    else:
        said = f"exit {done.status}, {took}"
    if done.left:
        said += f"; still running, not ours to end: process {', '.join(map(str, done.left))}"
    return said
