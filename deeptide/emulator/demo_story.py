"""The demo's one story: the repair of the sample project, step by step, told from the history alone.

Invariant: nothing is claimed that a result in the history does not show; a call that was denied or failed
changes what is said next.
"""

from __future__ import annotations

import re
from typing import Any

from deeptide.emulator.demo_sample import DISCOUNT_FIX, TEST_COMMAND
from deeptide.emulator.demo_words import Language
from deeptide.emulator.says import Call, Say
from deeptide.emulator.script import last_user_text

Messages = list[dict[str, Any]]

ERROR = "[ERROR] "
"""How the agent marks the result of a call that failed or was not allowed."""
NOT_DONE = ("The user denied", "Not allowed", "Cancelled", "What this call would touch changed")
_NOTE = re.compile(r"^(Today is |Git: |Mode: |Context \d+ % full|\[|Instructions from |<)")
_ABOUT_TESTS = re.compile(
    r"\b(fix(es|ed|ing)?|repair|tests?|testing|fail(s|ed|ing|ure)?|bugs?|broken|debug)\b"
    r"|修|测试|失败|报错|出错|错误|缺陷|故障",
    re.IGNORECASE,
)
_QUOTE = 160


class Scene:
    """Where the story stands. `on`: it is being told. `words`: what the user said last, and `fresh` whether
    nothing was answered to it yet. `told`: its calls, by name and arguments, with what came back."""

    def __init__(self, messages: Messages) -> None:
        self.on = self.fresh = False
        self.words = ""
        self.told: dict[tuple[str, str], str] = {}
        self._open: dict[str, tuple[str, str]] = {}
        for message in messages:
            match message["role"]:
                case "assistant":
                    self._answered(message.get("tool_calls") or [])
                case "tool":
                    key = self._open.get(message["tool_call_id"])
                    if key is not None:
                        self.told[key] = str(message["content"]).removeprefix(ERROR)
                case "user":
                    self._heard(user_words(message))

    def _answered(self, calls: list[dict[str, Any]]) -> None:
        self.fresh = False
        self._open = {call["id"]: (call["function"]["name"], call["function"]["arguments"]) for call in calls}
        # A history without the prompt, but with the calls: a compaction inside the turn took the prompt.
        self.on = bool(calls)
        if not calls:
            self.told = {}

    def _heard(self, words: str) -> None:
        if not words:
            return
        self.words, self.fresh = words, True
        stopped = any(result.startswith(NOT_DONE) for result in self.told.values())
        if not self.on or not self.told or stopped:
            self.on, self.told = bool(_ABOUT_TESTS.search(words)), {}


def user_words(message: dict[str, Any]) -> str:
    """What the user wrote; empty for notes, summaries and messages of others."""
    if message["role"] != "user":
        return ""
    text = last_user_text({"messages": [message]})
    return "" if _NOTE.match(text) or is_summary(message) else text


def is_summary(message: dict[str, Any]) -> bool:
    """A summary, or the seed of a cycle."""
    text = last_user_text({"messages": [message]}) if message["role"] == "user" else ""
    return "[context-summary]" in text or "<carry_forward>" in text


def next_step(scene: Scene, texts: dict[str, str], language: Language) -> Say | None:
    """What is said next, or None when the story is not being told."""
    if not scene.on:
        return None
    steps = _steps(texts, language)
    results = [scene.told.get((step.calls[-1].name, step.calls[-1].arguments)) for step in steps]
    reached = max((place for place, result in enumerate(results) if result is not None), default=-1)
    if reached == len(steps) - 1:
        return Say(texts["final"], texts["think_final"])
    return _turned(reached, results[reached] or "", texts, language) or steps[reached + 1]


def _turned(reached: int, result: str, texts: dict[str, str], language: Language) -> Say | None:
    """Where the result of a step leads away from the straight story, what is said then."""
    match reached:
        case 1 if passed(result):
            return Say(texts["already"], texts["think_refused"])
        case 1 if "FAILED" not in result:
            return Say(_quoting(texts["read_blind"], result), texts["think_read"], _look(language))
        case 2 if DISCOUNT_FIX["old"].strip() not in result:
            name = "fixed_code" if DISCOUNT_FIX["new"].strip() in result else "unread"
            return Say(_quoting(texts[name], result), texts["think_refused"])
        case 3 if not edited(result):
            name = "refused" if result.startswith(NOT_DONE) else "edit_failed"
            return Say(_quoting(texts[name], result), texts["think_refused"])
        case 4 if not passed(result):
            name = "still_failing" if "FAILED" in result else "unchecked"
            return Say(_quoting(texts[name], result), texts["think_refused"])
    return None


def edited(result: str) -> bool:
    return bool(re.match(r"\[basket/price\.py · edited ", result))


def passed(result: str) -> bool:
    """Whether unittest says that all tests passed."""
    return bool(re.search(r"^OK\b", result, re.MULTILINE)) and "FAILED" not in result


def _quoting(text: str, result: str) -> str:
    line = next((line.strip() for line in result.split("\n") if line.strip()), "-")
    return text.format(result=line if len(line) <= _QUOTE else line[: _QUOTE - 1] + "…")


# ---- the straight story ----------------------------------------------------------------------------------


def _steps(texts: dict[str, str], language: Language) -> tuple[Say, ...]:
    check = Call("shell", {"command": TEST_COMMAND, "timeout_s": 60})
    return (
        Say(
            texts["start"],
            texts["think_start"],
            (_todo(language, 0), Call("list", {}), Call("read", {"path": "tests/test_price.py"})),
        ),
        Say(texts["run"], texts["think_run"], (Call("shell", {"command": TEST_COMMAND}),)),
        Say(texts["read"], texts["think_read"], _look(language)),
        Say(
            texts["edit"],
            texts["think_edit"],
            (Call("edit", {"path": "basket/price.py", "edits": [DISCOUNT_FIX]}),),
        ),
        Say(texts["check"], texts["think_check"], (check,)),
        Say(texts["done"], texts["think_done"], (_todo(language, 3),)),
    )


_PLAN: dict[Language, tuple[str, ...]] = {
    "en": ("See which test fails and why", "Fix the cause in basket/price.py", "Run all tests again"),
    "zh": ("看哪个测试失败、为什么", "在 basket/price.py 里修好原因", "再运行全部测试"),
}


def _look(language: Language) -> tuple[Call, ...]:
    return (_todo(language, 1), Call("read", {"path": "basket/price.py"}))


def _todo(language: Language, done: int) -> Call:
    def status(place: int) -> str:
        return "completed" if place < done else "in_progress" if place == done else "pending"

    items = [{"text": text, "status": status(place)} for place, text in enumerate(_PLAN[language])]
    return Call("todo", {"items": items})
