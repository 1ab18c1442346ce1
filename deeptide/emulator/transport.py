"""The service in the same process, behind httpx: no socket, the same bytes and the same kinds of failure.

Invariant: a torn connection, an early end and a silent one appear as the httpx errors that a socket gives.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx

from deeptide.emulator.delivery import Reset
from deeptide.emulator.emulator import Emulator


class EmulatorTransport(httpx.AsyncBaseTransport):
    def __init__(self, emulator: Emulator) -> None:
        self.emulator = emulator

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = await request.aread()
        limit = (request.extensions.get("timeout") or {}).get("read")
        try:
            reply = await self.emulator.handle(request.method, request.url.path, dict(request.headers), body)
        except Reset:
            raise httpx.ReadError("connection reset by peer", request=request) from None
        stream = _Stream(reply.chunks, request, limit)
        return httpx.Response(reply.status, headers=reply.headers, stream=stream, request=request)


class _Stream(httpx.AsyncByteStream):
    def __init__(self, chunks: AsyncIterator[bytes], request: httpx.Request, limit: float | None) -> None:
        self._chunks = chunks
        self._request = request
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            try:
                async with asyncio.timeout(self._limit):
                    chunk = await anext(self._chunks, None)
            except TimeoutError:
                raise httpx.ReadTimeout("no data in time", request=self._request) from None
            except Reset:
                raise httpx.ReadError("connection reset by peer", request=self._request) from None
            if chunk is None:
                return
            yield chunk

    async def aclose(self) -> None:
        close = getattr(self._chunks, "aclose", None)
        if close is not None:
            await close()
