"""An HTTP status and an error body, read into the error a person can act on.

Providers and gateways agree on little: quota errors come as 400, overflow as 400 or 413, faults inside a
stream have no status at all. So the words of the message are read before the status is believed.

Invariant: any status with any body gives exactly one ProviderError; nothing here raises.
"""

from __future__ import annotations

import email.utils
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from deeptide.model.errors import (
    AuthFailed,
    BadRequest,
    InsufficientBalance,
    Overflow,
    ProviderError,
    RateLimited,
    ServerFault,
)
from deeptide.protocol.text import clean

_OVERFLOW = re.compile(
    r"maximum context length|context[_ ](?:length|window|size)[^.]{0,40}exceed"
    r"|exceeds? the (?:available )?context|context_length_exceeded|prompt is too long|input is too long"
    r"|too many tokens|上下文.{0,12}(?:超|过长)",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"(?:maximum context length|context (?:length|window|size))\D{0,30}?(\d{3,})", re.IGNORECASE
)
_REQUESTED = re.compile(
    r"(?:requested|resulted in|your request has|request \(|prompt (?:contains|has)|n_prompt_tokens\D{1,4})\s*(\d{2,})",
    re.IGNORECASE,
)
_BALANCE = re.compile(
    r"insufficient[_ ](?:balance|quota|funds|credit)|exceeded your current quota|quota[_ ]exceeded"
    r"|billing[_ ]hard[_ ]limit|plan and billing|arrears|余额|欠费|额度(?:不足|已用)",
    re.IGNORECASE,
)
_AUTH = re.compile(
    r"authentication fails|(?:invalid|incorrect)[_ ]api[_ ]?key|api key[^.]{0,40}invalid", re.IGNORECASE
)
_UNKNOWN_MODEL = re.compile(
    r"model not exist|model_not_found|model [^.]{0,80}(?:not found|does not exist)", re.IGNORECASE
)
_OUTPUT_CAP = re.compile(r"invalid max_tokens|max_(?:completion_)?tokens[^.]{0,40}too large", re.IGNORECASE)
_TRANSIENT = frozenset({408, 409, 425, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
_BUSY = re.compile(r"overload|too busy|temporarily unavailable|try again later|繁忙", re.IGNORECASE)
LONGEST_QUOTE = 500
"""Characters of a provider's own words that an error message repeats."""


def described(body: object) -> str:
    """The provider's own words from an error body (JSON value or text), on one line, at most
    LONGEST_QUOTE."""
    found = _message(body)
    if found.lstrip()[:1] == "<":
        title = re.search(r"<title[^>]*>([^<]*)", found, re.IGNORECASE)
        found = title[1] if title else "an HTML page"
    text = " ".join(clean(found).split())
    return text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + "…"


def _message(body: object) -> str:
    if isinstance(body, Mapping):
        for key in ("error", "message", "msg", "detail", "error_msg"):
            if body.get(key):
                return _message(body[key])
        return json.dumps(body, ensure_ascii=False, default=str)
    if isinstance(body, str):
        return body
    return "" if body is None else json.dumps(body, ensure_ascii=False, default=str)


def _words(body: object) -> str:
    """Message, type and code in one text to look for known words in."""
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        inner = inner if isinstance(inner, Mapping) else body
        return " ".join(str(part) for part in (_message(body), inner.get("type"), inner.get("code")))
    return _message(body)


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds to wait by `retry-after-ms` or `Retry-After` (number or HTTP date), None if absent or
    unreadable.

    Source: RFC 9110 section 10.2.3.
    """
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return max(0.0, float(milliseconds) / 1000)
        value = headers.get("retry-after", "").strip()
        if not value:
            return None
        if re.fullmatch(r"\d+(\.\d+)?", value):
            return float(value)
        when = email.utils.parsedate_to_datetime(value)
        return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def from_words(body: object, *, request_id: str = "") -> ProviderError | None:
    """The error that the words of a body name by themselves, whatever the status."""
    words = _words(body)
    said = described(body)
    if _OVERFLOW.search(words):
        limit, requested = _number(_LIMIT, words), _number(_REQUESTED, words)
        return Overflow(
            f"The request does not fit the model's window: {said}",
            limit=limit,
            requested=requested,
            request_id=request_id,
        )
    if _BALANCE.search(words):
        return InsufficientBalance(f"The account cannot pay for the request: {said}", request_id=request_id)
    if _AUTH.search(words):
        return AuthFailed(f"The provider refused the key: {said}", request_id=request_id)
    return None


def _number(pattern: re.Pattern[str], words: str) -> int:
    found = pattern.search(words)
    return int(found[1]) if found else 0


def from_status(
    status: int,
    body: object,
    headers: Mapping[str, str],
    *,
    request_id: str = "",
    key_source: str = "",
    url: str = "",
) -> ProviderError:
    """The error for a response that is not 200. `headers` is looked up in lower case."""
    said = described(body) or "no explanation"
    whose = f" (key from {key_source})" if key_source else ""
    if status in (401, 403):
        what = "the key" if status == 401 else "access"
        return AuthFailed(f"The provider refused {what}{whose}: {said}", request_id=request_id)
    if status == 402:
        return InsufficientBalance(f"The account cannot pay for the request: {said}", request_id=request_id)
    known = from_words(body, request_id=request_id)
    if isinstance(known, Overflow) or (known is not None and status < 500):
        return known
    wait = retry_after(headers)
    if status == 429:
        return RateLimited(
            f"The provider says that too many requests run: {said}", retry_after=wait, request_id=request_id
        )
    if status in _TRANSIENT:
        return ServerFault(
            f"The provider failed with HTTP {status}: {said}", retry_after=wait, request_id=request_id
        )
    if status == 413:
        return Overflow(
            f"The request is too large for the provider or a proxy: {said}", request_id=request_id
        )
    return BadRequest(_refusal(status, said), _advice(status, body, url), request_id=request_id)


def _refusal(status: int, said: str) -> str:
    return f"The provider refused the request with HTTP {status}: {said}"


def _advice(status: int, body: object, url: str) -> str:
    if _UNKNOWN_MODEL.search(_words(body)):
        return "Choose a model that the provider knows with /model, such as deepseek-flash."
    if _OUTPUT_CAP.search(_words(body)):
        return "Set `max_output` for this model under [models] in the configuration to the number it allows."
    if status in (404, 405) and url:
        return f"Check the base URL and the model; the request went to {url}."
    return ""


def from_stream(body: object, *, request_id: str = "") -> ProviderError:
    """The error for an error object that came inside a stream, where the status was already 200."""
    known = from_words(body, request_id=request_id)
    if known is not None:
        return known
    status = _status_in(body)
    if status:
        return from_status(status, body, {}, request_id=request_id)
    return ServerFault(
        f"The provider broke off the answer: {described(body) or 'no explanation'}", request_id=request_id
    )


def _status_in(body: object) -> int:
    inner: Any = body.get("error", body) if isinstance(body, Mapping) else None
    if not isinstance(inner, Mapping):
        return 0
    for key in ("code", "status", "status_code"):
        value = inner.get(key)
        if isinstance(value, str) and value.isdecimal():
            value = int(value)
        if isinstance(value, int) and 400 <= value <= 599:
            return value
    if _BUSY.search(_words(body)):
        return 503
    return 400 if inner.get("type") == "invalid_request_error" else 0
