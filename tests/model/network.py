"""The edge of the network for the client's tests: a transport that answers by script, and a raw socket server.

Both send exactly the bytes they are told to, which no well-behaved server would.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx

from tests.model.streams import answer

STREAM = {"content-type": "text/event-stream", "x-request-id": "req-1"}
Step = bytes | float | Exception
"""Bytes to send, seconds to wait (a stall if long), or an exception to raise."""


@dataclass
class Reply:
    status: int = 200
    steps: Iterable[Step] = ()
    headers: dict[str, str] = field(default_factory=lambda: dict(STREAM))


class _Body(httpx.AsyncByteStream):
    def __init__(self, steps: Iterable[Step], on_close: Callable[[], None]) -> None:
        self._steps, self._on_close = steps, on_close

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for step in self._steps:
            if isinstance(step, Exception):
                raise step
            if isinstance(step, bytes):
                yield step
            else:
                await asyncio.sleep(step)

    async def aclose(self) -> None:
        self._on_close()


class Scripted(httpx.AsyncBaseTransport):
    """Answers the n-th request with the n-th reply (or raises it); the last one is repeated."""

    def __init__(self, *replies: Reply | Exception) -> None:
        self.replies = replies or (Reply(steps=[answer({"content": "hi"})]),)
        self.requests: list[httpx.Request] = []
        self.bodies: list[bytes] = []
        self.closed = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        self.bodies.append(await request.aread())
        reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        if isinstance(reply, Exception):
            raise reply
        return httpx.Response(
            reply.status, headers=reply.headers, stream=_Body(reply.steps, self._count_close)
        )

    def _count_close(self) -> None:
        self.closed += 1


class Wire:
    """A TCP server that reads one request and then writes what `script` says; it sees when the client hangs up."""

    def __init__(self, script: Callable[[asyncio.StreamWriter], object]) -> None:
        self._script = script
        self.hung_up = asyncio.Event()
        self.started = asyncio.Event()
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        size = next(
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length")
        )
        await reader.readexactly(size)
        self._script(writer)
        self.started.set()
        try:
            await reader.read()
        except ConnectionError:
            pass
        self.hung_up.set()
        writer.close()


@asynccontextmanager
async def listening(script: Callable[[asyncio.StreamWriter], object]) -> AsyncIterator[Wire]:
    wire = Wire(script)
    server = await asyncio.start_server(wire.serve, "127.0.0.1", 0)
    wire.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield wire
    finally:
        server.close()


def http_chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nx-request-id: w1\r\n\r\n"
