"""Things the model says that are no answer: its own tool markup as text, or our placeholder read back.

The provider turns the model's tool markup (DSML) into structured calls; sometimes some of it slips through as
text, nothing runs, and the model goes on as if it had. The placeholder that `wire` sends for missing
reasoning may be echoed. Neither may be shown, so text is held back as long as it could be the start of one.

Invariant: what comes out is the same however the text was cut; what is held back at the end is given out.
"""

from __future__ import annotations

import re

_MARKUP = re.compile(r"</?[｜|]DSML[｜|](?:tool_calls|function_calls|invoke)|<｜tool▁calls?▁begin｜>")
_NAMES = ("tool_calls", "function_calls", "invoke")
_WHOLE = (
    *(f"{opening}{bar}DSML{bar}{name}" for opening in ("<", "</") for bar in "｜|" for name in _NAMES),
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
)
_LONGEST = max(map(len, _WHOLE))
_PREFIXES = frozenset(whole[:size] for whole in _WHOLE for size in range(1, len(whole)))


class Echo:
    """Drops `placeholder` from the start of a text that comes in pieces (blanks around it go with it)."""

    def __init__(self, placeholder: str) -> None:
        self._placeholder = placeholder
        self._held: str | None = ""

    def feed(self, text: str) -> str:
        if self._held is None:
            return text
        held = self._held + text
        body = held.lstrip()
        if body.startswith(self._placeholder):
            rest = body[len(self._placeholder) :].lstrip()
            if not rest:
                self._held = held
                return ""
            self._held = None
            return rest
        if self._placeholder.startswith(body):
            self._held = held
            return ""
        self._held = None
        return held

    def close(self) -> str:
        """What was held back and turned out to be no echo. Without anything held back the watch goes on."""
        if not self._held:
            return ""
        held, self._held = self._held, None
        return "" if held.strip() == self._placeholder else held


class Markup:
    """Passes text on until tool markup starts outside a code fence; from there on all is withheld.

    `leaked` says whether that happened. Markup inside a fence, or quoted in a line of prose, is talk about
    markup.
    """

    def __init__(self) -> None:
        self._said: list[str] = []
        self._held = ""
        self.leaked = False

    def feed(self, text: str) -> str:
        if self.leaked:
            return ""
        text = self._held + text
        start = 0
        for found in _MARKUP.finditer(text):
            if self._is_leak(text[: found.start()]):
                self.leaked = True
                self._held = ""
                return text[: found.start()]
            start = found.end()
        keep = self._unsure(text, start)
        self._held = text[keep:]
        out = text[:keep]
        self._said.append(out)
        return out

    def close(self) -> str:
        held, self._held = self._held, ""
        return held

    def _unsure(self, text: str, start: int) -> int:
        """The index from which the tail of `text` may be the start of markup."""
        at = text.rfind("<", max(start, len(text) - _LONGEST))
        return at if at >= 0 and text[at:] in _PREFIXES else len(text)

    def _is_leak(self, before: str) -> bool:
        said = "".join([*self._said, before])
        if said.rpartition("\n")[2].strip():
            return False
        fences = sum(line.lstrip().startswith(("```", "~~~")) for line in said.split("\n"))
        return fences % 2 == 0
