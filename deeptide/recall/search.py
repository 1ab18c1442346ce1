"""Search over everything that left the view.

Invariant: a hit names the place (cycle, index) under which the whole message can be read.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Sequence

import msgspec

from deeptide.protocol.errors import ToolError
from deeptide.protocol.messages import Role
from deeptide.recall.bm25 import rank, spans, tokenize

EXCERPT = 240
MOST = 10
_BLANK = re.compile(r"\s+")


class Document(msgspec.Struct, frozen=True):
    """One message as searched: `cycle` from 1, `index` from 0 within it, `seq` in the log."""

    cycle: int
    index: int
    role: Role
    text: str
    seq: int


class Hit(msgspec.Struct, frozen=True):
    """`excerpt` is one line of at most 240 characters around the densest match."""

    cycle: int
    index: int
    role: Role
    score: float
    excerpt: str


class Found(msgspec.Struct, frozen=True):
    """`note` says why there are no hits, or that there were more; empty otherwise."""

    hits: tuple[Hit, ...]
    note: str = ""


def search(
    documents: Sequence[Document], query: str, cycle: int | None = None, max_results: int = 3
) -> Found:
    """The best `max_results` (1..10) by BM25, ranked against all documents even when one cycle is asked for.

    Raises ToolError when the query holds no word or number.
    """
    if not tokenize(query):
        raise ToolError("The query holds no word to search for.", "Give one or more words, names or numbers.")
    if not documents:
        return Found((), "Nothing has left the view yet, so there is nothing to recall.")
    cycles = sorted({document.cycle for document in documents})
    if cycle is not None and cycle not in cycles:
        return Found((), f"Nothing is archived for cycle {cycle}; there is: {', '.join(map(str, cycles))}.")
    ranked = [
        (documents[index], score)
        for index, score in rank(query, [document.text for document in documents])
        if cycle is None or documents[index].cycle == cycle
    ]
    if not ranked:
        return Found((), "No archived message shares a word with the query; try other words.")
    top = ranked[: min(max(max_results, 1), MOST)]
    hits = tuple(Hit(d.cycle, d.index, d.role, score, excerpt(d.text, query)) for d, score in top)
    return Found(hits, f"{len(ranked) - len(top)} more messages match." if len(ranked) > len(top) else "")


def excerpt(text: str, query: str, width: int = EXCERPT) -> str:
    """At most `width` characters of `text`, as one line, centred on what matches most of `query`."""
    if len(text) > width:
        start, end = densest(text, query, width)
        begin = min(max(0, (start + end - width) // 2), len(text) - width)
        head, tail = begin > 0, begin + width < len(text)
        text = text[begin + head : begin + width - tail]
        text = f"{'…' if head else ''}{text}{'…' if tail else ''}"
    return _BLANK.sub(" ", text).strip()


def densest(text: str, query: str, width: int) -> tuple[int, int]:
    """(start, end) of the stretch of at most `width` characters with most distinct, then most, matches."""
    wanted = set(tokenize(query))
    window: deque[tuple[str, int, int]] = deque()
    inside: Counter[str] = Counter()
    best, found = (0, 0), (0, 0)
    for token, start, end in spans(text):
        if token not in wanted:
            continue
        window.append((token, start, end))
        inside[token] += 1
        while end - window[0][1] > width and len(window) > 1:
            gone = window.popleft()[0]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
        if (len(inside), len(window)) > best:
            best, found = (len(inside), len(window)), (window[0][1], end)
    return found
