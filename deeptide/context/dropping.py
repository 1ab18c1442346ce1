"""The last rung: whole units leave, oldest first, until the request fits; what alone is too large is cut.

Invariant: the user's newest words are never dropped or cut, and no pair is parted.
"""

from __future__ import annotations

from collections.abc import Callable

from deeptide.context.assemble import Fold
from deeptide.context.entries import SAID, SYNTHETIC, Entry, units, with_text
from deeptide.context.ledger import Place, spans
from deeptide.context.ledger_text import span_text
from deeptide.model.tokens import estimate, estimate_message
from deeptide.protocol.events import UnitsDropped
from deeptide.protocol.messages import user

MARK = "[context-dropped]"
_LEAST = 64
Spill = Callable[[int, str], str]


class _Cutter:
    """One pass over a view. `excess` is what must still go, in our own estimate."""

    def __init__(self, fold: Fold, limit: int, spill: Spill) -> None:
        self._fold = fold
        self._spill = spill
        self._groups = list(units(fold.entries))
        self._limit = limit
        self._saved = 0
        self.dropped: list[Entry] = []
        self.cut: dict[str, str] = {}
        self.pointer = ""

    @property
    def excess(self) -> int:
        """Estimated tokens above the limit, the pointer line included. 0 when it fits."""
        left = self.left()
        if self._fold.scaled(left) <= self._limit:
            return 0
        ratio = left / max(1, self._fold.scaled(left))
        return max(1, left - int(self._limit * ratio))

    def left(self) -> int:
        pointer = estimate_message(user(self.pointer)) if self.pointer else 0
        return self._fold.estimate - self._saved + pointer

    def run(self) -> None:
        newest = self._protected()
        free = [unit for unit in self._groups if unit[0].seq not in newest]
        heads = [unit for unit in free if unit[0].kind in ("summary", "seed")]
        last = [unit for unit in free if unit is self._groups[-1] and unit not in heads]
        self._drop([unit for unit in free if unit not in heads and unit not in last])
        self._shorten([entry for unit in (*last, *heads) for entry in unit])
        self._drop(last)
        self._drop(heads)

    def _protected(self) -> set[int]:
        said = [unit[0] for unit in self._groups if unit[0].kind in SAID]
        asked = [entry for entry in said if entry.kind == "user"]
        return {entry.seq for entry in (*said[-1:], *asked[-1:])}

    def _drop(self, groups: list[list[Entry]]) -> None:
        for unit in groups:
            if not self.excess:
                return
            self.dropped += unit
            for entry in unit:
                shown = self.cut.pop(str(entry.seq), None)
                self._saved += entry.tokens if shown is None else _size(entry, shown)
            self.pointer = self._pointer()

    def _shorten(self, entries: list[Entry]) -> None:
        """Cut texts in the middle, the largest first, keeping of each as much as fits."""
        for entry in sorted(entries, key=lambda e: (-e.tokens, e.seq)):
            excess = self.excess
            text = _shown_text(entry)
            if not excess or estimate(text) <= _LEAST:
                continue
            path = self._spill(entry.seq, text)
            shown = _middle_cut(text, max(_LEAST, estimate(text) - excess), path)
            if _size(entry, shown) < entry.tokens:
                self.cut[str(entry.seq)] = shown
                self._saved += entry.tokens - _size(entry, shown)

    def _pointer(self) -> str:
        fold = self._fold
        gone = [d for d in fold.departed if d.how == "dropped" and d.cycle == fold.cycle]
        places = [Place(d.seq, d.cycle, d.index) for d in gone]
        places += [Place(e.seq, *fold.place(e.seq)) for e in self.dropped if e.kind not in SYNTHETIC]
        return (
            f"{MARK} Older messages left the view to make room: {span_text(spans(places))}."
            " `recall_archive` searches them, `read_archive` shows one whole."
        )


def hard_limit(fold: Fold, limit_tokens: int, spill: Spill) -> UnitsDropped | None:
    """What must go so that the meter reads at most `limit_tokens`; None when it already does or nothing can.

    `spill(seq, text)` keeps a text that is cut and returns the path to name in its place. When even this does
    not fit, the event still holds all that could go; the caller re-measures.
    """
    if fold.used() <= limit_tokens:
        return None
    cutter = _Cutter(fold, limit_tokens, spill)
    cutter.run()
    after = fold.scaled(cutter.left())
    if after >= fold.used():
        return None
    return UnitsDropped(
        dropped=tuple(entry.seq for entry in cutter.dropped),
        pointer=cutter.pointer,
        tokens_before=fold.used(),
        tokens_after=after,
        cut=cutter.cut,
    )


def _shown_text(entry: Entry) -> str:
    result = entry.message.result
    if result is not None:
        return result.content
    return entry.message.text or entry.message.thinking


def _size(entry: Entry, text: str) -> int:
    return estimate_message(with_text(entry.message, text))


def _middle_cut(text: str, tokens: int, path: str) -> str:
    """Head and tail of `text` within `tokens` by estimate; the marker between names `path`."""
    keep = int(len(text) * tokens / max(1, estimate(text)))
    while True:
        half = max(0, keep // 2)
        gone = len(text) - 2 * half
        marker = f"\n[… {gone:,} characters were cut here; the whole text is in {path} …]\n"
        shown = text[:half] + marker + text[len(text) - half :]
        if half == 0 or estimate(shown) <= tokens:
            return shown
        keep = int(keep * 0.85)
