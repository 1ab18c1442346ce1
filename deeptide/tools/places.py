"""Finding the one place that an edit means, and replacing it.

An exact match comes first. Only if there is none are three differences overlooked, in this order: line endings,
spaces at line ends, one uniform indentation; each only where exactly one place matches, and said aloud.

Invariant: the text outside the places found is not touched by one character.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

from deeptide.protocol.errors import ToolError
from deeptide.tools import lines
from deeptide.tools.nearest import nearest
from deeptide.workspace.files import Decoded

_LISTED = 5


@dataclass(frozen=True)
class Place:
    """`text[start:end]` is to become `new`."""

    start: int
    end: int
    new: str


class Replacer:
    """Applies edits to one text, each to the result of the one before. `remarks`: matches that were not
    exact."""

    def __init__(self, decoded: Decoded) -> None:
        self.text = decoded.text
        self.remarks: list[str] = []
        self._newline = decoded.newline
        self._uniform = not decoded.mixed

    def apply(self, which: str, old: str, new: str, *, everywhere: bool = False) -> None:
        """Makes one edit. Raises ToolError naming `which`, with `text` as it was, if the place is not clear."""
        if not old:
            raise ToolError(f"{which}: old is empty.", "Copy the text to replace from the file.")
        if old == new:
            raise ToolError(f"{which}: old and new are the same.", "Check what you want to change.")
        found = _exact(self.text, old)
        if found:
            if everywhere:
                found = _apart(found, len(old))
            self._unambiguous(which, found, everywhere)
            new = self._at_home(new)
            places = [Place(start, start + len(old), new) for start in found]
        else:
            places = [self._overlooking(which, old, new)]
        self.text = _with(self.text, places)

    def _at_home(self, new: str) -> str:
        """`new` with the line endings of the file, if the file has only one kind and `new` has plain ones."""
        if self._uniform and self._newline != "\n" and "\r" not in new:
            return new.replace("\n", self._newline)
        return new

    def _overlooking(self, which: str, old: str, new: str) -> Place:
        ways: tuple[tuple[str, Callable[[str, str, str, str], list[Place]]], ...] = (
            ("line endings", _any_ending),
            ("spaces at line ends", _any_trailing),
            ("the indentation, which was adapted", _any_indent),
        )
        for what, find in ways:
            places = find(self.text, old, new, self._newline)
            if places:
                self._unambiguous(which, [place.start for place in places], False, f" apart from {what}")
                self.remarks.append(f"{which} matched line {self._line(places[0].start)} apart from {what}.")
                return places[0]
        raise ToolError(
            f"{which}: old does not occur in the file; nothing was changed.", nearest(self.text, old)
        )

    def _unambiguous(self, which: str, starts: list[int], everywhere: bool, how: str = "") -> None:
        if len(starts) == 1 or everywhere:
            return
        numbers = [str(self._line(start)) for start in starts[:_LISTED]]
        more = ", …" if len(starts) > _LISTED else ""
        advice = "Add neighbouring lines to old until it is unique" + ("." if how else ", or set all.")
        raise ToolError(
            f"{which}: old occurs {len(starts)} times{how}, at lines {', '.join(numbers)}{more}; "
            "nothing was changed.",
            advice,
        )

    def _line(self, index: int) -> int:
        break_at = "\r" if self._newline == "\r" and self._uniform else "\n"
        return self.text.count(break_at, 0, index) + 1


def _with(text: str, places: list[Place]) -> str:
    """`text` with every place replaced; they are in order and apart."""
    pieces, at = [], 0
    for place in places:
        pieces += [text[at : place.start], place.new]
        at = place.end
    return "".join([*pieces, text[at:]])


def _exact(text: str, old: str) -> list[int]:
    """Every start of `old`, overlapping ones included: an overlap is an ambiguity too."""
    starts, at = [], text.find(old)
    while at >= 0:
        starts.append(at)
        at = text.find(old, at + 1)
    return starts


def _apart(starts: list[int], length: int) -> list[int]:
    """The starts that do not overlap the place before them."""
    kept: list[int] = []
    for start in starts:
        if not kept or start >= kept[-1] + length:
            kept.append(start)
    return kept


def _any_ending(text: str, old: str, new: str, newline: str) -> list[Place]:
    if newline == "\r" and "\n" not in text:
        plain, pairs = text.replace("\r", "\n"), []
    else:
        plain, pairs = text.replace("\r\n", "\n"), _pairs(text)
    wanted = old.replace("\r\n", "\n")
    places = []
    for start in _exact(plain, wanted):
        end = start + len(wanted)
        real = start + bisect_left(pairs, start), end + bisect_left(pairs, end)
        places.append(Place(*real, _like(text[slice(*real)], new, newline)))
    return places


def _pairs(text: str) -> list[int]:
    """Where each `\\r\\n` begins, counted in the text in which every earlier one is a single character."""
    found: list[int] = []
    at = text.find("\r\n")
    while at >= 0:
        found.append(at - len(found))
        at = text.find("\r\n", at + 2)
    return found


def _like(region: str, new: str, newline: str) -> str:
    """`new` with the line endings of `region` if they are of one kind, else with the file's commonest."""
    pairs, feeds = region.count("\r\n"), region.count("\n")
    if feeds and pairs in (0, feeds):
        newline = "\r\n" if pairs else "\n"
    return new.replace("\r\n", "\n").replace("\n", newline)


class _Lines:
    """The lines of a text with the place of each. Built for one search."""

    def __init__(self, text: str) -> None:
        self.bare = lines.split(text)
        self.starts: list[int] = []
        self.ends: list[int] = []
        at = 0
        for line in self.bare:
            self.starts.append(at)
            at += len(line)
            self.ends.append(at)
            at += 2 if text.startswith("\r\n", at) else 1
        self.length = len(text)

    def place(self, first: int, count: int, whole: bool, new: str) -> Place:
        """Lines `first` to `first + count - 1`; `whole`: with the last line's ending."""
        last = first + count - 1
        end = self.ends[last]
        if whole:
            end = self.starts[last + 1] if last + 1 < len(self.starts) else self.length
        return Place(self.starts[first], end, new)


def _any_trailing(text: str, old: str, new: str, newline: str) -> list[Place]:
    wanted = [line.rstrip(" \t") for line in lines.split(old)]
    if not any(wanted):
        return []
    there = _Lines(text)
    stripped = [line.rstrip(" \t") for line in there.bare]
    new = _like("", new, newline)
    return [
        there.place(first, len(wanted), old.endswith("\n"), new)
        for first in range(len(stripped) - len(wanted) + 1)
        if stripped[first : first + len(wanted)] == wanted
    ]


def _any_indent(text: str, old: str, new: str, newline: str) -> list[Place]:
    wanted = [line.rstrip(" \t") for line in lines.split(old)]
    if not any(wanted):
        return []
    there = _Lines(text)
    stripped = [line.rstrip(" \t") for line in there.bare]
    anchor = next(i for i, line in enumerate(wanted) if line)
    core = wanted[anchor].lstrip(" \t")
    places = []
    for first in range(len(stripped) - len(wanted) + 1):
        if not stripped[first + anchor].endswith(core):
            continue
        shift = _shift(wanted, stripped[first : first + len(wanted)])
        moved = _moved(new, shift) if shift else None
        if moved is not None:
            places.append(there.place(first, len(wanted), old.endswith("\n"), _like("", moved, newline)))
    return places


def _shift(wanted: list[str], there: list[str]) -> tuple[str, str] | None:
    """(take, give): taking `take` off the start of every wanted line that is not blank, and putting `give`
    there, makes the lines that are there. None if no single such change does, or none is needed."""
    shifts = set()
    for line, real in zip(wanted, there, strict=True):
        if not line and not real:
            continue
        common = len(real) - len(line)
        if common >= 0 and real.endswith(line) and not real[:common].strip(" \t"):
            shifts.add(("", real[:common]))
        elif common < 0 and line.endswith(real) and not line[:-common].strip(" \t"):
            shifts.add((line[:-common], ""))
        else:
            return None
    return shifts.pop() if len(shifts) == 1 else None


def _moved(new: str, shift: tuple[str, str]) -> str | None:
    """`new` moved by `shift`, or None if a line of it does not begin with what is to be taken off."""
    take, give = shift
    moved = []
    for line in new.replace("\r\n", "\n").split("\n"):
        if not line.strip(" \t"):
            moved.append(line)
        elif line.startswith(take):
            moved.append(give + line[len(take) :])
        else:
            return None
    return "\n".join(moved)
