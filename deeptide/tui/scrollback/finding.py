"""Looking for words in a transcript.

Invariant: a hit is found in what a block says, folded or not, seen or not; case is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from deeptide.transcript.blocks import (
    AnswerBlock,
    Block,
    DividerBlock,
    NoteBlock,
    PlanBlock,
    SummaryBlock,
    ThinkingBlock,
    ToolBlock,
    UserBlock,
)

AROUND = 32
"""Characters of an excerpt on each side of what was found."""

MOST = 2_000


class Hit(NamedTuple):
    """`nth` counts the hits of one block from 0. `excerpt` is one line around it."""

    block_id: str
    nth: int
    excerpt: str


def pattern(words: str) -> re.Pattern[str]:
    return re.compile(re.escape(words), re.IGNORECASE)


def find(blocks: Iterable[Block], words: str) -> list[Hit]:
    """All hits in reading order, at most MOST. Nothing is found for an empty search."""
    if not words:
        return []
    hits: list[Hit] = []
    for hit in _hits(blocks, pattern(words)):
        hits.append(hit)
        if len(hits) >= MOST:
            break
    return hits


def _hits(blocks: Iterable[Block], wanted: re.Pattern[str]) -> Iterator[Hit]:
    for block in blocks:
        text = text_of(block)
        for nth, found in enumerate(wanted.finditer(text)):
            start, end = max(0, found.start() - AROUND), found.end() + AROUND
            yield Hit(block.id, nth, " ".join(text[start:end].split()))


def text_of(block: Block) -> str:
    """Everything a block says, in the order in which it is drawn when unfolded."""
    match block:
        case AnswerBlock():
            return block.markdown
        case UserBlock() | ThinkingBlock():
            return block.text
        case ToolBlock():
            return "\n".join(part for part in (block.title, block.trace, block.diff or block.output) if part)
        case NoteBlock():
            return f"{block.text}\n{block.advice}" if block.advice else block.text
        case DividerBlock():
            return f"{block.label} {block.detail}"
        case PlanBlock():
            return "\n".join(item.text for item in block.plan.items)
        case SummaryBlock():
            return f"{block.label} {block.detail}\n{block.text}"
        case _:
            return ""
