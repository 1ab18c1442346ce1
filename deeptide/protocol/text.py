"""Text hygiene: what came from a model, a tool or a file is made fit to be shown, or shown for what it is.

Invariant: `clean` leaves no escape, control or bidi control behind whatever it is given, is idempotent, and
is line-local (`clean(a + "\\n" + b) == clean(a) + "\\n" + clean(b)`), so a stream may be cleaned line by
line.
"""

from __future__ import annotations

import re

# Patterns stay text: `re` compiles each once, when it is first needed, and a start of the program needs none.
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_CONTROL = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_DIRTY = f"[{_CONTROL}\r{_BIDI}\ud800-\udfff]"

# Introducers of sequences: CSI, then the string kinds (DCS, SOS, OSC, PM, APC), then two-byte escapes. A
# string that is never closed ends at the line's end, so that one stray introducer cannot swallow a whole
# output.
_SEQUENCE = (
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?"
    "|(?:\x1b[P\\]X^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c)?"
    "|\x1b[ -/]*[0-~]?"
    f"|[{_CONTROL}{_BIDI}]"
)
_INTRODUCERS = "\x1b\x90\x98\x9b\x9d\x9e\x9f"
# Beyond what `clean` removes: characters that draw nothing and can hide words in a command.
_HIDDEN = f"[{_CONTROL}\r{_BIDI}\ud800-\udfff\u00ad\u180e\u200b\u2028\u2029\u2060-\u2064\ufeff\U000e0000-\U000e007f]"

LINE_LIMIT = 16_384
"""Characters of an unfinished line that `StreamCleaner` holds back before it gives them out."""


def clean(text: str) -> str:
    """`text` without escape sequences, controls (except \\n and \\t) and bidi controls.

    `\\r\\n` becomes `\\n`; a line redrawn with `\\r` keeps its last state; lone surrogates become U+FFFD.
    """
    if text.isprintable() or not re.search(_DIRTY, text):
        return text
    text = re.sub(_SEQUENCE, "", scrub(text))
    if "\r" in text:
        text = "\n".join(_last_state(line) for line in text.split("\n"))
    return text


def _last_state(line: str) -> str:
    if "\r" not in line:
        return line
    return next((part for part in reversed(line.split("\r")) if part), "")


def scrub(text: str) -> str:
    """`text` as it may go on the wire: surrogate pairs joined, lone surrogates replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def visible(text: str) -> str:
    """`text` with nothing removed: what would act or hide is written out, as `\\x1b` or `\\u202e`."""
    return re.sub(_HIDDEN, lambda found: _written(ord(found[0])), text)


def _written(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def has_hidden(text: str) -> bool:
    """Whether `visible(text)` differs from `text`."""
    return re.search(_HIDDEN, text) is not None


class StreamCleaner:
    """`clean` for text that arrives in pieces: whole lines come out, the unfinished line is held back.

    The joined output equals `clean` of the joined input, except that a line longer than LINE_LIMIT comes out
    in parts. An escape sequence split over two pieces never leaks.
    """

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        head, newline, tail = text.rpartition("\n")
        if newline:
            out = clean(self._held + head) + "\n"
            self._held = tail
        else:
            out = ""
            self._held += tail
        if len(self._held) > LINE_LIMIT:
            out += self._give_out()
        return out

    def finish(self) -> str:
        """The rest. The cleaner is empty afterwards."""
        out, self._held = clean(self._held), ""
        return out

    def _give_out(self) -> str:
        held = self._held
        redraw = held.rfind("\r", 0, len(held) - 1)
        if redraw >= 0:
            self._held = held[redraw + 1 :]
            return "" if len(self._held) <= LINE_LIMIT else self._give_out()
        cut = len(held) - (1 if held[-1] == "\r" or "\ud800" <= held[-1] <= "\udbff" else 0)
        last = max(held.rfind(introducer) for introducer in _INTRODUCERS)
        whole = re.compile(_SEQUENCE).match(held, last) if last >= 0 else None
        if whole is None or whole.end() < cut:
            self._held = held[cut:]
            return clean(held[:cut])
        self._held = held[last:]
        if len(self._held) > LINE_LIMIT:
            self._held = self._held[:2]
        return clean(held[:last])
