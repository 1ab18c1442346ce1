"""The service itself, without a transport: one request in, one reply out.

Invariant: what it answers depends only on the script, the settings and the requests seen before.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Any

from deeptide.emulator.answer import Answer, answer, output_cap
from deeptide.emulator.body import Body
from deeptide.emulator.cache import PrefixCache
from deeptide.emulator.counting import Count, count_tokens
from deeptide.emulator.delivery import Reset, Sleep, queued, stream
from deeptide.emulator.frames import frames, whole
from deeptide.emulator.prompt import count_segment, segment, segments
from deeptide.emulator.refusals import (
    Refused,
    bad_key,
    model_unknown,
    no_auth_header,
    no_balance,
    of_status,
    too_long,
    too_many,
)
from deeptide.emulator.rules import Strict, check_rules
from deeptide.emulator.says import Fault, Say, Wire
from deeptide.emulator.script import Answerer, echo
from deeptide.emulator.shape import Shape
from deeptide.emulator.tables import ACCEPTED, SERVICE_WINDOW, Model

_EPOCH = 1_790_000_000
_CHAT = ("/chat/completions", "/v1/chat/completions", "/beta/chat/completions")


@dataclass
class Reply:
    """`chunks` is the body; it raises `Reset` where the connection must be torn down."""

    status: int
    headers: dict[str, str]
    chunks: AsyncIterator[bytes]


@dataclass
class SeenRequest:
    """One request as it arrived. `json` is None if it was none. `usage` is what was answered, None for a
    refusal. `at` is Unix seconds by the service's own clock (one second a request unless injected)."""

    path: str
    headers: dict[str, str]
    body: bytes
    at: float
    json: dict[str, Any] | None = None
    status: int = 0
    error: str = ""
    usage: dict[str, Any] | None = None
    turn: int = 0
    fault: str = ""
    tokens: list[int] = field(default_factory=list, repr=False)


class Emulator:
    """A DeepSeek. `script` answers; `window` is the enforced context, tokens; `key` the only key accepted
    (None: any, or none); `strict` the reasoning rule; `count` the token counter; `faults` what happens to the
    i-th chat request to arrive (None: nothing) without using up an answer; `concurrency` the number of chat
    requests at once; `balance` a decimal, 0 refuses with 402; `models` further accepted ids; `clock` and
    `sleep` replace the service's time; `wire` is how answers are cut; `on_done` is called with each request
    when its reply is over, however it ended."""

    def __init__(
        self,
        script: Answerer = echo,
        *,
        window: int = SERVICE_WINDOW,
        key: str | None = None,
        strict: Strict = "tools",
        count: Count | None = None,
        faults: Sequence[Fault | None] = (),
        concurrency: int = 2500,
        balance: str = "110.00",
        currency: str = "CNY",
        models: Sequence[str] = (),
        wire: Wire | None = None,
        cache: PrefixCache | None = None,
        clock: Callable[[], float] | None = None,
        sleep: Sleep = asyncio.sleep,
        shape_status: int = 400,
        on_done: Callable[[SeenRequest], None] | None = None,
    ) -> None:
        self.requests: list[SeenRequest] = []
        self.cache = cache or PrefixCache()
        self.window, self.key, self.strict = window, key, strict
        self.concurrency, self.balance, self.currency = concurrency, balance, currency
        self.wire = wire or Wire()
        self.active = 0
        self._script = script
        self._count: Count = lru_cache(maxsize=8192)(count or count_tokens)
        self._faults = list(faults)
        self._models = {**ACCEPTED, **{name: Model(name, images=True) for name in models}}
        self._clock = clock
        self._sleep = sleep
        self._shape_status = shape_status
        self._on_done = on_done
        self._turn = 0
        self._arrived = 0

    async def handle(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Raises Reset if the connection is to be torn down before any header."""
        given = {name.lower(): value for name, value in headers.items()}
        seen = SeenRequest(path, given, body, self._now())
        self.requests.append(seen)
        try:
            self._authenticate(given)
            reply = await self._route(method, path.split("?")[0].rstrip("/"), seen)
            if isinstance(reply.chunks, _Body):
                return reply
        except Refused as refused:
            seen.status, seen.error = refused.status, refused.message
            reply = self._plain(refused.status, refused.body(), refused.headers)
        except Reset:
            self._over(seen)
            raise
        self._over(seen)
        return reply

    def _over(self, seen: SeenRequest) -> None:
        if self._on_done:
            self._on_done(seen)

    def _now(self) -> float:
        return self._clock() if self._clock else float(_EPOCH + len(self.requests))

    def _authenticate(self, headers: dict[str, str]) -> None:
        if self.key is None:
            return
        scheme, _, key = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not key.strip():
            raise no_auth_header()
        if key.strip() != self.key:
            raise bad_key(key.strip())

    async def _route(self, method: str, path: str, seen: SeenRequest) -> Reply:
        wanted = "POST" if path in _CHAT else "GET"
        known = (*_CHAT, "/models", "/v1/models", "/user/balance")
        if path not in known:
            raise Refused(404, f"Not Found: {path}")
        if method.upper() != wanted:
            raise Refused(405, "Method Not Allowed")
        if path in _CHAT:
            return await self._chat(seen)
        seen.status = 200
        listing = self._balance() if path == "/user/balance" else self._listing()
        return self._plain(200, json.dumps(listing).encode())

    def _listing(self) -> dict[str, Any]:
        names = dict.fromkeys(model.id for model in self._models.values() if model.listed)
        data = [{"id": name, "object": "model", "owned_by": "deepseek"} for name in names]
        return {"object": "list", "data": data}

    def _balance(self) -> dict[str, Any]:
        info = {
            "currency": self.currency,
            "total_balance": self.balance,
            "granted_balance": "0.00",
            "topped_up_balance": self.balance,
        }
        return {"is_available": float(self.balance) > 0, "balance_infos": [info]}

    async def _chat(self, seen: SeenRequest) -> Reply:
        fault = self._next_fault()
        seen.fault = fault.kind if fault else ""
        self._refuse_by(fault)
        if float(self.balance) <= 0:
            raise no_balance()
        if self.active >= self.concurrency:
            raise too_many(self.concurrency)
        body = Body(seen.body)
        request = seen.json = body.json
        model = self._check(body)
        parts = segments(request)
        seen.tokens = [count_segment(part, self._count) for part in parts]
        prompt = sum(seen.tokens)
        cap = output_cap(request, max(1, self.window - prompt))
        if prompt + cap > self.window:
            raise too_long(self.window, prompt, cap)
        choose = getattr(self._script, "peek", self._script) if fault else self._script
        say: Say = choose(request, self._turn + 1)
        if fault is None:
            self._turn += 1
            self._refuse_by(say.fault)
            seen.fault = say.fault.kind if say.fault else ""
        else:
            say = _faulty(say, fault)
        seen.turn = self._turn + (fault is not None)
        return self._answer(seen, request, say, model, parts, cap)

    def _next_fault(self) -> Fault | None:
        self._arrived += 1
        return self._faults[self._arrived - 1] if self._arrived <= len(self._faults) else None

    def _refuse_by(self, fault: Fault | None) -> None:
        if fault and fault.kind == "status":
            raise of_status(fault.status, fault.message, fault.retry_after)
        if fault and fault.kind == "reset_before_headers":
            raise Reset

    def _check(self, body: Body) -> Model:
        name = body.json.get("model")
        model = self._models.get(name) if isinstance(name, str) else None
        Shape(body, images=model is None or model.images, status=self._shape_status).check()
        if model is None:
            raise model_unknown()
        check_rules(body.json, self.strict)
        return model

    def _answer(
        self, seen: SeenRequest, request: dict[str, Any], say: Say, model: Model, parts: list[str], cap: int
    ) -> Reply:
        owner = (seen.headers.get("authorization", ""), str(request.get("user_id") or ""), model.id)
        hit = self.cache.read(owner, parts, seen.tokens)
        salt = f"{len(self.requests)} {sha256(seen.body).hexdigest()}"
        made = answer(
            say, request, salt=salt, model=model.id, created=int(seen.at), prompt=sum(seen.tokens),
            hit=hit, cap=cap, count=self._count,
        )  # fmt: skip
        seen.status, seen.usage = 200, made.usage
        own = segment(made.message(), bool(request.get("tools")) and request.get("tool_choice") != "none")
        self.cache.write(owner, [*parts, own], [*seen.tokens, count_segment(own, self._count)])
        kind = say.fault.kind if say.fault else ""
        headers = self._headers(
            "text/event-stream; charset=utf-8" if request.get("stream") else "application/json"
        )
        if kind == "wrong_type":
            headers["content-type"] = "text/html"
        if kind == "gzip":
            headers["content-encoding"] = "gzip"
        body = self._stream(say, made) if request.get("stream") else self._whole(say, made)
        self.active += 1

        def done() -> None:
            self.active -= 1
            self._over(seen)

        return Reply(200, headers, _Body(body, done))

    def _stream(self, say: Say, made: Answer) -> AsyncIterator[bytes]:
        wire = say.wire or self.wire
        if say.fault and say.fault.kind == "wrong_type":
            return _once(b"<html><body><h1>502 Bad Gateway</h1></body></html>\n")
        return stream(say, wire, frames(made, wire), self._sleep)

    async def _whole(self, say: Say, made: Answer) -> AsyncIterator[bytes]:
        async for sign in queued(say, self._sleep, b"\n"):
            yield sign
        kind = say.fault.kind if say.fault else ""
        if kind == "stall":
            await asyncio.Event().wait()
        if kind in ("reset", "reset_after_headers"):
            raise Reset
        body = whole(made)
        yield body[: len(body) // 2] if kind in ("eof", "bad_json") else body

    def _plain(self, status: int, body: bytes, extra: dict[str, str] | None = None) -> Reply:
        headers = {**self._headers("application/json"), "content-length": str(len(body)), **(extra or {})}
        return Reply(status, headers, _once(body))

    def _headers(self, kind: str) -> dict[str, str]:
        trace = f"emulator-{len(self.requests):06d}"
        return {
            "content-type": kind,
            "cache-control": "no-cache",
            "x-ds-trace-id": trace,
            "x-request-id": trace,
        }


class _Body:
    """The chunks of an answer; `done` is called once, when they end, break or are given up."""

    def __init__(self, chunks: AsyncIterator[bytes], done: Callable[[], None]) -> None:
        self._chunks = chunks
        self._done: Callable[[], None] | None = done

    def __aiter__(self) -> _Body:
        return self

    async def __anext__(self) -> bytes:
        try:
            return await anext(self._chunks)
        except BaseException:
            self._finish()
            raise

    async def aclose(self) -> None:
        close = getattr(self._chunks, "aclose", None)
        if close is not None:
            await close()
        self._finish()

    def _finish(self) -> None:
        done, self._done = self._done, None
        if done is not None:
            done()


def _faulty(say: Say, fault: Fault) -> Say:
    values = {name: getattr(say, name) for name in Say.__struct_fields__}
    return Say(**{**values, "fault": fault})


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body
