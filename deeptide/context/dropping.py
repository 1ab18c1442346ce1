"""The last rung: whole units leave, oldest first, until the request fits; what alone is too large is cut.

Invariant: the user's newest words are never dropped, they are cut only when nothing else makes the request fit,
no pair is parted, and whatever is cut is whole in the log and in the file that its marker names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from deeptide.context.assemble import Fold
from deeptide.context.cutting import LEAST, level, middle_cut, short_arguments
from deeptide.context.entries import SAID, SYNTHETIC, Entry, cut_parts, units, with_cuts
from deeptide.context.ledger import Place, spans
from deeptide.context.ledger_text import span_text
from deeptide.model.tokens import estimate, estimate_message
from deeptide.protocol.events import UnitsDropped
from deeptide.protocol.messages import Message, user

MARK = "[context-dropped]"
_POINTER_ROOM = 80
Spill = Callable[[str, str], str]


class _Shape(msgspec.Struct, frozen=True):
    """The view by what may happen to it. `words`: the user's newest; `late`: the newest response, if it follows
    them, with its results, and the facts that came with the words; `heads`: summary and seed; `old`: the rest."""

    old: list[list[Entry]]
    late: list[list[Entry]]
    heads: list[list[Entry]]
    words: list[list[Entry]]

    @staticmethod
    def of(groups: list[list[Entry]]) -> _Shape:
        said = [at for at, unit in enumerate(groups) if unit[0].kind in SAID]
        asked = [at for at in said if groups[at][0].kind == "user"][-1:]
        words = {*said[-1:], *asked}
        heads = {at for at, unit in enumerate(groups) if unit[0].kind in ("summary", "seed")}
        answers = [at for at, unit in enumerate(groups) if unit[0].kind == "assistant"]
        late = {at for at in answers[-1:] if at > max(asked, default=-1)}
        for at in asked:
            while at and groups[at - 1][0].kind == "note":
                at -= 1
                late.add(at)
        late -= words | heads
        old = set(range(len(groups))) - words - heads - late
        return _Shape(*([groups[at] for at in sorted(which)] for which in (old, late, heads, words)))


class _Cutter:
    """One pass over a view. All sizes are our own estimates; `allowed` is what the whole request may have, and
    `at_worst` what it may have rather than lose what the model must see to go on."""

    def __init__(self, fold: Fold, allowed: int, at_worst: int, spill: Spill) -> None:
        self._fold = fold
        self._spill = spill
        self._allowed = allowed
        self._at_worst = max(allowed, at_worst)
        self._sure = True
        self._whole = {gone.seq: gone.entry.message for gone in fold.departed}
        self._new = {entry.seq for entry in fold.uncounted()}
        self._sizes = {entry.seq: entry.tokens for entry in fold.entries}
        self._saved = 0
        self._cuts: dict[int, dict[str, str]] = {}
        self.dropped: list[Entry] = []
        self.pointer = ""

    @property
    def cut(self) -> dict[str, str]:
        return {
            f"{seq}:{name}" if name else str(seq): text
            for seq, cuts in self._cuts.items()
            for name, text in cuts.items()
        }

    @property
    def excess(self) -> int:
        """What must still go, the pointer line included. 0 when it fits."""
        over = self.left() - self._allowed
        if self._sure:
            new = sum(self._sizes[seq] for seq in self._new) + self._pointer_size()
            over = max(over, self._fold.overhang(self.left(), new))
        return max(0, over)

    def left(self) -> int:
        return self._fold.estimate - self._saved + self._pointer_size()

    def _pointer_size(self) -> int:
        return estimate_message(user(self.pointer)) if self.pointer else 0

    def run(self) -> None:
        view = _Shape.of(list(units(self._fold.entries)))
        self._allowed = min(self._allowed, self._fold.longest(self._fold.window.ceiling))
        room = max(0, self._allowed - self._fold.prefix_tokens - _POINTER_ROOM)
        for unit in (*view.late, *view.words):
            self._cut_alone(unit, room)
        self._drop(view.old)
        for groups in (view.late, view.heads, view.words):
            self._shorten(_flat(groups), self.excess, max(LEAST, room // 8))
        self._shorten(_flat([*view.late, *view.heads, *view.words]), self.excess, LEAST)
        self._allowed, self._sure = self._at_worst, False
        self._drop(view.late)
        self._drop(view.heads)

    def _cut_alone(self, unit: list[Entry], room: int) -> None:
        """What alone is larger than all the room gets half of it, or more if the others leave it."""
        size = self._size(unit)
        if size > room and self.excess:
            others = self._size(self._fold.entries) - size
            self._shorten(unit, size - max(room // 2, room - others), LEAST)

    def _drop(self, groups: list[list[Entry]]) -> None:
        for unit in groups:
            if not self.excess:
                return
            self.dropped += unit
            self._saved += self._size(unit)
            for entry in unit:
                self._sizes[entry.seq] = 0
                self._cuts.pop(entry.seq, None)
            self.pointer = self._pointer()

    def _shorten(self, entries: list[Entry], excess: int, floor: int) -> None:
        """Cut the largest texts of `entries` in the middle, all to one level, so that `excess` goes; none to
        less than `floor`."""
        if excess <= 0:
            return
        parts = [
            (estimate(text), entry, name)
            for entry in entries
            for name, text in cut_parts(self._shown(entry)).items()
        ]
        parts = [part for part in parts if part[0] > floor]
        target = max(floor, level([part[0] for part in parts], excess))
        for size, entry, name in parts:
            if size > target:
                self._cut(entry, name, target)

    def _cut(self, entry: Entry, name: str, target: int) -> None:
        whole = self._whole.get(entry.seq, entry.message)
        text = cut_parts(whole)[name]
        result = whole.result
        path = (result.spill if result else "") or self._spill(f"{entry.seq}-{name}".strip("-"), text)
        shorten = short_arguments if name.isdigit() else middle_cut
        cuts = {**self._cuts.get(entry.seq, {}), name: shorten(text, target, path)}
        size = estimate_message(with_cuts(entry.message, cuts))
        if size < self._sizes[entry.seq]:
            self._cuts[entry.seq] = cuts
            self._saved += self._sizes[entry.seq] - size
            self._sizes[entry.seq] = size

    def _size(self, entries: Iterable[Entry]) -> int:
        return sum(self._sizes[entry.seq] for entry in entries)

    def _shown(self, entry: Entry) -> Message:
        return with_cuts(entry.message, self._cuts.get(entry.seq, {}))

    def _pointer(self) -> str:
        fold = self._fold
        gone = [d for d in fold.departed if d.how == "dropped" and d.cycle == fold.cycle]
        places = [Place(d.seq, d.cycle, d.index) for d in gone]
        places += [Place(e.seq, *fold.place(e.seq)) for e in self.dropped if e.kind not in SYNTHETIC]
        return (
            f"{MARK} Older messages left the view to make room: {span_text(spans(places))}."
            " `recall_archive` searches them, `read_archive` shows one whole."
        )


def fits(fold: Fold, limit_tokens: int) -> bool:
    """Whether the meter reads at most `limit_tokens`, and the provider takes the request even when our
    estimates are as wrong as they can be."""
    return fold.used() <= limit_tokens and fold.at_most() <= fold.window.ceiling


def hard_limit(
    fold: Fold, limit_tokens: int, spill: Spill, at_worst: int | None = None
) -> UnitsDropped | None:
    """What must go so that the request `fits`; None when it already does or nothing can. When all that stays is
    cut to its least, the newest unit leaves only if the meter would read more than `at_worst` (default: what
    the provider takes).

    `spill(name, text)` keeps a text that is cut and returns the path to name in its place; `name` begins with
    the seq. When even this does not fit, the event still holds all that could go; the caller re-measures.
    """
    if fits(fold, limit_tokens):
        return None
    longest = fold.longest(fold.window.ceiling if at_worst is None else at_worst)
    cutter = _Cutter(fold, fold.unscaled(limit_tokens), longest, spill)
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


def _flat(groups: list[list[Entry]]) -> list[Entry]:
    return [entry for unit in groups for entry in unit]
