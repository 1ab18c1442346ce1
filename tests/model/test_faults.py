"""Statuses and bodies read into errors."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.model import errors
from deeptide.model.faults import described, from_status, from_stream, retry_after
from tests.deep import count

OVERFLOW = (
    "This model's maximum context length is 1048565 tokens. However, you requested 1551241 tokens "
    "(1543241 in the messages, 8000 in the completion). Please reduce the length of the messages or completion."
)


def envelope(message: str, kind: str = "invalid_request_error") -> dict:
    return {"error": {"message": message, "type": kind, "param": None, "code": kind}}


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (400, envelope("The `reasoning_content` must be passed back to the API."), errors.BadRequest),
        (400, envelope(OVERFLOW), errors.Overflow),
        (400, envelope("Insufficient Balance"), errors.InsufficientBalance),
        (429, envelope("You exceeded your current quota", "insufficient_quota"), errors.InsufficientBalance),
        (400, envelope("账户余额不足"), errors.InsufficientBalance),
        (401, envelope("Authentication Fails"), errors.AuthFailed),
        (402, envelope("Insufficient Balance"), errors.InsufficientBalance),
        (403, "forbidden", errors.AuthFailed),
        (404, "<html><title>404 Not Found</title></html>", errors.BadRequest),
        (413, "", errors.Overflow),
        (422, envelope("bad parameter"), errors.BadRequest),
        (429, envelope("too many"), errors.RateLimited),
        (500, None, errors.ServerFault),
        (503, envelope("Service is too busy"), errors.ServerFault),
        (529, "overloaded", errors.ServerFault),
    ],
)  # fmt: skip
def test_a_status_and_its_words_name_the_error(status: int, body: object, expected: type) -> None:
    error = from_status(status, body, {}, request_id="r1")
    assert type(error) is expected
    assert error.advice and str(error) and error.request_id == "r1"


@pytest.mark.parametrize(
    ("words", "limit", "requested"),
    [
        (OVERFLOW, 1_048_565, 1_551_241),
        ("request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096, 5000),
        ("max_tokens is too large: 64000. This model's maximum context length is 40960 tokens and your request has "
         "16000 input tokens", 40_960, 16_000),
        ("prompt is too long", 0, 0),
    ],
)  # fmt: skip
def test_an_overflow_carries_the_servers_numbers(words: str, limit: int, requested: int) -> None:
    error = from_status(400, envelope(words), {})
    assert isinstance(error, errors.Overflow)
    assert (error.limit, error.requested) == (limit, requested)


def test_the_place_of_a_refused_key_is_named() -> None:
    assert "DEEPSEEK_API_KEY" in str(from_status(401, "no", {}, key_source="DEEPSEEK_API_KEY"))


def test_an_unknown_model_and_a_wrong_address_get_their_own_advice() -> None:
    assert "/model" in from_status(400, envelope("Model Not Exist"), {}).advice
    assert "http://localhost/x" in from_status(404, "nope", {}, url="http://localhost/x").advice


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"error": {"message": OVERFLOW}}, errors.Overflow),
        ({"error": {"message": "slow down", "code": 429}}, errors.RateLimited),
        ({"error": {"message": "bad", "type": "invalid_request_error"}}, errors.BadRequest),
        ({"error": {"message": "server overloaded"}}, errors.ServerFault),
        ({"error": "boom"}, errors.ServerFault),
        ({"error": {"code": "502"}}, errors.ServerFault),
    ],
)
def test_an_error_inside_a_stream_is_read_by_its_words_and_code(body: object, expected: type) -> None:
    assert type(from_stream(body)) is expected


NOW = datetime(2026, 11, 25, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Wed, 25 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Wed, 25 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_the_wait_a_server_asks_for_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


def test_retryable_errors_end_a_script_with_75_and_others_with_1() -> None:
    for leaf in errors.ProviderError.__subclasses__():
        assert leaf.exit_code == (75 if leaf.retryable else 1)
        assert leaf("what happened").advice


def test_a_web_page_is_named_by_its_title_and_controls_are_cleaned() -> None:
    assert described("<!doctype html><title> 502 Bad\nGateway </title>") == "502 Bad Gateway"
    assert described({"error": {"message": "a\x1b[31m\nb"}}) == "a b"
    assert len(described("x" * 9000)) < 600


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["error", "message", "code", "type", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=count(200, 5000), deadline=None)
@given(st.integers(300, 599), JSON)
def test_any_body_gives_one_error(status: int, body: object) -> None:
    for error in (from_status(status, body, {"retry-after": "x"}), from_stream(body)):
        assert isinstance(error, errors.ProviderError)
        assert str(error) and error.advice
