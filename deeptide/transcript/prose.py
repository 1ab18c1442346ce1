"""Text that grows by small pieces, with cheap frozen views of every state it had.

A message of 100,000 pieces must not be copied 100,000 times. `Growth` collects the pieces; `Prose` is a view
of the first so many of them and joins them only when somebody asks for the whole.

Invariant: a `Prose` never changes, equals any text with the same characters (plain `str` included), and
`growth.append` costs the same at any length.
"""

from __future__ import annotations

from deeptide.protocol.text import clean


class Prose:
    """A frozen text. `len()` counts characters and `str()` gives them all."""

    __slots__ = ("_chunks", "_count", "_length", "_whole")

    def __init__(self, chunks: list[str], length: int) -> None:
        self._chunks = chunks
        self._count = len(chunks)
        self._length = length
        self._whole: str | None = None

    def __len__(self) -> int:
        return self._length

    def __str__(self) -> str:
        if self._whole is None:
            self._whole = "".join(self._chunks[: self._count])
        return self._whole

    def since(self, position: int) -> str:
        """The characters from `position` on, in time proportional to what is new."""
        missing = self._length - max(0, position)
        if missing <= 0:
            return ""
        taken: list[str] = []
        index = self._count
        while missing > 0:
            index -= 1
            taken.append(self._chunks[index])
            missing -= len(taken[-1])
        text = "".join(reversed(taken))
        return text[-missing:] if missing < 0 else text

    def grown_from(self, earlier: object) -> bool:
        """Whether `earlier` is a view of the same growing text, so that only `since(len(earlier))` is new."""
        return isinstance(earlier, Prose) and earlier._chunks is self._chunks

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Prose):
            if other._chunks is self._chunks and other._count == self._count:
                return True
            return self._length == other._length and str(self) == str(other)
        if isinstance(other, str):
            return self._length == len(other) and str(self) == other
        return NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return f"Prose({str(self)!r})"


class Growth:
    """Collects pieces and cleans them: a line that holds an escape or a control is kept back until it is
    whole, because a sequence may be split over two pieces; any other text is given out at once."""

    def __init__(self) -> None:
        self._chunks: list[str] = []
        self._length = 0
        self._held = ""

    def append(self, piece: str) -> None:
        if not self._held and clean(piece) is piece:
            self._give(piece)
            return
        whole, newline, rest = (self._held + piece).rpartition("\n")
        if newline:
            self._give(clean(whole) + "\n")
        dirty = clean(rest) is not rest
        self._held = rest if dirty else ""
        if not dirty:
            self._give(rest)

    def _give(self, text: str) -> None:
        if text:
            self._chunks.append(text)
            self._length += len(text)

    def view(self) -> Prose:
        return Prose(self._chunks, self._length)


class Tail:
    """The last `limit` characters or so of what a running tool prints; earlier lines are let go."""

    def __init__(self, limit: int = 16_384) -> None:
        self._limit = limit
        self._text = ""

    def append(self, piece: str) -> None:
        self._text += piece
        if len(self._text) > 2 * self._limit:
            start = self._text.find("\n", len(self._text) - self._limit)
            self._text = self._text[start + 1 if start >= 0 else -self._limit :]

    def view(self) -> str:
        return clean(self._text)
