"""The inside of one block: its sections, their heights, and a streaming answer that grows at its end.

Invariant: sections that were closed are never parsed or laid out again at the same width; an update touches
only the sections after the first that differs.
"""

from __future__ import annotations

from bisect import bisect_right

from deeptide.transcript.blocks import AnswerBlock, Block
from deeptide.transcript.prose import Prose
from deeptide.tui.scrollback.cards import mark_parts, parts_of
from deeptide.tui.scrollback.inks import Inks
from deeptide.tui.scrollback.parts import FencePart, Lexed, Part, source_parts
from deeptide.tui.scrollback.sheet import Sheet
from deeptide.tui.scrollback.split import Splitter


class Section:
    """One part at one width. `height` is an estimate until `sheet` was drawn at `width`; it is then exact,
    and stays so when the sheet is let go."""

    __slots__ = ("exact", "gap", "height", "part", "sheet", "width")

    def __init__(self, part: Part) -> None:
        self.part = part
        self.gap = part.gap
        self.sheet: Sheet | None = None
        self.width = 0
        self.height = 0
        self.exact = False

    def fit(self, width: int) -> None:
        """Makes `height` mean something at this width."""
        if self.width != width:
            self.width, self.sheet, self.exact = width, None, False
            self.height = self.part.estimate(width)

    def lay(self, width: int, inks: Inks) -> Sheet:
        self.fit(width)
        if self.sheet is None:
            self.sheet = self.part.draw(width, inks)
            self.height, self.exact = len(self.sheet.lines), True
        return self.sheet


class _Answer:
    """The sections of an answer that may still be growing."""

    def __init__(self) -> None:
        self._splitter = Splitter()
        self._source: str | Prose = ""
        self._closed = 0
        self._fence: Lexed | None = None
        self._open_fence: Lexed | None = None

    def read(self, block: AnswerBlock) -> tuple[int, list[Part]] | None:
        """(how many leading parts stay, the parts after them); None if the text did not just grow."""
        new = self._new_text(block.source)
        if new is None:
            return None
        self._source = block.source
        splitter = self._splitter
        splitter.feed(new)
        if not block.open:
            splitter.finish()
        kept = self._closed
        closed = source_parts(splitter.closed, self._fence, self._open_fence)
        splitter.closed = []
        self._closed += len(closed)
        self._fence = _last_fence(closed) if closed else self._fence
        like = None if closed else self._open_fence
        tail = source_parts(splitter.tail(), self._fence, like) if block.open else mark_parts(block)
        self._open_fence = tail[0].lexed if tail and isinstance(tail[0], FencePart) else None
        return kept, [*closed, *tail]

    def _new_text(self, source: str | Prose) -> str | None:
        """What came after the text read so far; None if the text did not just grow."""
        if source is self._source:
            return ""
        if isinstance(source, Prose) and source.grown_from(self._source):
            return source.since(len(self._source))
        if not self._source:
            return str(source)
        whole, before = str(source), str(self._source)
        return whole[len(before) :] if whole.startswith(before) else None


def _last_fence(parts: list[Part]) -> Lexed | None:
    last = parts[-1]
    return last.lexed if isinstance(last, FencePart) and not last.source.last else None


class Body:
    """The sections of a block at one width. Line numbers count from the top of the block, gaps included."""

    def __init__(self, block: Block, unfolded: bool, gap: int, width: int) -> None:
        self.sections: list[Section] = []
        self.block = block
        self.unfolded = unfolded
        self._gap = gap
        self._width = width
        self._answer: _Answer | None = None
        self._ends: list[int] = []
        self._read()

    # ---- what it shows -----------------------------------------------------------------------------------

    def update(self, block: Block) -> None:
        self.block = block
        self._read()

    def set_unfolded(self, unfolded: bool) -> None:
        if unfolded != self.unfolded:
            self.unfolded = unfolded
            if not isinstance(self.block, AnswerBlock):
                self._read()

    def set_gap(self, gap: int) -> None:
        if gap != self._gap and self.sections:
            self.sections[0].gap = self.sections[0].part.gap + gap
            self._ends.clear()
        self._gap = gap

    def set_width(self, width: int) -> None:
        if width != self._width:
            self._width = width
            self._ends.clear()
            for section in self.sections:
                section.fit(width)

    def forget(self) -> None:
        """Another palette, or the Markdown parser has arrived: everything is to be drawn again."""
        for section in self.sections:
            section.width = 0
            section.fit(self._width)
        self._ends.clear()

    def _read(self) -> None:
        kept, parts = (
            self._read_answer(self.block)
            if isinstance(self.block, AnswerBlock)
            else (0, parts_of(self.block, self.unfolded))
        )
        self._replace(kept, parts)

    def _read_answer(self, block: AnswerBlock) -> tuple[int, list[Part]]:
        read = self._answer.read(block) if self._answer is not None else None
        if read is None:
            self._answer = _Answer()
            read = self._answer.read(block)
        if not block.open:
            self._answer = None
        return read or (0, [])

    def _replace(self, kept: int, parts: list[Part]) -> None:
        """The sections from `kept` on become `parts`; those that say the same stay as they are."""
        old = self.sections[kept:]
        fresh = [
            before if before is not None and before.part == part else Section(part)
            for part, before in zip(parts, [*old, *[None] * len(parts)], strict=False)
        ]
        same = 0
        while same < len(fresh) and same < len(old) and fresh[same] is old[same]:
            same += 1
        self.sections[kept + same :] = fresh[same:]
        for section in fresh[same:]:
            section.gap = section.part.gap
            section.fit(self._width)
        if self.sections:
            self.sections[0].gap = self.sections[0].part.gap + self._gap
        del self._ends[kept + same :]

    # ---- where its lines are -----------------------------------------------------------------------------

    def _measured(self) -> list[int]:
        ends, sections = self._ends, self.sections
        end = ends[-1] if ends else 0
        for index in range(len(ends), len(sections)):
            end += sections[index].gap + sections[index].height
            ends.append(end)
        return ends

    @property
    def height(self) -> int:
        ends = self._measured()
        return ends[-1] if ends else 0

    def start_of(self, index: int) -> int:
        """The line at which section `index` (its gap) begins."""
        return self._measured()[index - 1] if index else 0

    def section_at(self, line: int) -> int:
        ends = self._measured()
        return min(bisect_right(ends, line), len(ends) - 1)

    def lay(self, index: int, inks: Inks) -> Sheet:
        """The lines of a section; `height` may change by it."""
        section = self.sections[index]
        before = section.height
        sheet = section.lay(self._width, inks)
        if section.height != before:
            del self._ends[index:]
        return sheet
