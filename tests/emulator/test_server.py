"""The service as a process: any HTTP client, real sockets, a log of what was asked."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from deeptide.emulator.emulator import Emulator
from deeptide.emulator.script import Fault, Say, Script
from deeptide.emulator.server import serve
from tests.fakes.scripts import events, request


@asynccontextmanager
async def process(*arguments: str) -> AsyncIterator[tuple[str, asyncio.subprocess.Process]]:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "deeptide.emulator", *arguments,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert child.stdout is not None
    try:
        yield (await child.stdout.readline()).decode().strip(), child
    finally:
        if child.returncode is None:
            child.kill()
        await child.communicate()


async def test_the_command_prints_its_address_plays_a_script_and_logs_requests(tmp_path: Path) -> None:
    script, log = tmp_path / "s.jsonl", tmp_path / "log.jsonl"
    script.write_text('{"text": "from the file"}\n')
    options = ("--script", str(script), "--log", str(log), "--key", "sk-1", "--window", "4000")
    async with process(*options) as (url, _), httpx.AsyncClient(base_url=url.removesuffix("/v1")) as http:
        assert url.endswith("/v1")
        key = {"authorization": "Bearer sk-1"}
        reply = await http.post("/v1/chat/completions", json=request(stream=True), headers=key)
        assert (
            "".join(e["choices"][0]["delta"].get("content") or "" for e in events(reply.content))
            == "from the file"
        )
        assert (await http.get("/models")).status_code == 401
        big = request({"role": "user", "content": "word " * 5000})
        assert (
            "maximum context length is 4000"
            in (await http.post("/chat/completions", json=big, headers=key)).text
        )
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["status"] for line in lines] == [200, 401, 400]
    assert lines[0]["request"] == request(stream=True) and lines[0]["usage"]["prompt_tokens"] > 0
    assert "sk-1" not in log.read_text()


async def test_the_help_speaks_to_users() -> None:
    async with process("--help") as (first, child):
        assert first.startswith("usage: deeptide emulator")
        assert child.stdout is not None
        rest = (await child.stdout.read()).decode()
        assert '"match"' in rest and "Invariant" not in rest


async def test_a_broken_script_is_an_error_and_not_a_server(tmp_path: Path) -> None:
    script = tmp_path / "s.jsonl"
    script.write_text('{"txt": 1}')
    async with process("--script", str(script)) as (url, child):
        assert url == "" and await child.wait() == 1
        assert child.stderr is not None
        error = (await child.stderr.read()).decode()
        assert "unknown key 'txt'" in error and "Allowed:" in error and "Traceback" not in error


async def test_one_connection_serves_many_requests() -> None:
    connections = set()
    async with await serve(Emulator()) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        body = json.dumps(request()).encode()
        head = b"POST /chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
        writer.write((head + body) * 3)
        for _ in range(3):
            status = await reader.readuntil(b"\r\n\r\n")
            connections.add(status.split(b"\r\n")[0])
            while (size := int(await reader.readline(), 16)) > 0:
                await reader.readexactly(size + 2)
            await reader.readline()
        writer.close()
    assert connections == {b"HTTP/1.1 200 OK"}


async def test_chunked_requests_and_strange_first_lines_are_handled() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        data = json.dumps(request()).encode()
        yield data[:7]
        yield data[7:]

    async with await serve(Emulator()) as served:
        async with httpx.AsyncClient(base_url=served.url) as http:
            assert (await http.post("/chat/completions", content=chunks())).status_code == 200
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(b"hello there is nothing here\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
        writer.close()


async def test_a_reader_that_leaves_frees_its_place() -> None:
    emulator = Emulator(Script.of([Say("x" * 100, fault=Fault("stall", at=1)), Say("next")]), concurrency=1)
    async with await serve(emulator) as served, httpx.AsyncClient(base_url=served.url) as http:
        async with http.stream("POST", "/chat/completions", json=request(stream=True)) as reply:
            await anext(reply.aiter_raw())
            assert emulator.active == 1
        while emulator.active:
            await asyncio.sleep(0.01)
        assert (await http.post("/chat/completions", json=request())).status_code == 200


async def test_closing_the_server_ends_open_streams() -> None:
    served = await serve(Emulator(Script.of([Say("x", fault=Fault("stall", at=0))])))
    async with (
        httpx.AsyncClient(base_url=served.url) as http,
        http.stream("POST", "/chat/completions", json=request(stream=True)) as reply,
    ):
        await anext(reply.aiter_raw())
        await served.close()
