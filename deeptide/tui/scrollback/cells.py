"""Where a line of text is broken so that it fits into so many cells.

Invariant: the pieces are in order and do not overlap, only spaces are left out between them, no grapheme is
split, and each piece is at most `width` cells wide (except a single grapheme wider than that).
"""

from __future__ import annotations

from rich.cells import cell_len, get_character_cell_size, split_graphemes

TAB = 4
"""A tab is drawn as this many cells wherever it stands."""

_NOT_FIRST = frozenset("，。、；：！？）】」』》〉”’…,.!?:;)]}%·ー々")
_NOT_LAST = frozenset("（【「『《〈“‘([{$¥#@")


def width_of(text: str) -> int:
    """Cells that `text` takes, tabs included."""
    if text.isascii():
        return len(text) + text.count("\t") * (TAB - 1)
    return cell_len(text) + text.count("\t") * TAB


def wrap(text: str, width: int) -> list[tuple[int, int]]:
    """Spans of `text` (which holds no line break) broken at spaces and between wide characters; a longer word
    is broken where the line ends. An empty text is one empty span."""
    width = max(1, width)
    if text.isascii() and "\t" not in text:
        return _wrap_narrow(text, width)
    return _wrap_any(text, width)


def chop(text: str, width: int) -> list[tuple[int, int]]:
    """Spans of `text` broken only where the line is full: for code, where every space counts."""
    width = max(1, width)
    if text.isascii() and "\t" not in text:
        return [(start, min(start + width, len(text))) for start in range(0, len(text), width)] or [(0, 0)]
    spans: list[tuple[int, int]] = []
    start = used = 0
    for first, _, size in graphemes(text):
        if used + size > width and first > start:
            spans.append((start, first))
            start, used = first, 0
        used += size
    spans.append((start, len(text)))
    return spans


def fit(text: str, width: int, more: str = "…") -> str:
    """`text` cut to `width` cells, ending with `more` if anything was cut."""
    if len(text) * TAB <= width or width_of(text) <= width:
        return text
    room = width - cell_len(more)
    start, end = chop(text, max(1, room))[0]
    return (text[start:end] if width_of(text[start:end]) <= room else "") + more


def graphemes(text: str) -> list[tuple[int, int, int]]:
    """(start, end, cells) of each grapheme."""
    if "\u200d" in text or "\ufe0f" in text:
        return _joined(text)
    size_of = get_character_cell_size
    found: list[tuple[int, int, int]] = []
    for index, character in enumerate(text):
        size = 1 if " " <= character <= "~" else TAB if character == "\t" else size_of(character)
        if size == 0 and found:
            first, _, before = found[-1]
            found[-1] = (first, index + 1, before)
        else:
            found.append((index, index + 1, size))
    return found


def _joined(text: str) -> list[tuple[int, int, int]]:
    """Graphemes of a text with joiners, tab by tab: a tab joins nothing."""
    found: list[tuple[int, int, int]] = []
    at = 0
    for index, part in enumerate(text.split("\t")):
        if index:
            found.append((at, at + 1, TAB))
            at += 1
        found.extend((at + start, at + end, size) for start, end, size in split_graphemes(part)[0])
        at += len(part)
    return found


def _wrap_narrow(text: str, width: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start, length = 0, len(text)
    while length - start > width:
        cut = text.rfind(" ", start, start + width + 1)
        if cut <= start or not text[start:cut].strip(" "):
            end = after = start + width
        else:
            end, after = cut, cut + 1
            while end > start and text[end - 1] == " ":
                end -= 1
        while after < length and text[after] == " ":
            after += 1
        spans.append((start, end))
        start = after
    if start < length or not spans:
        spans.append((start, length))
    return spans


def _wrap_any(text: str, width: int) -> list[tuple[int, int]]:
    """Greedy over graphemes. `cut` is the grapheme before which the line may end, -1 if there is none yet."""
    spans: list[tuple[int, int]] = []
    units = graphemes(text)
    total = len(units)
    index = begin = used = 0
    cut = -1
    while index < total:
        size = units[index][2]
        if index > begin and _may_break(text, units, index):
            cut = index
        if used + size <= width or index == begin:
            used += size
            index += 1
            continue
        if cut <= begin:
            cut = index
        last = cut
        while last > begin and _is(" ", text, units[last - 1]):
            last -= 1
        spans.append((units[begin][0], units[last - 1][1] if last > begin else units[begin][0]))
        index = cut
        while index < total and _is(" ", text, units[index]):
            index += 1
        begin, used, cut = index, 0, -1
    if begin < total or not spans:
        spans.append((units[begin][0] if begin < total else len(text), len(text)))
    return spans


def _is(character: str, text: str, unit: tuple[int, int, int]) -> bool:
    """Whether the grapheme is this character alone: a space that carries an accent is not a space."""
    return text[unit[0] : unit[1]] == character


def _may_break(text: str, units: list[tuple[int, int, int]], index: int) -> bool:
    """Whether a line may end before this grapheme: at a space that follows a word, after a space, and on
    either side of a wide character unless punctuation forbids it."""
    unit, before = units[index], units[index - 1]
    if _is(" ", text, unit) or _is("\t", text, unit):
        return not (_is(" ", text, before) or _is("\t", text, before))
    if _is(" ", text, before) or _is("\t", text, before):
        return index >= 12 or bool(text[: unit[0]].strip(" \t"))
    if unit[2] < 2 and before[2] < 2:
        return False
    return text[unit[0]] not in _NOT_FIRST and text[before[0]] not in _NOT_LAST
