"""The unified diff that a person approves and the card keeps.

Invariant: it is computed from the very texts that are on the disk and will be written, and shows every changed
line, also when only its ending changes. Its cost stays bounded: past `_EFFORT` a block is shown as replaced.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

_CONTEXT = 3
_EFFORT = 4_000_000
Opcode = tuple[str, int, int, int, int]


def unified(shown_path: str, before: str | None, after: str) -> str:
    """The diff from `before` (None: the file is new) to `after`, headed by `--- a/…` and `+++ b/…`; empty if
    nothing changes. A `\\r` before the line feed is shown only where the two texts differ in line endings."""
    old, new = _lines(before or ""), _lines(after)
    if _all_crlf(before or after) and _all_crlf(after):
        old = [line.replace("\r\n", "\n") for line in old]
        new = [line.replace("\r\n", "\n") for line in new]
    rows = [row for group in _groups(old, new) for row in _hunk(group, old, new)]
    if not rows:
        return ""
    source = f"a/{shown_path}" if before is not None else "/dev/null"
    return f"--- {source}\n+++ b/{shown_path}\n" + "".join(rows)


def count(diff: str) -> str:
    """`+3 -1`: how many lines a diff of one file adds and removes."""
    marks = [row[:1] for row in diff.split("\n")[2:]]
    return f"+{marks.count('+')} -{marks.count('-')}"


def _lines(text: str) -> list[str]:
    parts = [part + "\n" for part in text.split("\n")]
    parts[-1] = parts[-1][:-1]
    return parts if parts[-1] else parts[:-1]


def _all_crlf(text: str) -> bool:
    return text.count("\r\n") == text.count("\n") > 0


def _groups(old: list[str], new: list[str]) -> Iterator[list[Opcode]]:
    """Opcodes with context around them, one list a hunk. Only what lies between the common start and the
    common end is compared, so that a small change in a large file is cheap."""
    shortest = min(len(old), len(new))
    start = next((i for i in range(shortest) if old[i] != new[i]), shortest)
    end = next((i for i in range(shortest - start) if old[-1 - i] != new[-1 - i]), shortest - start)
    first, tail = max(0, start - _CONTEXT), max(0, end - _CONTEXT)
    part, other = old[first : len(old) - tail], new[first : len(new) - tail]
    if len(part) * len(other) > _EFFORT:
        yield [("replace", start, len(old) - end, start, len(new) - end)]
        return
    for group in difflib.SequenceMatcher(None, part, other, autojunk=False).get_grouped_opcodes(_CONTEXT):
        yield [(tag, i + first, k + first, j + first, m + first) for tag, i, k, j, m in group]


def _hunk(group: list[Opcode], old: list[str], new: list[str]) -> Iterator[str]:
    left = _span(group[0][1], group[-1][2])
    right = _span(group[0][3], group[-1][4])
    yield f"@@ -{left} +{right} @@\n"
    for tag, i, k, j, m in group:
        if tag == "equal":
            yield from (_row(" ", line) for line in old[i:k])
        else:
            yield from (_row("-", line) for line in old[i:k])
            yield from (_row("+", line) for line in new[j:m])


def _span(start: int, stop: int) -> str:
    length = stop - start
    return f"{start + 1 if length else start}" + ("" if length == 1 else f",{length}")


def _row(mark: str, line: str) -> str:
    return f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"
