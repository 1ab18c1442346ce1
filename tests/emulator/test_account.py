"""Keys, balance, load, listings: what surrounds the chat endpoint."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from deeptide.emulator.emulator import Emulator
from deeptide.emulator.script import Fault, Say, Script
from deeptide.emulator.transport import EmulatorTransport
from tests.fakes.scripts import post, request


def client(emulator: Emulator, **headers: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=EmulatorTransport(emulator), base_url="http://e", headers=headers)


async def test_a_wrong_key_is_named_by_its_end() -> None:
    reply = await post(Emulator(key="sk-right"), request(), key="sk-wrong-1234")
    assert reply.status_code == 401
    assert reply.json()["error"] == {
        "message": "Authentication Fails, Your api key: ****1234 is invalid",
        "type": "authentication_error",
        "param": None,
        "code": "invalid_request_error",
    }


@pytest.mark.parametrize("headers", [{}, {"authorization": "Basic abc"}, {"authorization": "Bearer "}])
async def test_a_missing_key_is_refused_everywhere(headers: dict[str, str]) -> None:
    async with client(Emulator(key="k"), **headers) as http:
        for reply in (await http.get("/models"), await http.post("/chat/completions", json=request())):
            assert reply.status_code == 401
            assert "auth header format should be Bearer" in reply.json()["error"]["message"]


async def test_without_a_key_anything_goes() -> None:
    async with client(Emulator()) as http:
        assert (await http.post("/chat/completions", json=request())).status_code == 200


async def test_models_and_balance_have_the_documented_form() -> None:
    async with client(Emulator(balance="7.50", currency="USD")) as http:
        models = (await http.get("/models")).json()
        balance = (await http.get("/user/balance")).json()
    assert models == {
        "object": "list",
        "data": [
            {"id": "deepseek-flash", "object": "model", "owned_by": "deepseek"},
            {"id": "deepseek-v4-pro", "object": "model", "owned_by": "deepseek"},
        ],
    }
    assert balance == {
        "is_available": True,
        "balance_infos": [
            {
                "currency": "USD",
                "total_balance": "7.50",
                "granted_balance": "0.00",
                "topped_up_balance": "7.50",
            }
        ],
    }


async def test_an_empty_balance_answers_402() -> None:
    reply = await post(Emulator(balance="0.00"), request())
    assert reply.status_code == 402
    assert reply.json()["error"]["message"] == "Insufficient Balance"


async def test_requests_over_the_concurrency_limit_get_429_until_one_is_over() -> None:
    emulator = Emulator(Script.of([Say("slow", fault=Fault("stall")), Say("b"), Say("c")]), concurrency=1)
    async with client(emulator) as http:
        async with http.stream("POST", "/chat/completions", json=request(stream=True)) as first:
            await anext(first.aiter_bytes())
            assert (await http.post("/chat/completions", json=request())).status_code == 429
        assert emulator.active == 0
        assert (await http.post("/chat/completions", json=request())).status_code == 200


@pytest.mark.parametrize("path", ["/chat/completions", "/v1/chat/completions", "/beta/chat/completions"])
async def test_the_chat_endpoint_has_its_three_addresses(path: str) -> None:
    assert (await post(Emulator(), request(), path)).status_code == 200


async def test_unknown_addresses_and_wrong_methods_are_refused() -> None:
    async with client(Emulator()) as http:
        assert (await http.get("/nope")).status_code == 404
        assert (await http.get("/chat/completions")).status_code == 405


@pytest.mark.parametrize("status", [401, 402, 413, 422, 429, 500, 503])
async def test_a_script_can_ask_for_any_refusal(status: int) -> None:
    fault = Fault("status", status=status, retry_after=2.5)
    reply = await post(Emulator(Script.of([Say(fault=fault), Say("then")])), request())
    assert reply.status_code == status
    assert reply.headers["retry-after"] == "2.5"
    assert reply.json()["error"]["message"]


async def test_listed_faults_do_not_use_up_an_answer() -> None:
    emulator = Emulator(Script.of([Say("one"), Say("two")]), faults=[Fault("status", status=503), None])
    assert (await post(emulator, request())).status_code == 503
    said = [(await post(emulator, request())).json()["choices"][0]["message"]["content"] for _ in range(2)]
    assert said == ["one", "two"]


async def test_every_request_is_remembered_with_its_usage() -> None:
    emulator = Emulator()
    await asyncio.gather(*(post(emulator, request()) for _ in range(3)))
    assert [seen.turn for seen in emulator.requests] == [1, 2, 3]
    assert all(seen.json == request() and seen.usage and seen.status == 200 for seen in emulator.requests)
    assert emulator.requests[0].at < emulator.requests[1].at


async def test_each_request_is_reported_once_when_its_reply_is_over() -> None:
    done: list[tuple[int, str]] = []
    script = Script.of([Say("a"), Say("b", fault=Fault("reset", at=0)), Say("c", fault=Fault("stall", at=0))])
    emulator = Emulator(script, on_done=lambda seen: done.append((seen.status, seen.fault)))
    async with client(emulator) as http:
        await http.post("/chat/completions", json=request(stream=True))
        with pytest.raises(httpx.ReadError):
            await http.post("/chat/completions", json=request(stream=True))
        async with http.stream("POST", "/chat/completions", json=request(stream=True)):
            assert len(done) == 2 and emulator.active == 1
        await http.post("/chat/completions", content=b"{")
        await http.get("/models")
    assert done == [(200, ""), (200, "reset"), (200, "stall"), (400, ""), (200, "")]
    assert emulator.active == 0


async def test_places_are_taken_when_a_request_is_accepted_not_when_it_is_read() -> None:
    emulator = Emulator(concurrency=2)
    replies = await asyncio.gather(
        *(emulator.handle("POST", "/chat/completions", {}, json.dumps(request()).encode()) for _ in range(3))
    )
    assert sorted(reply.status for reply in replies) == [200, 200, 429]
