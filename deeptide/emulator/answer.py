"""From a scripted `Say` to what this request actually gets: cut to max_tokens, with ids, finish and usage.

Invariant: the answer's parts, its finish reason and its usage agree with each other unless the script says
otherwise on purpose.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from deeptide.emulator.counting import Count
from deeptide.emulator.rules import thinking_on
from deeptide.emulator.says import Say, dsml
from deeptide.emulator.tables import DEFAULT_OUTPUT, DEFAULT_OUTPUT_THINKING


@dataclass(frozen=True)
class Answer:
    """`calls` are (id, name, arguments). `created` is Unix seconds. `usage` is the wire's object."""

    id: str
    created: int
    model: str
    thinks: bool
    thinking: str
    text: str
    calls: tuple[tuple[str, str, str], ...]
    finish: str
    usage: dict[str, Any]

    def message(self) -> dict[str, Any]:
        """The assistant message, as a client would send it back."""
        out: dict[str, Any] = {"role": "assistant", "content": self.text}
        if self.thinks:
            out["reasoning_content"] = self.thinking
        if self.calls:
            out["tool_calls"] = [
                {
                    "index": n,
                    "id": id_,
                    "type": "function",
                    "function": {"name": name, "arguments": arguments},
                }
                for n, (id_, name, arguments) in enumerate(self.calls)
            ]
        return out


def output_cap(request: dict[str, Any], room: int) -> int:
    """The request's max_tokens, or the default of its mode bounded by the `room` left in the window."""
    asked = request.get("max_tokens")
    if asked is not None:
        return int(asked)
    return min(DEFAULT_OUTPUT_THINKING if thinking_on(request) else DEFAULT_OUTPUT, room)


def answer(
    say: Say, request: dict[str, Any], *, salt: str, model: str, created: int, prompt: int, hit: int, cap: int,
    count: Count,
) -> Answer:  # fmt: skip
    """`salt` makes ids differ between answers. `prompt`, `hit`, `cap`: tokens."""
    thinks = thinking_on(request)
    text, calls = say.text, tuple(say.calls)
    if say.leak:
        text, calls = text + dsml(calls), ()
    budget = _Budget(cap, count)
    thinking = budget.take(say.thinking) if thinks else ""
    reasoning = budget.spent
    text = budget.take(text)
    finished = []
    for place, call in enumerate(calls):
        if not budget.left:
            break
        arguments = budget.take(call.arguments)
        finished.append((call.id or f"call_{place:02d}_{_digest(salt, place)}", call.name, arguments))
    natural = "length" if budget.short else "tool_calls" if finished else "stop"
    spent = max(1, budget.spent)
    return Answer(
        id=_uuid(salt),
        created=created,
        model=say.model or model,
        thinks=thinks,
        thinking=thinking,
        text=text,
        calls=tuple(finished),
        finish=say.finish or natural,
        usage=_usage(prompt, hit, spent, reasoning if thinks else None, say.usage),
    )


class _Budget:
    """Output tokens left; text over it is cut where they end."""

    def __init__(self, cap: int, count: Count) -> None:
        self.left = cap
        self.spent = 0
        self.short = False
        self._count = count

    def take(self, text: str) -> str:
        if not text:
            return text
        if not self.left:
            self.short = True
            return ""
        size = self._count(text)
        if size > self.left:
            self.short = True
            text = self._cut(text)
            size = self.left
        self.left -= size
        self.spent += size
        return text

    def _cut(self, text: str) -> str:
        low, high = 0, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            if self._count(text[:middle]) <= self.left:
                low = middle
            else:
                high = middle - 1
        return text[:low]


def _usage(
    prompt: int, hit: int, completion: int, reasoning: int | None, replaced: dict[str, int] | None
) -> dict[str, Any]:
    given = replaced or {}
    prompt = given.get("prompt_tokens", prompt)
    hit = given.get("prompt_cache_hit_tokens", min(hit, prompt))
    completion = given.get("completion_tokens", completion)
    usage: dict[str, Any] = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": hit},
        "prompt_cache_hit_tokens": hit,
        "prompt_cache_miss_tokens": prompt - hit,
    }
    if reasoning is not None:
        tokens = given.get("reasoning_tokens", reasoning)
        usage["completion_tokens_details"] = {"reasoning_tokens": tokens}
    return usage


def _digest(*parts: object) -> str:
    return hashlib.sha256(":".join(map(str, parts)).encode()).hexdigest()[:20]


def _uuid(salt: str) -> str:
    raw = hashlib.sha256(f"answer {salt}".encode()).hexdigest()
    return f"{raw[:8]}-{raw[8:12]}-4{raw[13:16]}-8{raw[17:20]}-{raw[20:32]}"
