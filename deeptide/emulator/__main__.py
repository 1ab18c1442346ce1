"""`deeptide emulator`: the service on a port, for testing any agent against it.

Prints the base URL to give an agent, on one line. With `--log FILE` each request adds one JSON line: n, at,
path, status, error, fault, turn, usage, tokens of each prompt segment, and the request itself.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
from pathlib import Path

from deeptide.emulator import script_file
from deeptide.emulator.emulator import Emulator, SeenRequest
from deeptide.emulator.script import Answerer, Script, echo
from deeptide.emulator.server import serve
from deeptide.emulator.tables import SERVICE_WINDOW
from deeptide.protocol.errors import DeepTideError
from deeptide.workspace.files import AppendLog


def parser() -> argparse.ArgumentParser:
    form = argparse.ArgumentParser(
        prog="deeptide emulator",
        description="A local DeepSeek that validates, streams, caches and fails like the real one.",
        epilog=script_file.FORM,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    form.add_argument("--host", default="127.0.0.1")
    form.add_argument("--port", type=int, default=0, help="0 takes a free port")
    form.add_argument("--script", type=Path, help="JSON lines or TOML; without it the service echoes")
    form.add_argument("--key", help="the only key accepted; without it any key, or none")
    form.add_argument("--window", type=int, default=SERVICE_WINDOW, help="context limit, tokens")
    form.add_argument(
        "--strict", choices=("tools", "calls", "off"), default="tools", help="reasoning replay rule"
    )
    form.add_argument("--balance", default="110.00", help="0 answers 402")
    form.add_argument("--concurrency", type=int, default=2500, help="chat requests at once before 429")
    form.add_argument(
        "--model", action="append", default=[], help="a further model id to accept (repeatable)"
    )
    form.add_argument("--log", type=Path, help="append one JSON line a request")
    return form


def _script(path: Path | None) -> Answerer:
    return Script.from_file(path) if path else echo


class _Log:
    """Writes a request when its reply is over, then lets its body go: a server may run for days."""

    def __init__(self, path: Path | None) -> None:
        self._file = AppendLog(path) if path else None
        self._written = 0

    def __call__(self, seen: SeenRequest) -> None:
        self._written += 1
        if self._file is not None:
            line = {
                "n": self._written,
                "at": seen.at,
                "path": seen.path,
                "status": seen.status,
                "error": seen.error,
                "fault": seen.fault,
                "turn": seen.turn,
                "usage": seen.usage,
                "tokens": seen.tokens,
                "request": seen.json if seen.json is not None else seen.body.decode("utf-8", "replace"),
            }
            self._file.append(json.dumps(line).encode() + b"\n")
        seen.body, seen.json = b"", None


async def _run(options: argparse.Namespace) -> None:
    emulator = Emulator(
        _script(options.script),
        window=options.window,
        key=options.key,
        strict=options.strict,
        balance=options.balance,
        concurrency=options.concurrency,
        models=options.model,
        on_done=_Log(options.log),
    )
    async with await serve(emulator, options.host, options.port) as served:
        print(f"{served.url}/v1", flush=True)
        await served.forever()


def main() -> int:
    options = parser().parse_args()
    try:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_run(options))
    except (DeepTideError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        if advice := getattr(error, "advice", ""):
            print(advice, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
