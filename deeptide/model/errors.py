"""What can go wrong between us and the provider, one class for each thing a reader would do about it.

    ModelError
    └── ProviderError        `retryable`: the same request may succeed later      (exit 75 if so, else 1)
        ├── MissingKey       no key was given
        ├── AuthFailed       the key was refused
        ├── InsufficientBalance
        ├── Overflow         the request is longer than the model's window
        ├── BadRequest       the provider refused the request as it is
        ├── RateLimited      too many at once                                     retryable
        ├── ServerFault      the provider failed or is overloaded                 retryable
        ├── StreamCut        the answer stopped before its end                    retryable
        ├── MalformedAnswer  the answer came whole but cannot be used             retryable
        └── Offline          the provider was not reached                         retryable

Invariant: every error carries a message of what happened and an advice of what to do; `retryable` is a
property of the class, never of the occasion.
"""

from __future__ import annotations

from typing import ClassVar

from deeptide.protocol.errors import ModelError

TEMPORARY_FAILURE = 75
"""EX_TEMPFAIL of sysexits.h: a script may try again later."""


class ProviderError(ModelError):
    """`request_id` is the provider's id of the failed request, empty if it gave none."""

    retryable: ClassVar[bool] = False
    default_advice: ClassVar[str] = ""

    def __init__(self, message: str, advice: str = "", *, request_id: str = "") -> None:
        super().__init__(message, advice or self.default_advice)
        self.request_id = request_id

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.exit_code = TEMPORARY_FAILURE if cls.retryable else 1


class MissingKey(ProviderError):
    default_advice = (
        "Run `deeptide login`, or set DEEPSEEK_API_KEY. "
        "A key is made at https://platform.deepseek.com/api_keys."
    )


class AuthFailed(ProviderError):
    default_advice = "Check the key, or make a new one at https://platform.deepseek.com/api_keys."


class InsufficientBalance(ProviderError):
    default_advice = (
        "Top up at https://platform.deepseek.com/top_up, then send the message again; the session is kept."
    )


class Overflow(ProviderError):
    """`limit`: tokens the server allows, `requested`: tokens it counted (with the output cap). 0 if not
    said."""

    default_advice = "Use /compact to shorten the conversation, or /rewind to leave the last steps out."

    def __init__(
        self, message: str, advice: str = "", *, limit: int = 0, requested: int = 0, request_id: str = ""
    ) -> None:
        super().__init__(message, advice, request_id=request_id)
        self.limit = limit
        self.requested = requested


class BadRequest(ProviderError):
    default_advice = (
        "Nothing was lost. Try /rewind to before the last message; if it happens again, it is a defect."
    )


class RateLimited(ProviderError):
    """`retry_after`: seconds the server asks to wait, None if it did not say."""

    retryable = True
    default_advice = "Too many requests run on this key at once. Wait a little, then send the message again."

    def __init__(
        self, message: str, advice: str = "", *, retry_after: float | None = None, request_id: str = ""
    ) -> None:
        super().__init__(message, advice, request_id=request_id)
        self.retry_after = retry_after


class ServerFault(ProviderError):
    """`retry_after`: seconds the server asks to wait, None if it did not say."""

    retryable = True
    default_advice = "The provider has a fault or is overloaded. Send the message again in a while."

    def __init__(
        self, message: str, advice: str = "", *, retry_after: float | None = None, request_id: str = ""
    ) -> None:
        super().__init__(message, advice, request_id=request_id)
        self.retry_after = retry_after


class StreamCut(ProviderError):
    retryable = True
    default_advice = "What had arrived is shown but not part of the conversation. Send the message again."


class MalformedAnswer(ProviderError):
    retryable = True
    default_advice = "No tool was run from it. Send the message again, or try another model with /model."


class Offline(ProviderError):
    retryable = True
    default_advice = "Check the network, the proxy settings and the base URL. The session is kept."
