"""The service on a real socket: HTTP/1.1 with chunked bodies and kept connections, by asyncio alone.

Invariant: a reader that goes away frees its request at once, and a scripted reset closes the socket hard.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
from http import HTTPStatus
from typing import Any

from deeptide.emulator.delivery import Reset
from deeptide.emulator.emulator import Emulator, Reply

_MAX_HEAD = 65_536
_MAX_BODY = 128 * 1024 * 1024


class Served:
    """A running server. `url` is its address. `async with` closes it."""

    def __init__(self, server: asyncio.Server, connections: set[asyncio.Task[None]]) -> None:
        self._server = server
        self._connections = connections
        host, port = server.sockets[0].getsockname()[:2]
        self.port: int = port
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{port}"

    async def __aenter__(self) -> Served:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def forever(self) -> None:
        await self._server.serve_forever()

    async def close(self) -> None:
        self._server.close()
        for task in tuple(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()


async def serve(emulator: Emulator, host: str = "127.0.0.1", port: int = 0) -> Served:
    """Starts listening; port 0 takes a free one."""
    connections: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        try:
            await _Connection(emulator, reader, writer).run()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass  # the reader went away or does not speak HTTP
        except asyncio.CancelledError:
            pass  # the server closes: the stream protocol would report a cancelled handler as an error
        finally:
            connections.discard(task)
            with contextlib.suppress(ConnectionError):
                writer.close()

    server = await asyncio.start_server(connected, host, port, limit=_MAX_HEAD)
    return Served(server, connections)


class _Connection:
    def __init__(
        self, emulator: Emulator, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._emulator = emulator
        self._reader = reader
        self._writer = writer
        self._early = b""

    async def run(self) -> None:
        while (head := await self._head()) is not None:
            method, path, headers = head
            body = await self._body(headers)
            try:
                reply = await self._emulator.handle(method, path, headers, body)
                await self._reply(reply)
            except Reset:
                self._abort()
                return
            if headers.get("connection", "").lower() == "close" or self._writer.is_closing():
                return

    async def _head(self) -> tuple[str, str, dict[str, str]] | None:
        try:
            raw = self._early + await self._reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None
        self._early = b""
        first, *lines = raw.decode("latin-1").split("\r\n")
        words = first.split(" ")
        if len(words) != 3:
            await self._refuse(400, "the request line is not HTTP")
            return None
        pairs = (line.partition(":") for line in lines if line)
        return words[0], words[1], {name.strip().lower(): value.strip() for name, _, value in pairs}

    async def _body(self, headers: dict[str, str]) -> bytes:
        if headers.get("expect", "").lower() == "100-continue":
            self._writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if headers.get("transfer-encoding", "").lower() == "chunked":
            return await self._chunked()
        size = int(headers.get("content-length") or 0)
        if size > _MAX_BODY:
            await self._refuse(413, "Request Entity Too Large")
            raise ConnectionAbortedError
        return await self._reader.readexactly(size)

    async def _chunked(self) -> bytes:
        out = bytearray()
        while size := int((await self._reader.readline()).split(b";")[0], 16):
            out += await self._reader.readexactly(size)
            await self._reader.readline()
        while (await self._reader.readline()).strip():
            pass
        return bytes(out)

    async def _refuse(self, status: int, text: str) -> None:
        body = json.dumps({"error": {"message": text}}).encode()
        headers = {
            "content-type": "application/json",
            "content-length": str(len(body)),
            "connection": "close",
        }
        self._writer.write(_status_line(status, headers) + body)
        await self._writer.drain()

    async def _reply(self, reply: Reply) -> None:
        sized = "content-length" in reply.headers
        headers = reply.headers if sized else {**reply.headers, "transfer-encoding": "chunked"}
        self._writer.write(_status_line(reply.status, headers))
        gone = asyncio.create_task(self._watch())
        sending = asyncio.create_task(self._send(reply, sized))
        try:
            await asyncio.wait({gone, sending}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done() or gone.result():
                await sending
        finally:
            for task in (gone, sending):
                task.cancel()
            await asyncio.gather(gone, sending, return_exceptions=True)
            close: Any = getattr(reply.chunks, "aclose", None)
            if close:
                await close()

    async def _send(self, reply: Reply, sized: bool) -> None:
        async for chunk in reply.chunks:
            self._writer.write(chunk if sized else b"%x\r\n%b\r\n" % (len(chunk), chunk))
            await self._writer.drain()
        if not sized:
            self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    async def _watch(self) -> bool:
        """Until the reader sends more (True: the next request came early) or goes away (False)."""
        byte = await self._reader.read(1)
        self._early += byte
        return bool(byte)

    def _abort(self) -> None:
        plug: Any = self._writer.get_extra_info("socket")
        if plug is not None:
            with contextlib.suppress(OSError):
                plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


def _status_line(status: int, headers: dict[str, str]) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Unknown"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
