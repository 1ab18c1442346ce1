"""Terminal manners: title, bell, desktop notice, clipboard; all as byte strings, so that they can be tested.

Invariant: no text of others goes into an escape sequence unless every control character was taken out first.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, MutableMapping

BEL = "\x07"
ST = "\x1b\\"
PUSH_TITLE = "\x1b[22;0t"
POP_TITLE = "\x1b[23;0t"
CLIPBOARD_LIMIT = 74_994
"""Bytes of text in one OSC 52: 100,000 characters of base64, which xterm and tmux still take."""

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")


def printable(text: str, limit: int = 80) -> str:
    """`text` on one line without control or direction characters, at most `limit` characters."""
    flat = _CONTROLS.sub(" ", text).strip()
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def in_tmux(environ: Mapping[str, str]) -> bool:
    return bool(environ.get("TMUX"))


def passed_through(sequence: str, environ: Mapping[str, str]) -> str:
    """`sequence` wrapped for tmux when we run inside it (tmux(1): allow-passthrough)."""
    if not in_tmux(environ):
        return sequence
    return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + ST


def title(text: str) -> str:
    """OSC 0: the window title. tmux reads it itself, so it is never wrapped."""
    return f"\x1b]0;{printable(text)}{BEL}"


def notice(text: str, environ: Mapping[str, str]) -> str:
    """OSC 9 (desktop notice, wrapped for tmux) and a bell, which tmux and dumb terminals understand."""
    return passed_through(f"\x1b]9;{printable(text, 120)}{BEL}", environ) + BEL


def clipboard(text: str, environ: Mapping[str, str]) -> str:
    """OSC 52 for `text`; empty if it is over CLIPBOARD_LIMIT bytes, which terminals would drop or cut."""
    data = text.encode("utf-8", "replace")
    if len(data) > CLIPBOARD_LIMIT:
        return ""
    plain = f"\x1b]52;c;{base64.b64encode(data).decode('ascii')}{BEL}"
    # Plain for tmux's own `set-clipboard on`, wrapped for the terminal around it.
    return plain + passed_through(plain, environ) if in_tmux(environ) else plain


def forget_fixed_size(environ: MutableMapping[str, str]) -> None:
    """COLUMNS and LINES win over the terminal's own size in Python, also when they are inherited and wrong, and a
    resize is then never seen."""
    for name in ("COLUMNS", "LINES"):
        environ.pop(name, None)


def forget_empty_no_color(environ: MutableMapping[str, str]) -> None:
    """https://no-color.org: an empty NO_COLOR is not set. Textual only looks whether it is there."""
    if environ.get("NO_COLOR") == "":
        del environ["NO_COLOR"]
