"""The client against transports and sockets that misbehave byte by byte."""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
from contextlib import aclosing

import httpx
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.model import errors
from deeptide.model.client import Client, Item
from deeptide.model.request import Request
from deeptide.model.stream import Completed, Failed
from deeptide.model.wire import DEEPSEEK, encode
from deeptide.protocol.events import Retrying, TextDelta, ThinkingDelta
from deeptide.protocol.messages import ToolSchema, assistant, system, user
from tests.deep import count
from tests.model.network import HEAD, STREAM, Reply, Scripted, http_chunk, listening
from tests.model.streams import DONE, KEEP_ALIVE, answer, call, chunk

TOOL = ToolSchema("read", "Reads.", msgspec.Raw(b'{"type":"object"}'))
ASK = Request("deepseek-flash", (system("s"), user("hi")), (TOOL,))
HI = answer({"reasoning_content": "hm"}, {"content": "hi"})


def client(
    transport: httpx.AsyncBaseTransport | None = None, url: str = "https://api.deepseek.com", **more
) -> Client:
    more = {
        "first_delay_s": 0.0,
        "longest_delay_s": 0.0,
        "key": "sk-test",
        "key_source": "DEEPSEEK_API_KEY",
        **more,
    }
    return Client(url, transport=transport, **more)


async def collect(made: Client, request: Request = ASK) -> list[Item]:
    items = [item async for item in made.stream(request)]
    await made.close()
    assert isinstance(items[-1], Completed | Failed)
    assert not any(isinstance(item, Completed | Failed) for item in items[:-1])
    return items


async def outcome(*replies: Reply | Exception, **more) -> tuple[list[Item], Scripted]:
    transport = Scripted(*replies)
    return await collect(client(transport, **more)), transport


async def test_an_answer_streams_and_ends_completed_with_the_request_id() -> None:
    items, transport = await outcome(Reply(steps=[HI]))
    assert items[:2] == [ThinkingDelta("hm"), TextDelta("hi")]
    last = items[-1]
    assert isinstance(last, Completed) and last.request_id == "req-1" and last.message.text == "hi"
    assert str(transport.requests[0].url) == "https://api.deepseek.com/chat/completions"
    assert transport.closed == 1


async def test_the_bytes_sent_are_the_wires_bytes_and_uncompressed_ones_are_asked_for() -> None:
    _, transport = await outcome()
    assert transport.bodies == [encode(ASK, DEEPSEEK)]
    headers = transport.requests[0].headers
    assert headers["accept-encoding"] == "identity"
    assert headers["authorization"] == "Bearer sk-test"
    assert headers["user-agent"].startswith("deeptide/")


async def test_settings_of_another_vendor_in_the_environment_are_not_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "x-secret: 1")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://elsewhere.example")
    _, transport = await outcome()
    sent = {key: value for key, value in transport.requests[0].headers.items() if "secret" in key + value}
    assert sent == {} and transport.requests[0].url.host == "api.deepseek.com"


TEXTS = st.text(alphabet=st.characters(exclude_categories=[]), max_size=30)


@settings(max_examples=count(15, 300), deadline=None)
@given(TEXTS, TEXTS, st.sampled_from(["off", "high", "max"]), st.integers(1, 10**6))
def test_the_bytes_on_the_wire_are_a_function_of_the_request(said, thought, effort, cap) -> None:
    talk = (system("s"), user(said), assistant(said, thinking=thought), user("go"))
    request = Request("deepseek-v4-pro", talk, (TOOL,), effort, cap)

    async def twice() -> list[bytes]:
        transports = Scripted(), Scripted()
        for transport in transports:
            await collect(client(transport), request)
        return [transport.bodies[0] for transport in transports]

    first, second = asyncio.run(twice())
    assert first == second == encode(request, DEEPSEEK)


async def test_no_key_is_said_before_anything_is_sent() -> None:
    transport = Scripted()
    [last] = await collect(client(transport, key=" "))
    assert isinstance(last, Failed) and isinstance(last.error, errors.MissingKey)
    assert transport.requests == []


async def test_a_server_of_ones_own_needs_no_key() -> None:
    transport = Scripted()
    items = await collect(client(transport, "http://127.0.0.1:1/v1", key=""), Request("qwen3", (user("a"),)))
    assert isinstance(items[-1], Completed)
    assert "authorization" not in transport.requests[0].headers
    assert "thinking" not in json.loads(transport.bodies[0])


async def test_a_key_with_blanks_or_quotes_is_named_by_its_source() -> None:
    [last] = await collect(client(Scripted(), key="sk-a b“"))
    assert isinstance(last, Failed) and "DEEPSEEK_API_KEY" in str(last.error)


def said(status: int, message: str, **headers: str) -> Reply:
    raw = json.dumps({"error": {"message": message}}).encode()
    return Reply(status, [raw], {"content-type": "application/json", "x-request-id": "req-e", **headers})


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (said(400, "bad"), errors.BadRequest),
        (said(401, "no"), errors.AuthFailed),
        (said(402, "Insufficient Balance"), errors.InsufficientBalance),
        (said(422, "bad"), errors.BadRequest),
        (said(400, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens"),
         errors.Overflow),
    ],
)  # fmt: skip
async def test_what_a_retry_cannot_mend_is_not_retried(reply: Reply, kind: type) -> None:
    items, transport = await outcome(reply)
    last = items[-1]
    assert isinstance(last, Failed) and type(last.error) is kind and last.error.request_id == "req-e"
    assert len(items) == len(transport.requests) == 1


@pytest.mark.parametrize(
    "trouble",
    [
        said(429, "busy"),
        said(500, "fault"),
        said(503, "overloaded"),
        httpx.ConnectError("refused"),
        httpx.ConnectTimeout("slow"),
        httpx.RemoteProtocolError("server disconnected"),
        Reply(steps=[HI.removesuffix(DONE)]),
        Reply(steps=[chunk({"content": "half"}), httpx.ReadError("reset")]),
        Reply(steps=[answer({"content": "half"}, finish="insufficient_system_resource")]),
        Reply(steps=[b"upstream timed out\n"]),
    ],
)
async def test_what_may_pass_is_retried_and_the_answer_starts_clean(trouble: Reply | Exception) -> None:
    items, transport = await outcome(trouble, Reply(steps=[HI]))
    at = next(index for index, item in enumerate(items) if isinstance(item, Retrying))
    retrying, last = items[at], items[-1]
    assert isinstance(retrying, Retrying) and (retrying.attempt, retrying.of) == (1, 5) and retrying.reason
    assert items[at + 1 : -1] == [ThinkingDelta("hm"), TextDelta("hi")]
    assert isinstance(last, Completed) and last.message.text == "hi"
    assert transport.bodies[0] == transport.bodies[1]


async def test_retries_are_bounded_and_the_last_failure_keeps_what_arrived() -> None:
    items, transport = await outcome(Reply(steps=[chunk({"content": "half"})]))
    last = items[-1]
    assert isinstance(last, Failed) and isinstance(last.error, errors.StreamCut)
    assert last.partial.text == "half"
    assert len(transport.requests) == 6
    assert [item.attempt for item in items if isinstance(item, Retrying)] == [1, 2, 3, 4, 5]


async def test_a_malformed_answer_is_tried_again_only_twice() -> None:
    leak = answer({"content": '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="read">'})
    items, transport = await outcome(Reply(steps=[leak]))
    assert isinstance(items[-1], Failed) and isinstance(items[-1].error, errors.MalformedAnswer)
    assert len(transport.requests) == 3


async def test_delays_double_to_a_limit_and_a_server_that_asks_for_more_gets_it() -> None:
    made = client(Scripted(), first_delay_s=0.5, longest_delay_s=10, jitter=lambda: 0.5)
    fault = errors.ServerFault("x")
    assert [made.delay(fault, attempt) for attempt in range(1, 8)] == [0.5, 1, 2, 4, 8, 10, 10]
    assert made.delay(errors.RateLimited("x", retry_after=30), 1) == 30
    assert client(Scripted(), first_delay_s=1.0, longest_delay_s=9, jitter=lambda: 0.0).delay(fault, 1) == 0.9


async def test_a_server_that_asks_for_an_hour_is_not_waited_for() -> None:
    items, _ = await outcome(said(429, "busy", **{"retry-after": "3600"}))
    assert len(items) == 1
    assert isinstance(items[0], Failed) and isinstance(items[0].error, errors.RateLimited)
    assert items[0].error.retry_after == 3600


async def test_a_stall_is_a_cut_and_keep_alives_are_no_stall() -> None:
    stalled = Reply(steps=[chunk({"reasoning_content": "We"}), 30.0])
    patient = Reply(steps=[*[KEEP_ALIVE, 0.03] * 12, HI])
    items, _ = await outcome(stalled, patient, idle_s=0.25)
    retrying = next(item for item in items if isinstance(item, Retrying))
    assert "stalled" in retrying.reason
    assert isinstance(items[-1], Completed)


async def test_a_compressed_stream_is_read_all_the_same() -> None:
    packed = gzip.compress(HI)
    headers = {**STREAM, "content-encoding": "gzip"}
    items, _ = await outcome(Reply(steps=[packed[:20], packed[20:]], headers=headers))
    assert isinstance(items[-1], Completed) and items[-1].message.text == "hi"
    items, _ = await outcome(Reply(steps=[b"no gzip"], headers=headers), retries=0)
    assert isinstance(items[-1], Failed) and isinstance(items[-1].error, errors.StreamCut)


async def test_an_error_after_the_whole_answer_does_not_spoil_it() -> None:
    items, transport = await outcome(Reply(steps=[HI, httpx.ReadError("reset")]))
    assert isinstance(items[-1], Completed) and len(transport.requests) == 1


async def test_a_request_that_cannot_be_written_fails_as_a_value() -> None:
    broken = Request("deepseek-flash", (user("a"),), (ToolSchema("x", "", msgspec.Raw(b"{nope")),))
    [last] = await collect(client(Scripted()), broken)
    assert isinstance(last, Failed) and isinstance(last.error, errors.BadRequest)


@pytest.mark.parametrize("proxy", ["socks://127.0.0.1:7890/", "ftp://127.0.0.1:1"])
async def test_a_proxy_that_cannot_be_used_is_explained(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    [last] = await collect(client())
    assert isinstance(last, Failed) and "ALL_PROXY" in last.error.advice


async def test_closing_the_stream_closes_the_connection_at_once() -> None:
    def script(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + http_chunk(chunk({"content": "first"})))

    async with listening(script) as wire:
        made = client(url=wire.url)
        async with aclosing(made.stream(ASK)) as items:
            assert await anext(items) == TextDelta("first")
        await asyncio.wait_for(wire.hung_up.wait(), 5)
        await made.close()


@pytest.mark.parametrize("early", [True, False])
async def test_cancelling_the_reader_closes_the_connection_before_and_after_the_headers(early: bool) -> None:
    def script(writer: asyncio.StreamWriter) -> None:
        if not early:
            writer.write(HEAD + http_chunk(KEEP_ALIVE))

    async with listening(script) as wire:
        made = client(url=wire.url)
        task = asyncio.ensure_future(collect(made))
        await asyncio.wait_for(wire.started.wait(), 5)
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(wire.hung_up.wait(), 5)
        await made.close()


async def test_bytes_one_by_one_over_a_real_socket_give_the_answer() -> None:
    def script(writer: asyncio.StreamWriter) -> None:
        raw = KEEP_ALIVE + answer({"content": "你好"}, call(0, id="c", name="read", arguments='{"路径":"a"}'))
        writer.write(HEAD + b"".join(http_chunk(raw[at : at + 1]) for at in range(len(raw))) + b"0\r\n\r\n")

    async with listening(script) as wire:
        items = await collect(client(url=wire.url))
    last = items[-1]
    assert isinstance(last, Completed)
    assert (last.message.text, last.message.tool_calls[0].arguments) == ("你好", '{"路径":"a"}')
    assert last.request_id == "w1"


@pytest.mark.parametrize(
    "sent", [b"", b"HTTP/1.1 200", HEAD, HEAD + http_chunk(chunk({"content": "x"})), HEAD + b"zz\r\n"]
)
async def test_a_connection_that_drops_anywhere_is_a_retryable_failure(sent: bytes) -> None:
    def script(writer: asyncio.StreamWriter) -> None:
        writer.write(sent)
        writer.close()

    async with listening(script) as wire:
        items = await collect(client(url=wire.url, retries=1))
    assert isinstance(items[-1], Failed) and items[-1].error.retryable
    assert sum(isinstance(item, Retrying) for item in items) == 1


async def test_a_port_nobody_listens_on_is_offline() -> None:
    [last] = await collect(client(url="http://127.0.0.1:9", retries=0))
    assert (
        isinstance(last, Failed)
        and isinstance(last.error, errors.Offline)
        and "127.0.0.1:9" in str(last.error)
    )


def test_only_the_client_imports_the_sdk() -> None:
    code = (
        "import sys\n"
        "import deeptide.model.wire, deeptide.model.stream, deeptide.model.catalog, deeptide.model.pricing\n"
        "import deeptide.model.tokens, deeptide.model.faults, deeptide.model.request\n"
        "assert not {'openai', 'httpx', 'textual'} & set(sys.modules)\n"
        "import deeptide.model.client\n"
        "assert 'openai' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_request_loads_none_of_the_sdk_s_resources() -> None:
    code = (
        "import asyncio, sys\n"
        "from tests.model.network import Reply\n"
        "from tests.model.test_client import HI, Completed, outcome\n"
        "items, _ = asyncio.run(outcome(Reply(steps=[HI])))\n"
        "assert isinstance(items[-1], Completed)\n"
        "assert not [name for name in sys.modules if name.startswith('openai.resources.')]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
