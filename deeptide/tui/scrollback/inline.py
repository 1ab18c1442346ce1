"""Inline Markdown: the words of one paragraph, heading or cell as runs of one ink each.

Invariant: the runs hold every word of the source; what is not understood is shown as written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rich.style import Style

from deeptide.tui.scrollback.inks import Inks
from deeptide.tui.scrollback.sheet import Run

_BARE = re.compile(r"https?://[^\s<>\"'`，。、；：！？）】」』》（【「『《]+")
_BOLD = Style(bold=True)
_ITALIC = Style(italic=True)
_STRIKE = Style(strike=True)


class Words:
    """`runs` are in order; `links` are (start, end, address) counted in characters of the joined runs."""

    __slots__ = ("_inks", "length", "links", "runs")

    def __init__(self, inks: Inks) -> None:
        self._inks = inks
        self.runs: list[Run] = []
        self.links: list[tuple[int, int, str]] = []
        self.length = 0

    def say(self, text: str, style: Style) -> None:
        if text:
            self.runs.append((text, style))
            self.length += len(text)

    def read(self, children: Sequence[Any], base: Style) -> Words:
        """Adds the children of one inline token, in `base` where nothing else is said."""
        styles = [base]
        opened: list[tuple[int, str]] = []
        for child in children:
            kind = child.type
            if kind == "text":
                self._text(child.content, styles[-1], linked=bool(opened))
            elif kind == "code_inline":
                self.say(child.content, styles[-1] + self._inks.code)
            elif kind == "softbreak":
                self.say(" ", styles[-1])
            elif kind == "hardbreak":
                self.say("\n", styles[-1])
            elif kind in _OPENS:
                styles.append(styles[-1] + _OPENS[kind])
            elif kind == "link_open":
                opened.append((self.length, str(child.attrs.get("href", ""))))
                styles.append(styles[-1] + self._inks.link)
            elif kind == "link_close":
                styles.pop()
                start, address = opened.pop()
                self._link(start, address, styles[-1])
            elif kind.endswith("_close"):
                styles.pop()
            elif kind == "image":
                self._image(child, styles[-1])
            else:
                self.say(child.content, styles[-1])
        return self

    def _link(self, start: int, address: str, style: Style) -> None:
        """A link whose words are not its address also shows where it leads, since a terminal has no tooltip."""
        said = "".join(run[0] for run in self.runs)[start : self.length]
        self.links.append((start, self.length, address))
        if address and said not in (address, address.removeprefix("mailto:")):
            self.say(f" ({address})", style + self._inks.faint)

    def _image(self, child: Any, style: Style) -> None:
        start = self.length
        self.say(child.content or "image", style + self._inks.link)
        self._link(start, str(child.attrs.get("src", "")), style)

    def _text(self, text: str, style: Style, *, linked: bool) -> None:
        if linked or "://" not in text:
            self.say(text, style)
            return
        at = 0
        for found in _BARE.finditer(text):
            address = found[0].rstrip(".,;:!?)*_")
            self.say(text[at : found.start()], style)
            start = self.length
            self.say(address, style + self._inks.link)
            self.links.append((start, self.length, address))
            at = found.start() + len(address)
        self.say(text[at:], style)


_OPENS = {"strong_open": _BOLD, "em_open": _ITALIC, "s_open": _STRIKE}


def lines_of(runs: Sequence[Run]) -> list[list[Run]]:
    """The runs cut at hard breaks."""
    lines: list[list[Run]] = [[]]
    for text, style in runs:
        for number, part in enumerate(text.split("\n")):
            if number:
                lines.append([])
            if part:
                lines[-1].append((part, style))
    return lines
