"""The script behind `deeptide demo`: one believable repair of the sample project, and else what can be tried.

It tells the story from the request alone (which of its calls are in the history, what came back), so undo,
rewind, compaction and a restart all find it where the talk really stands. The story starts only for words
about fixing or tests. Writing "fill" in a prompt brings a long answer, so that the warnings of a small window
can be seen.

Invariant: a summary or a hand-off that is asked for is always given in the wanted form, and says of the work
no more than the history shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from deeptide.emulator.demo_sample import SAMPLE
from deeptide.emulator.demo_story import Messages, Scene, edited, next_step, passed, user_words
from deeptide.emulator.demo_words import HINT, WORDS, Language
from deeptide.emulator.says import Say, Wire
from deeptide.emulator.script import last_user_text

__all__ = ["SAMPLE", "demo_hint", "demo_script"]

_CJK = re.compile(r"[\u3400-\u9fff]")
_FILL = re.compile(r"\bfill\b|填满|塞满|装满", re.IGNORECASE)
FILL_LINES = 185


def demo_hint() -> str:
    """Two lines of plain text for the front end's welcome: that this is a script, and what to type."""
    return HINT


def demo_script(delay: float = 0.012) -> Callable[[dict[str, Any], int], Say]:
    """The script. `delay`: seconds before each delta of four characters."""

    def script(request: dict[str, Any], n: int) -> Say:
        say = _choose(request["messages"], last_user_text(request))
        pace = delay if len(say.text) < 5_000 else 0.0
        return Say(say.text, say.thinking, say.calls, delay=pace, wire=Wire(chunk=4 if pace else 64))

    return script


def _choose(messages: Messages, said: str) -> Say:
    asked = messages[-1]["role"] == "user" and not said.startswith("[context-summary]")
    words = _all_words(messages, said)
    language: Language = "zh" if _CJK.search(words[-1] if words else "") else "en"
    texts = WORDS[language]
    if asked and ("CONTEXT CHECKPOINT COMPACTION" in said or "## Briefing Request" in said or
                  "used as the briefing" in said):  # fmt: skip
        briefing = _briefing(messages, texts).format(words=_quoted(words) or texts["words_unseen"])
        return Say(f"<carry_forward>\n{briefing}\n</carry_forward>", texts["think_summary"])
    if asked and "## Goal" in said and "Dead Ends" in said:
        return Say(_summary(messages, texts, words), texts["think_summary"])
    scene = Scene(messages)
    if scene.fresh and _FILL.search(scene.words):
        return Say(_long_answer(texts), texts["think_fill"])
    return next_step(scene, texts, language) or _guide(texts, len(words))


# ---- what else is asked ----------------------------------------------------------------------------------


def _guide(texts: dict[str, str], n: int) -> Say:
    return Say(texts["guide" if n <= 1 else "guide_again"], texts["think_guide"])


def _long_answer(texts: dict[str, str]) -> str:
    line = texts["fill_line"]
    rows = (
        line.format(n=n, a=n * 37 % 211, b=n * 13 % 29 + 1, c=n * 7919 % 99_991, d=n * 5 % 60)
        for n in range(1, FILL_LINES + 1)
    )
    return texts["fill_intro"] + "```\n" + "".join(rows) + "```\n" + texts["fill_end"]


def _work(messages: Messages) -> str:
    """`done_fix`, `done_edit` or `done_none`: what the history shows of the repair."""
    seen = {name for name in ("done_fix", "done_edit") for message in messages if _summed(message, name)}
    changed, proved = bool(seen), "done_fix" in seen
    for message in messages:
        if message["role"] == "tool":
            result = str(message["content"])
            changed, proved = changed or edited(result), proved or (changed and passed(result))
    return "done_fix" if proved else "done_edit" if changed else "done_none"


def _summed(message: dict[str, Any], name: str) -> bool:
    """Whether an earlier summary, as a message of its own or inside a request for a briefing, says so."""
    text = last_user_text({"messages": [message]}) if message["role"] == "user" else ""
    return any(texts[name] in text for texts in WORDS.values())


def _briefing(messages: Messages, texts: dict[str, str]) -> str:
    work = _work(messages)
    return texts["briefing_none" if work == "done_none" else "briefing"].replace("{work}", texts[work])


def _summary(messages: Messages, texts: dict[str, str], words: list[str]) -> str:
    work = _work(messages)
    parts = (
        ("## Goal", texts["goal"].format(words=_quoted(words) or texts["words_unseen"])),
        ("## Constraints", texts["constraints"]),
        ("## Progress\n### Done", texts[work]),
        ("### In Progress", texts["done_none"]),
        ("### Blocked", texts["done_none"]),
        ("## Key Decisions", texts["done_none" if work == "done_none" else "decisions"]),
        ("## Dead Ends", texts["dead_ends"]),
        ("## Next step", texts["next"]),
    )
    return "\n\n".join(f"{heading}\n{body}" for heading, body in parts)


def _all_words(messages: Messages, said: str) -> list[str]:
    """What the user wrote, oldest first; notes, summaries and instructions left out."""
    asking = "## Goal" in said or "CONTEXT CHECKPOINT" in said or "## Briefing Request" in said
    own = messages[:-1] if asking else messages
    return [text for message in own if (text := user_words(message))]


def _quoted(words: list[str]) -> str:
    return "; ".join(" ".join(text.split())[:120] for text in words[-3:])
