"""Every way the service says no, in its own words.

Invariant: a refusal is raised as `Refused` and becomes the documented envelope
`{"error": {"message", "type", "param": null, "code"}}`; texts are the service's, to the letter where known.
"""

from __future__ import annotations

import json

_INVALID = "invalid_request_error"


class Refused(Exception):
    """`headers` are added to the reply (Retry-After)."""

    def __init__(
        self, status: int, message: str, kind: str = _INVALID, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.kind = kind
        self.headers = headers or {}

    def body(self) -> bytes:
        error = {"message": self.message, "type": self.kind, "param": None, "code": _INVALID}
        return json.dumps({"error": error}, ensure_ascii=False).encode("utf-8", "replace")


def invalid(message: str) -> Refused:
    return Refused(400, message)


def not_json(detail: str) -> Refused:
    return Refused(400, f"Failed to parse the request body as JSON: {detail}")


def bad_shape(detail: str, status: int = 400) -> Refused:
    return Refused(status, f"Failed to deserialize the JSON body into the target type: {detail}")


def no_auth_header() -> Refused:
    text = "Authentication Fails (auth header format should be Bearer sk-...)"
    return Refused(401, text, "authentication_error")


def bad_key(key: str) -> Refused:
    shown = "****" + key[-4:]
    text = f"Authentication Fails, Your api key: {shown} is invalid"
    return Refused(401, text, "authentication_error")


def no_balance() -> Refused:
    return Refused(402, "Insufficient Balance", "unknown_error")


def too_many(limit: int, retry_after: float | None = None) -> Refused:
    headers = {} if retry_after is None else {"retry-after": f"{retry_after:g}"}
    text = f"Too many concurrent requests: the limit of your account is {limit}. Please try again later."
    return Refused(429, text, "rate_limit_error", headers)


def of_status(status: int, message: str = "", retry_after: float | None = None) -> Refused:
    """The refusal a script asks for by number; `message` replaces the service's own text."""
    texts = {
        401: ("Authentication Fails (governor)", "authentication_error"),
        402: ("Insufficient Balance", "unknown_error"),
        413: ("Request Entity Too Large", _INVALID),
        422: ("Invalid parameters", _INVALID),
        429: ("Rate limit reached: too many concurrent requests", "rate_limit_error"),
        500: ("Internal Server Error", "internal_server_error"),
        503: ("Service is too busy. Please retry after a brief wait.", "service_unavailable_error"),
    }
    text, kind = texts.get(status, (f"HTTP {status}", _INVALID))
    headers = {} if retry_after is None else {"retry-after": f"{retry_after:g}"}
    return Refused(status, message or text, kind, headers)


def model_unknown() -> Refused:
    return invalid("Model Not Exist")


def too_long(window: int, prompt: int, completion: int) -> Refused:
    return invalid(
        f"This model's maximum context length is {window} tokens. However, you requested "
        f"{prompt + completion} tokens ({prompt} in the messages, {completion} in the completion). "
        "Please reduce the length of the messages or completion."
    )


def max_tokens_range(top: int) -> Refused:
    return invalid(f"Invalid max_tokens value, the valid range of max_tokens is [1, {top}]")


def reasoning_missing() -> Refused:
    return invalid("The `reasoning_content` in the thinking mode must be passed back to the API.")


def choice_in_thinking() -> Refused:
    return invalid("Thinking mode does not support this tool_choice")


def calls_unanswered() -> Refused:
    return invalid(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
        "'tool_call_id'. (insufficient tool messages following tool_calls message)"
    )


def orphan_result() -> Refused:
    return invalid("Messages with role 'tool' must be a response to a preceding message with 'tool_calls'")


def nothing_said() -> Refused:
    return invalid("Invalid assistant message: content or tool_calls must be set")
