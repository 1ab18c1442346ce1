"""Every way a stream goes wrong, the same in process and over a socket."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
from collections.abc import AsyncIterator

import httpx
import pytest

from deeptide.emulator.emulator import Emulator
from deeptide.emulator.script import Fault, Say, Script, Wire
from deeptide.emulator.server import serve
from deeptide.emulator.transport import EmulatorTransport
from tests.fakes.scripts import events, request

TEXT = "one two three four five 中文 six seven eight"
BODY = request(stream=True)


@contextlib.asynccontextmanager
async def reach(emulator: Emulator, way: str, timeout: float | None = 30) -> AsyncIterator[httpx.AsyncClient]:
    if way == "process":
        async with httpx.AsyncClient(
            transport=EmulatorTransport(emulator), base_url="http://e", timeout=timeout
        ) as http:
            yield http
        return
    async with (
        await serve(emulator) as served,
        httpx.AsyncClient(base_url=served.url, timeout=timeout) as http,
    ):
        yield http


def failing(fault: Fault, **more: object) -> Emulator:
    return Emulator(Script.of([Say(TEXT, fault=fault), Say("after")]), wire=Wire(burst=1), **more)  # type: ignore[arg-type]


async def body_until_it_ends(http: httpx.AsyncClient) -> tuple[bytes, BaseException | None]:
    data = b""
    try:
        async with http.stream("POST", "/chat/completions", json=BODY) as reply:
            async for chunk in reply.aiter_raw():
                data += chunk
    except httpx.HTTPError as error:
        return data, error
    return data, None


def text_of(data: bytes) -> str:
    return "".join(event["choices"][0]["delta"].get("content") or "" for event in events(data))


@pytest.fixture(params=["process", "socket"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_a_reset_before_headers_gives_no_reply(way: str) -> None:
    async with reach(failing(Fault("reset_before_headers")), way) as http:
        data, error = await body_until_it_ends(http)
        assert not data and isinstance(error, httpx.TransportError)
        assert text_of((await body_until_it_ends(http))[0]) == "after"


async def test_a_reset_after_headers_breaks_the_body(way: str) -> None:
    async with reach(failing(Fault("reset_after_headers")), way) as http:
        data, error = await body_until_it_ends(http)
    assert isinstance(error, httpx.TransportError) and text_of(data) == ""


async def test_a_reset_in_the_middle_breaks_inside_an_event(way: str) -> None:
    async with reach(failing(Fault("reset", at=2)), way) as http:
        data, error = await body_until_it_ends(http)
        assert isinstance(error, httpx.TransportError)
        # A socket may lose the last bytes; what came is still a prefix of the answer.
        whole = data[: data.rfind(b"\n\n") + 2] if b"\n\n" in data else b""
        assert TEXT.startswith(text_of(whole)) and len(text_of(whole)) <= 8
        assert text_of((await body_until_it_ends(http))[0]) == "after"


@pytest.mark.parametrize("at", [0, 2, 100])
async def test_a_clean_end_without_done_is_not_an_error_of_the_transport(way: str, at: int) -> None:
    async with reach(failing(Fault("eof", at=at)), way) as http:
        data, error = await body_until_it_ends(http)
    assert error is None and b"[DONE]" not in data
    assert text_of(data) == TEXT[: 4 * at]
    assert all(event["choices"][0]["finish_reason"] is None for event in events(data))


async def test_a_stall_is_silent_with_the_socket_open(way: str) -> None:
    emulator = failing(Fault("stall", at=2))
    async with reach(emulator, way, timeout=0.2) as http:
        data, error = await body_until_it_ends(http)
        assert isinstance(error, httpx.ReadTimeout) and text_of(data) == TEXT[:8]
        while emulator.active:
            await asyncio.sleep(0.01)


async def test_a_bounded_stall_ends_in_a_reset() -> None:
    async def at_once(seconds: float) -> None:
        assert seconds == 40

    async with reach(failing(Fault("stall", at=1, seconds=40), sleep=at_once), "process") as http:
        data, error = await body_until_it_ends(http)
    assert isinstance(error, httpx.ReadError) and text_of(data) == TEXT[:4]


async def test_an_error_object_can_come_in_the_middle(way: str) -> None:
    async with reach(failing(Fault("error_object", at=1, message="boom")), way) as http:
        data, error = await body_until_it_ends(http)
    assert error is None
    assert json.loads(data.split(b"data: ")[-1])["error"]["message"] == "boom"


async def test_a_proxy_can_append_plain_text(way: str) -> None:
    async with reach(failing(Fault("plain_tail", at=1, message="upstream gone")), way) as http:
        data, error = await body_until_it_ends(http)
    assert error is None and data.endswith(b"upstream gone")


async def test_bad_json_and_stray_comments_are_put_between_whole_events() -> None:
    for kind, mark in (("bad_json", b'"object":'), ("data_comment", b"data: : keep-alive\n")):
        async with reach(failing(Fault(kind, at=1)), "process") as http:  # type: ignore[arg-type]
            data, error = await body_until_it_ends(http)
        assert error is None and mark in data and data.endswith(b"data: [DONE]\n\n")
        broken = [
            line for line in data.split(b"\n\n") if line.startswith(b"data: {") and not line.endswith(b"}")
        ]
        assert len(broken) == (kind == "bad_json")


async def test_characters_can_be_split_between_network_writes() -> None:
    emulator = failing(Fault("split_utf8"))
    pieces = []
    async with (
        reach(emulator, "process") as http,
        http.stream("POST", "/chat/completions", json=BODY) as reply,
    ):
        pieces = [piece async for piece in reply.aiter_raw()]
    assert text_of(b"".join(pieces)) == TEXT
    with pytest.raises(UnicodeDecodeError):
        for piece in pieces:
            piece.decode()


async def test_compression_and_a_wrong_content_type_are_seen_in_the_headers() -> None:
    async with reach(failing(Fault("gzip")), "process") as http:
        async with http.stream("POST", "/chat/completions", json=BODY) as reply:
            assert reply.headers["content-encoding"] == "gzip"
            raw = b"".join([piece async for piece in reply.aiter_raw()])
        assert text_of(gzip.decompress(raw)) == TEXT
    async with reach(failing(Fault("gzip")), "process") as http:
        assert text_of((await http.post("/chat/completions", json=BODY)).content) == TEXT
    async with reach(failing(Fault("wrong_type")), "process") as http:
        reply = await http.post("/chat/completions", json=BODY)
        assert reply.status_code == 200 and reply.headers["content-type"] == "text/html"


async def test_done_or_the_finish_can_be_missing() -> None:
    for kind, done, finish in (("no_done", False, True), ("no_finish", True, False)):
        async with reach(failing(Fault(kind)), "process") as http:  # type: ignore[arg-type]
            data, error = await body_until_it_ends(http)
        assert error is None and text_of(data) == TEXT
        assert (b"[DONE]" in data, b'"finish_reason":"stop"' in data) == (done, finish)


async def test_ten_minutes_in_the_queue_close_the_connection() -> None:
    slept = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal slept
        slept += seconds

    emulator = Emulator(Script.of([Say("late", queue=3600)]), sleep=sleep)
    async with reach(emulator, "process") as http:
        data, error = await body_until_it_ends(http)
    assert isinstance(error, httpx.ReadError) and slept == 600
    assert set(data.split(b"\n\n")) == {b": keep-alive", b""}


async def test_a_slow_answer_waits_before_each_delta() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with reach(Emulator(Script.of([Say("12345678", delay=0.5)]), sleep=sleep), "process") as http:
        await body_until_it_ends(http)
    assert slept == [0.5, 0.5]
