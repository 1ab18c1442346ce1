"""Bytes to text and back without losing one byte.

Invariant: `encode(decode(data).text, decode(data)) == data` for every `data`; line endings, BOM and odd bytes
stay in the text as they are, so an edit changes what it names and nothing else.
"""

from __future__ import annotations

import codecs
import re

import msgspec

from deeptide.protocol.errors import WorkspaceError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
_PROBE = 8192


class Decoded(msgspec.Struct, frozen=True):
    """`newline` is the commonest line ending of the text ("\\n" if it has none); `mixed`: there are
    others."""

    text: str
    encoding: str = "utf-8"
    bom: bytes = b""
    newline: str = "\n"
    mixed: bool = False


def decode(data: bytes) -> Decoded:
    """Tries a BOM, UTF-16 without BOM, UTF-8, GB18030 and last Latin-1, which reads anything."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            text = _exact(data[len(bom) :], encoding)
            if text is not None:
                return _described(text, encoding, bom)
    for encoding in (_bare_utf16(data), "utf-8", "gb18030" if _looks_double_byte(data) else ""):
        text = _exact(data, encoding) if encoding else None
        if text is not None:
            return _described(text, encoding, b"")
    return _described(data.decode("latin-1"), "latin-1", b"")


def encode(text: str, like: Decoded) -> bytes:
    """`text` in the encoding and with the BOM of `like`. WorkspaceError if a character does not exist
    there."""
    try:
        return like.bom + text.encode(like.encoding)
    except UnicodeEncodeError as error:
        character = text[error.start]
        raise WorkspaceError(
            f"The file is in {like.encoding}, which has no character {character!r}; nothing was changed.",
            "Use characters of that encoding, or convert the file to UTF-8 first.",
        ) from error


def is_binary(data: bytes) -> bool:
    """Whether `data` is no text: a NUL near its start that UTF-16 or UTF-32 does not explain."""
    head = data[:_PROBE]
    if b"\0" not in head:
        return False
    if any(head.startswith(bom) for bom, _ in _BOMS[1:]):
        return False
    return not _bare_utf16(data)


def _exact(data: bytes, encoding: str) -> str | None:
    try:
        text = data.decode(encoding)
        return text if text.encode(encoding) == data else None
    except UnicodeError:
        return None


def _bare_utf16(data: bytes) -> str:
    """UTF-16 text that is mostly ASCII has a NUL in every other byte, and none in the others."""
    head = data[:_PROBE]
    half = len(head) // 2
    if half < 2 or len(data) % 2:
        return ""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd >= half * 0.7 and even == 0:
        return "utf-16-le"
    if even >= half * 0.7 and odd == 0:
        return "utf-16-be"
    return ""


def _looks_double_byte(data: bytes) -> bool:
    """Chinese text has its high bytes in pairs; Western text has them one at a time."""
    paired = total = 0
    for run in _HIGH_RUN.finditer(data):
        length = run.end() - run.start()
        total += length
        paired += length if length % 2 == 0 else 0
    return total > 0 and paired >= total * 0.6


def _described(text: str, encoding: str, bom: bytes) -> Decoded:
    crlf = text.count("\r\n")
    lf = text.count("\n") - crlf
    cr = text.count("\r") - crlf
    counts = {"\n": lf, "\r\n": crlf, "\r": cr}
    newline = max(counts, key=lambda kind: counts[kind]) if text else "\n"
    return Decoded(text, encoding, bom, newline, sum(1 for n in counts.values() if n) > 1)
