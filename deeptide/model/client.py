"""The one door to the network: sends a request, gives back what streams in, ends with one result.

The SDK sends and reads headers; the body is read raw, because its typed stream hides keep-alives, ends
without an error on a cut stream and lets foreign errors through. It is imported here and nowhere else, since
importing it takes half a second, and its resources are not touched: the first use of one of them loads them
all, which takes as long again, and 15 MB.

Invariant: `stream` ends with exactly one Completed or Failed and raises nothing but cancellation; a
`Retrying` between its items means that everything shown before belongs to a broken attempt.
"""

from __future__ import annotations

import asyncio
import random
import ssl
import time
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, aclosing
from typing import Any, cast

import httpx
import openai

from deeptide import __version__
from deeptide.model import wire
from deeptide.model.errors import (
    AuthFailed,
    BadRequest,
    MalformedAnswer,
    MissingKey,
    Offline,
    ProviderError,
    RateLimited,
    ServerFault,
    StreamCut,
)
from deeptide.model.faults import described, from_status
from deeptide.model.request import Request
from deeptide.model.sse import Parser
from deeptide.model.stream import Assembly, Completed, Delta, Failed
from deeptide.protocol.events import Retrying

Item = Delta | Retrying | Completed | Failed

CONNECT_S = 15.0
WRITE_S = 120.0
DRAIN_S = 0.25
"""How long the end of a finished response is awaited, so that its connection can be used again."""
KEEP_ALIVE_S = 55.0
LONGEST_WAIT_S = 120.0
"""A server that asks for a longer wait than this is not waited for."""
MALFORMED_RETRIES = 2
_ID_HEADERS = ("x-request-id", "x-deepseek-request-id", "x-ds-trace-id", "cf-ray")


class _Sdk(openai.AsyncOpenAI):
    """The SDK with fixed headers: no platform fingerprint, no other vendor's organisation from the
    environment."""

    @property
    def default_headers(self) -> dict[str, str | openai.Omit]:
        return {
            "Accept": "text/event-stream",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
            "User-Agent": f"deeptide/{__version__}",
        }


class Client:
    """`key_source` names where the key came from, for messages. `idle_s`: seconds without a byte, keep-alives
    included, after which a response counts as cut. `dialect` overrides what address and model suggest."""

    def __init__(
        self,
        base_url: str,
        key: str,
        key_source: str = "",
        transport: httpx.AsyncBaseTransport | None = None,
        retries: int = 5,
        idle_s: float = 300.0,
        *,
        first_delay_s: float = 0.5,
        longest_delay_s: float = 10.0,
        dialect: wire.Dialect | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._key, self._key_source = key.strip(), key_source
        self._retries, self._idle_s = retries, idle_s
        self._first_delay_s, self._longest_delay_s = first_delay_s, longest_delay_s
        self._dialect, self._jitter = dialect, jitter
        self._unusable: ProviderError | None = None
        self._sdk: _Sdk | None = None
        try:
            self._sdk = self._connect(transport)
        # httpx reads the proxy variables here: ImportError for a SOCKS proxy without its package,
        # ValueError and InvalidURL for an address it does not understand.
        except (ImportError, ValueError, OSError, httpx.InvalidURL) as error:
            self._unusable = BadRequest(
                f"The connection could not be set up: {error}",
                "Check the base URL and the variables HTTPS_PROXY, HTTP_PROXY and ALL_PROXY. "
                "For a SOCKS proxy, install the package `httpx[socks]`.",
            )

    def _connect(self, transport: httpx.AsyncBaseTransport | None) -> _Sdk:
        timeout = httpx.Timeout(connect=CONNECT_S, read=None, write=WRITE_S, pool=None)
        http = httpx.AsyncClient(
            transport=transport,
            timeout=timeout,
            limits=httpx.Limits(keepalive_expiry=KEEP_ALIVE_S),
            follow_redirects=True,
        )
        return _Sdk(
            base_url=self.base_url,
            api_key=self._key or "none",
            http_client=http,
            timeout=timeout,
            max_retries=0,
        )

    async def close(self) -> None:
        if self._sdk is not None:
            await self._sdk.close()

    def dialect_of(self, model: str) -> wire.Dialect:
        return self._dialect or wire.dialect_for(self.base_url, model)

    async def stream(self, request: Request) -> AsyncGenerator[Item, None]:
        """Deltas as they come; `Retrying` before each further attempt; one Completed or Failed at the end.

        Closing the iterator or cancelling the reader closes the connection at once.
        """
        attempt = malformed = 0
        while True:
            result: Completed | Failed | None = None
            async with aclosing(self._attempt(request)) as items:
                async for item in items:
                    if isinstance(item, Completed | Failed):
                        result = item
                    else:
                        yield item
            assert result is not None
            if isinstance(result, Completed):
                yield result
                return
            malformed += isinstance(result.error, MalformedAnswer)
            if not self._may_retry(result.error, attempt, malformed):
                yield result
                return
            attempt += 1
            delay = self.delay(result.error, attempt)
            yield Retrying(attempt, self._retries, delay, str(result.error))
            await asyncio.sleep(delay)

    def _may_retry(self, error: ProviderError, attempts: int, malformed: int) -> bool:
        if not error.retryable or attempts >= self._retries or malformed > MALFORMED_RETRIES:
            return False
        return (_asked_wait(error) or 0.0) <= LONGEST_WAIT_S

    def delay(self, error: ProviderError, attempt: int) -> float:
        """Seconds before the `attempt`-th retry: doubled each time, ±10 %, never less than the server
        asks."""
        backoff = min(self._longest_delay_s, self._first_delay_s * 2.0 ** (attempt - 1))
        backoff *= 0.9 + 0.2 * self._jitter()
        return max(backoff, _asked_wait(error) or 0.0)

    async def _attempt(self, request: Request) -> AsyncGenerator[Delta | Completed | Failed, None]:
        started = time.monotonic()
        dialect = self.dialect_of(request.model)
        assembly = Assembly(tools=bool(request.tools), require_done=dialect.name == "deepseek")
        seen: dict[str, str] = {}
        try:
            body = self._body(request, dialect)
            async with aclosing(self._deltas(body, assembly, seen)) as deltas:
                async for delta in deltas:
                    yield delta
        except ProviderError as error:
            assembly.interrupt(error)
        except openai.APIStatusError as error:
            assembly.interrupt(self._refused(error))
        except (openai.OpenAIError, httpx.HTTPError, httpx.StreamError, zlib.error, OSError) as error:
            assembly.interrupt(_broken(error, self.base_url, begun=bool(seen)))
        except Exception as error:  # an unforeseen failure must reach the reader as a result, not as a crash
            assembly.interrupt(BadRequest(f"The request failed for an unforeseen reason: {error!r}"))
        for delta in assembly.flush():
            yield delta
        elapsed = int((time.monotonic() - started) * 1000)
        yield assembly.end(request_id=seen.get("request_id", ""), elapsed_ms=elapsed)

    def _body(self, request: Request, dialect: wire.Dialect) -> dict[str, Any]:
        if self._unusable is not None:
            raise self._unusable
        if not self._key and dialect.name == "deepseek":
            raise MissingKey("No API key is set.")
        if not all("!" <= character <= "~" for character in self._key):
            source = f" (from {self._key_source})" if self._key_source else ""
            raise AuthFailed(
                f"The API key{source} holds characters that no key has, such as blanks or quotes."
            )
        try:
            return wire.body(request, dialect)
        except (ValueError, TypeError, RecursionError) as error:
            raise BadRequest(f"The request could not be written as JSON: {error}") from error

    async def _deltas(
        self, body: dict[str, Any], assembly: Assembly, seen: dict[str, str]
    ) -> AsyncGenerator[Delta, None]:
        """`seen` is filled when the headers are there."""
        parser = Parser()
        async with AsyncExitStack() as stack:
            response = await self._open(body, stack)
            seen["status"] = str(response.status_code)
            seen["request_id"] = _request_id(response.headers)
            chunks = response.aiter_raw()
            inflate = _inflater(response.headers)
            while not assembly.done and not assembly.broken:
                chunk = await self._next(chunks)
                events = parser.close() if chunk is None else parser.feed(inflate(chunk))
                for event in events:
                    for delta in assembly.feed(event):
                        yield delta
                if chunk is None:
                    return
            if assembly.done:
                await _drain(chunks)

    async def _open(self, body: dict[str, Any], stack: AsyncExitStack) -> httpx.Response:
        assert self._sdk is not None
        opening = self._sdk.post(
            "/chat/completions",
            cast_to=httpx.Response,
            body=body,
            stream=True,
            stream_cls=openai.AsyncStream[Any],
            options={
                "headers": {} if self._key else {"Authorization": openai.Omit()},
                "security": {"bearer_auth": True},
            },
        )
        try:
            async with asyncio.timeout(self._idle_s):
                response = cast(httpx.Response, await opening)
        except TimeoutError:
            raise ServerFault(f"The provider did not answer for {self._idle_s:g} seconds.") from None
        stack.push_async_callback(response.aclose)
        return response

    async def _next(self, chunks: AsyncIterator[bytes]) -> bytes | None:
        """The next bytes, None at the end. Any bytes, keep-alives too, start the idle time anew."""
        try:
            async with asyncio.timeout(self._idle_s):
                return await anext(chunks, None)
        except TimeoutError:
            raise StreamCut(f"The answer stalled: nothing came for {self._idle_s:g} seconds.") from None

    def _refused(self, error: openai.APIStatusError) -> ProviderError:
        response = error.response
        return from_status(
            response.status_code,
            error.body,
            response.headers,
            request_id=_request_id(response.headers),
            key_source=self._key_source,
            url=str(response.request.url),
        )


def _asked_wait(error: ProviderError) -> float | None:
    return error.retry_after if isinstance(error, RateLimited | ServerFault) else None


def _request_id(headers: Mapping[str, str]) -> str:
    return next((headers[name] for name in _ID_HEADERS if headers.get(name)), "")


def _inflater(headers: Mapping[str, str]) -> Callable[[bytes], bytes]:
    """Identity is asked for; some gateways compress all the same."""
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding in ("gzip", "x-gzip", "deflate"):
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 32).decompress
    return lambda chunk: chunk


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    try:
        async with asyncio.timeout(DRAIN_S):
            async for _ in chunks:
                pass
    except (TimeoutError, httpx.HTTPError, OSError):
        pass


def _broken(error: Exception, base_url: str, *, begun: bool) -> ProviderError:
    cause = error
    while cause.__cause__ is not None or cause.__context__ is not None:
        cause = cause.__cause__ or cause.__context__  # type: ignore[assignment]
        if isinstance(cause, ssl.SSLCertVerificationError):
            return BadRequest(
                f"The certificate of {base_url} is not trusted: {described(cause.verify_message)}",
                "If a proxy stands between, let SSL_CERT_FILE name the file with its certificate authority.",
            )
    why = described(str(cause)) or type(cause).__name__
    if begun:
        return StreamCut(f"The connection broke in the middle of the answer: {why}")
    if isinstance(error, openai.APITimeoutError):
        return Offline(f"{base_url} could not be reached in time: {why}")
    return Offline(f"{base_url} could not be reached: {why}")
