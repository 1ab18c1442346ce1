"""A ledger within its share of the window, and as the text a model reads.

Invariant: nothing is cut from the user's words that stay whole, and what moves out is counted and leaves a
pointer.
"""

from __future__ import annotations

import msgspec

from deeptide.context.ledger import CommandNote, ErrorNote, FileNote, Ledger, Note, Said, Span, one_line
from deeptide.context.window import Window
from deeptide.model.tokens import estimate
from deeptide.protocol.plan import Plan

MOST_WORDS = 20_000
WORDS_SHARE, REST_SHARE = 0.25, 0.20
MOST_ERRORS = 5
_POINTER = 90
_NAMES = {"said": "of the user's messages", "files": "files", "commands": "commands", "errors": "errors"}


def words_budget(window: Window) -> int:
    """Tokens for the user's own words: 25 % of usable, at most 20,000."""
    return min(MOST_WORDS, int(window.usable * WORDS_SHARE))


def rest_budget(window: Window) -> int:
    """Tokens for everything else in the ledger: 20 % of usable."""
    return int(window.usable * REST_SHARE)


def cap(ledger: Ledger, window: Window, plan: Plan, pins: tuple[str, ...]) -> Ledger:
    """The ledger with the least recent entries moved out, so that it fits its share of `window`."""
    fixed = estimate(plan.render()) + sum(estimate(pin) for pin in pins) + _spans_cost(ledger)
    said = _cap_said(ledger.said, words_budget(window))
    notes, budget = _all_notes(ledger), rest_budget(window) - fixed
    last_errors = {error.place.seq for error in ledger.errors[-MOST_ERRORS:]}
    kept: set[int] = set()
    for number in sorted(range(len(notes)), key=lambda n: (-notes[n].place.seq, n)):
        note = notes[number]
        if isinstance(note, ErrorNote) and note.place.seq not in last_errors:
            continue
        budget -= estimate(note_line(note))
        if budget < 0:
            break
        kept.add(number)
    stay = [note for number, note in enumerate(notes) if number in kept]
    files = tuple(note for note in stay if isinstance(note, FileNote))
    commands = tuple(note for note in stay if isinstance(note, CommandNote))
    errors = tuple(note for note in stay if isinstance(note, ErrorNote))
    gone = {
        "said": len(ledger.said) - len(said),
        "files": len(ledger.files) - len(files),
        "commands": len(ledger.commands) - len(commands),
        "errors": len(ledger.errors) - len(errors),
    }
    moved = {kind: ledger.moved.get(kind, 0) + count for kind, count in gone.items()}
    return Ledger(said, files, commands, errors, ledger.folded, {k: n for k, n in moved.items() if n})


def _all_notes(ledger: Ledger) -> list[Note]:
    return [*ledger.files, *ledger.commands, *ledger.errors]


def _spans_cost(ledger: Ledger) -> int:
    return 12 * len(ledger.folded)


def _cap_said(said: tuple[Said, ...], budget: int) -> tuple[Said, ...]:
    """Verbatim, newest first, as far as they fit; the others as one-line pointers within a quarter more."""
    pointers = budget // 4
    kept: list[Said] = []
    for item in reversed(said):
        cost = estimate(item.text) + 12
        if item.whole and cost <= budget:
            budget -= cost
            kept.append(item)
            continue
        short = msgspec.structs.replace(item, text=one_line(item.text, _POINTER), whole=False)
        pointers -= estimate(short.text) + 12
        if pointers < 0:
            continue
        kept.append(short)
    return tuple(reversed(kept))


# ---- as text -------------------------------------------------------------------------------------------


def render(ledger: Ledger, plan: Plan, pins: tuple[str, ...], *, recall: bool = True) -> str:
    """Markdown sections, empty ones left out. `recall`: name the tools that follow the pointers."""
    sections = [
        _section("Pinned by the user", [f"- {pin}" for pin in pins]),
        _section("The user's own words, verbatim", [_verbatim(item) for item in ledger.said if item.whole]),
        _section("Earlier words of the user (beginnings)", [_begin(s) for s in ledger.said if not s.whole]),
        _section("Files changed", [note_line(note) for note in ledger.files if note.changed]),
        _section("Files read", [note_line(note) for note in ledger.files if not note.changed]),
        _section("Commands run", [note_line(note) for note in ledger.commands]),
        _section("Last errors", [note_line(note) for note in ledger.errors]),
        _section("Plan", [plan.render()] if plan.items else []),
        _section("Where the rest is", _pointers(ledger, recall)),
    ]
    return "\n\n".join(section for section in sections if section)


def note_line(note: Note) -> str:
    match note:
        case FileNote(path=path, action=action, hash=digest):
            return f"- {path} ({action}{', sha ' + digest if digest else ''})"
        case CommandNote(command=command, status=status):
            return f"- `{command}` → {status}"
        case ErrorNote(place=place, text=text):
            return f"- message {place.index} of cycle {place.cycle}: {text}"


def span_text(parts: tuple[Span, ...]) -> str:
    """`cycle 1: messages 0-61, 63; cycle 2: messages 0-4`."""
    cycles: dict[int, list[str]] = {}
    for part in parts:
        range_ = f"{part.first}" if part.first == part.last else f"{part.first}-{part.last}"
        cycles.setdefault(part.cycle, []).append(range_)
    return "; ".join(f"cycle {cycle}: messages {', '.join(ranges)}" for cycle, ranges in cycles.items())


def _section(title: str, lines: list[str]) -> str:
    return f"### {title}\n" + "\n".join(lines) if lines else ""


def _verbatim(item: Said) -> str:
    return f"[message {item.place.index} of cycle {item.place.cycle}]\n{item.text}"


def _begin(item: Said) -> str:
    return f"- message {item.place.index} of cycle {item.place.cycle}: {item.text}"


def _pointers(ledger: Ledger, recall: bool) -> list[str]:
    if not ledger.folded:
        return []
    lines = [f"Kept whole, out of view: {span_text(ledger.folded)}."]
    moved = [f"{ledger.moved[kind]} {name}" for kind, name in _NAMES.items() if ledger.moved.get(kind)]
    if moved:
        lines.append(f"No longer listed here, but among them: {', '.join(moved)}.")
    if recall:
        lines.append("`recall_archive` searches them; `read_archive` shows one whole, by cycle and message.")
    return lines
