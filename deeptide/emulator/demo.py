"""The script behind `deeptide demo`: one believable repair of the sample project, then small talk.

It tells the story from the request alone (which of its calls are in the history, what came back), so undo,
rewind, compaction and a restart all find it where the talk really stands. Writing "fill" in a prompt brings a
long answer, so that the warnings of a small window can be seen.

Invariant: a summary or a hand-off that is asked for is always given in the wanted form.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from deeptide.emulator.demo_sample import DISCOUNT_FIX, SAMPLE, TEST_COMMAND
from deeptide.emulator.demo_words import WORDS, Language
from deeptide.emulator.says import Call, Say, Wire
from deeptide.emulator.script import last_user_text

__all__ = ["SAMPLE", "demo_script"]

_CJK = re.compile(r"[\u3400-\u9fff]")
_NOTE = re.compile(r"^(Today is |Git: |Mode: |Context \d+ % full|\[|Instructions from |<)")
_NOT_DONE = ("The user denied", "Not allowed", "Cancelled")
FILL_LINES = 185

Messages = list[dict[str, Any]]


def demo_script(delay: float = 0.012) -> Callable[[dict[str, Any], int], Say]:
    """The script. `delay`: seconds before each delta of four characters."""

    def script(request: dict[str, Any], n: int) -> Say:
        say = _choose(request["messages"], last_user_text(request))
        pace = delay if len(say.text) < 5_000 else 0.0
        return Say(say.text, say.thinking, say.calls, delay=pace, wire=Wire(chunk=4 if pace else 64))

    return script


def _choose(messages: Messages, said: str) -> Say:
    asked = messages[-1]["role"] == "user" and not said.startswith("[context-summary]")
    words = _user_words(messages, said)
    language: Language = "zh" if _CJK.search(words[-1] if words else "") else "en"
    texts = WORDS[language]
    if asked and ("CONTEXT CHECKPOINT COMPACTION" in said or "## Briefing Request" in said or
                  "used as the briefing" in said):  # fmt: skip
        briefing = texts["briefing"].format(words=_quoted(words) or texts["words_unseen"])
        return Say(f"<carry_forward>\n{briefing}\n</carry_forward>", texts["think_summary"])
    if asked and "## Goal" in said and "Dead Ends" in said:
        return Say(_summary(messages, texts, words), texts["think_summary"])
    if asked and re.search(r"\bfill\b", said, re.IGNORECASE):
        return Say(_long_answer(texts), texts["think_fill"])
    return _story(messages, texts, language) or _small_talk(texts, len(words))


# ---- the story -----------------------------------------------------------------------------------------


def _steps(texts: dict[str, str], language: Language) -> tuple[Say, ...]:
    return (
        Say(
            texts["start"],
            texts["think_start"],
            (
                _todo(language, 0),
                Call("list", {}),
                Call("read", {"path": "tests/test_price.py"}),
            ),
        ),
        Say(texts["run"], texts["think_run"], (Call("shell", {"command": TEST_COMMAND}),)),
        Say(
            texts["read"],
            texts["think_read"],
            (_todo(language, 1), Call("read", {"path": "basket/price.py"})),
        ),
        Say(
            texts["edit"],
            texts["think_edit"],
            (Call("edit", {"path": "basket/price.py", "edits": [DISCOUNT_FIX]}),),
        ),
        Say(
            texts["check"], texts["think_check"], (Call("shell", {"command": TEST_COMMAND, "timeout_s": 60}),)
        ),
        Say(texts["done"], texts["think_done"], (_todo(language, 3),)),
    )


_PLAN: dict[Language, tuple[str, ...]] = {
    "en": ("See which test fails and why", "Fix the cause in basket/price.py", "Run all tests again"),
    "zh": ("看哪个测试失败、为什么", "在 basket/price.py 里修好原因", "再运行全部测试"),
}


def _todo(language: Language, done: int) -> Call:
    def status(place: int) -> str:
        return "completed" if place < done else "in_progress" if place == done else "pending"

    items = [{"text": text, "status": status(place)} for place, text in enumerate(_PLAN[language])]
    return Call("todo", {"items": items})


def _story(messages: Messages, texts: dict[str, str], language: Language) -> Say | None:
    """The next step of the repair, or None when it is over or the talk is about something else."""
    told = _told(messages)
    if not told and any(message["role"] == "assistant" or _is_summary(message) for message in messages):
        return None
    last = next((message for message in reversed(messages) if message["role"] == "assistant"), None)
    if last is not None and not last.get("tool_calls"):
        return None
    steps = _steps(texts, language)
    edited, checked = told.get(_key(steps[3])), told.get(_key(steps[4]))
    if edited is not None and edited.startswith(_NOT_DONE):
        return Say(texts["refused"], texts["think_refused"])
    if checked is not None and not re.search(r"\bOK\b", checked):
        return Say(texts["unchecked"], texts["think_refused"])
    for step in steps:
        if _key(step) not in told:
            return step
    return Say(texts["final"], texts["think_final"])


def _key(step: Say) -> tuple[str, str]:
    return step.calls[-1].name, step.calls[-1].arguments


def _told(messages: Messages) -> dict[tuple[str, str], str]:
    """The calls in the history, by name and arguments, with what came back."""
    results = {
        message["tool_call_id"]: message["content"] for message in messages if message["role"] == "tool"
    }
    return {
        (call["function"]["name"], call["function"]["arguments"]): results.get(call["id"], "")
        for message in messages
        for call in message.get("tool_calls") or []
    }


# ---- what else is asked ----------------------------------------------------------------------------------


def _small_talk(texts: dict[str, str], n: int) -> Say:
    return Say(texts[f"generic_{n % 2}"], texts["think_generic"])


def _long_answer(texts: dict[str, str]) -> str:
    line = texts["fill_line"]
    rows = (
        line.format(n=n, a=n * 37 % 211, b=n * 13 % 29 + 1, c=n * 7919 % 99_991, d=n * 5 % 60)
        for n in range(1, FILL_LINES + 1)
    )
    return texts["fill_intro"] + "```\n" + "".join(rows) + "```\n" + texts["fill_end"]


def _summary(messages: Messages, texts: dict[str, str], words: list[str]) -> str:
    fixed = any(
        name == "edit" and not result.startswith(_NOT_DONE) for (name, _), result in _told(messages).items()
    ) or any(_is_summary(message) and texts["done_fix"] in _text(message) for message in messages)
    parts = (
        ("## Goal", texts["goal"].format(words=_quoted(words) or texts["words_unseen"])),
        ("## Constraints", texts["constraints"]),
        ("## Progress\n### Done", texts["done_fix"] if fixed else texts["done_none"]),
        ("### In Progress", texts["done_none"]),
        ("### Blocked", texts["done_none"]),
        ("## Key Decisions", texts["decisions"]),
        ("## Dead Ends", texts["dead_ends"]),
        ("## Next step", texts["next"]),
    )
    return "\n\n".join(f"{heading}\n{body}" for heading, body in parts)


def _user_words(messages: Messages, said: str) -> list[str]:
    """What the user wrote, oldest first; notes, summaries and instructions left out."""
    asking = "## Goal" in said or "CONTEXT CHECKPOINT" in said or "## Briefing Request" in said
    own = messages[:-1] if asking else messages
    texts = [_text(message) for message in own if not _is_summary(message)]
    return [text for text in texts if text and not _NOTE.match(text)]


def _quoted(words: list[str]) -> str:
    return "; ".join(" ".join(text.split())[:120] for text in words[-3:])


def _is_summary(message: dict[str, Any]) -> bool:
    """A summary, or the seed of a cycle."""
    return any(mark in _text(message) for mark in ("[context-summary]", "<carry_forward>"))


def _text(message: dict[str, Any]) -> str:
    return last_user_text({"messages": [message]}) if message["role"] == "user" else ""
