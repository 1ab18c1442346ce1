"""The part of a summary that no model writes: what was said, touched, run and went wrong, with pointers.

A later ledger merges the earlier one, so nothing is lost to summarising a summary. What no longer fits moves
out, and the spans of folded messages still lead to it.

Invariant: every message folded and every entry ever noted is in the ledger or lies in one of its spans
(`missing` proves it).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from deeptide.context.assemble import Departed, Fold
from deeptide.context.entries import SAID, Entry
from deeptide.protocol.events import Compacted, NoteAppended, ToolFinished
from deeptide.protocol.messages import ToolCall

_HASH = re.compile(r"\A\[(?P<path>[^\n]+?) · [^\n]*\bsha (?P<hash>[0-9a-f]{8,64})\]")
_ACTIONS = {"read": "read", "write": "written", "edit": "edited"}
_LINE, _ERROR = 200, 480


class Place(msgspec.Struct, frozen=True):
    """Where the whole thing can be read again: `seq` in the log; `cycle` and `index` for recall."""

    seq: int
    cycle: int
    index: int


class Said(msgspec.Struct, frozen=True):
    """The user's own words; when not `whole`, `text` is only their beginning, as one line."""

    place: Place
    text: str
    whole: bool = True


class FileNote(msgspec.Struct, frozen=True):
    """`action` is the last one: read, written or edited. `changed`: it was written or edited at some time."""

    place: Place
    path: str
    action: str
    hash: str = ""
    changed: bool = False


class CommandNote(msgspec.Struct, frozen=True):
    place: Place
    command: str
    status: str


class ErrorNote(msgspec.Struct, frozen=True):
    place: Place
    text: str


class Span(msgspec.Struct, frozen=True):
    """Messages `first`..`last` (inclusive) of a cycle."""

    cycle: int
    first: int
    last: int


class Ledger(msgspec.Struct, frozen=True):
    """Each list oldest first. `folded`: what left the view. `moved`: how many of a kind moved out of here."""

    said: tuple[Said, ...] = ()
    files: tuple[FileNote, ...] = ()
    commands: tuple[CommandNote, ...] = ()
    errors: tuple[ErrorNote, ...] = ()
    folded: tuple[Span, ...] = ()
    moved: dict[str, int] = {}


Note = FileNote | CommandNote | ErrorNote


def load(event: Compacted | None) -> Ledger:
    """The ledger an earlier compaction stored; empty when there was none or it cannot be read."""
    if event is None:
        return Ledger()
    try:
        return msgspec.json.decode(event.ledger, type=Ledger)
    except msgspec.MsgspecError:
        return Ledger()


def dump(ledger: Ledger) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(ledger))


def build(fold: Fold, leaving: Sequence[Entry]) -> Ledger:
    """The ledger for a compaction that folds `leaving`: the last one's, what was dropped since, and these."""
    old = load(fold.last_compaction)
    dropped = [gone for gone in fold.departed if _unnoted(fold, gone, old)]
    entries = {gone.seq: gone.entry for gone in dropped} | {e.seq: e for e in leaving}
    return merge(old, gather(fold, [entries[seq] for seq in sorted(entries)]))


def _unnoted(fold: Fold, gone: Departed, old: Ledger) -> bool:
    inside = gone.how in ("folded", "dropped") and gone.cycle == fold.cycle
    return inside and not covers(old.folded, gone.cycle, gone.index)


def gather(fold: Fold, entries: Iterable[Entry]) -> Ledger:
    """What `entries` (logged ones, in log order) say, ran and touched. Uncapped."""
    said: list[Said] = []
    files: dict[str, FileNote] = {}
    commands: dict[str, CommandNote] = {}
    errors: list[ErrorNote] = []
    places: list[Place] = []
    calls: dict[str, ToolCall] = {}
    for entry in entries:
        place = Place(entry.seq, *fold.place(entry.seq))
        places.append(place)
        event = fold.records[entry.seq - 1].event
        calls.update((call.id, call) for call in entry.message.tool_calls)
        if entry.kind in SAID:
            said.append(Said(place, entry.message.text))
        elif isinstance(event, NoteAppended) and event.kind == "shell":
            _newest(commands, CommandNote(place, one_line(event.text), "run by the user"))
        elif isinstance(event, ToolFinished):
            call = calls.get(event.result.call_id)
            if call:
                _note_call(event, call, place, files, commands)
            if event.result.is_error:
                errors.append(ErrorNote(place, both_ends(event.result.content, _ERROR)))
    return Ledger(tuple(said), tuple(files.values()), tuple(commands.values()), tuple(errors), spans(places))


def _note_call(
    event: ToolFinished,
    call: ToolCall,
    place: Place,
    files: dict[str, FileNote],
    commands: dict[str, CommandNote],
) -> None:
    arguments = _arguments(call)
    path, command = arguments.get("path"), arguments.get("command")
    if call.name in _ACTIONS and isinstance(path, str) and not event.result.is_error:
        stamp = _HASH.match(event.result.content)
        shown = stamp["path"] if stamp else path
        before = files.pop(shown, None)
        changed = call.name != "read" or (before is not None and before.changed)
        digest = stamp["hash"] if stamp else ""
        files[shown] = FileNote(place, one_line(shown), _ACTIONS[call.name], digest, changed)
    elif call.name == "shell" and isinstance(command, str):
        _newest(commands, CommandNote(place, one_line(command), event.summary or event.status))


def _newest(commands: dict[str, CommandNote], note: CommandNote) -> None:
    commands.pop(note.command, None)
    commands[note.command] = note


def _arguments(call: ToolCall) -> dict[str, Any]:
    try:
        return msgspec.json.decode(call.arguments, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return {}


def merge(old: Ledger, new: Ledger) -> Ledger:
    """Both; where they speak of the same thing the newer one, but a file once changed stays changed."""
    said = {item.place.seq: item for item in (*old.said, *new.said)}
    files = {note.path: note for note in old.files}
    for note in new.files:
        before = files.pop(note.path, None)
        changed = note.changed or (before is not None and before.changed)
        files[note.path] = msgspec.structs.replace(note, changed=changed)
    commands = {note.command: note for note in old.commands}
    for command in new.commands:
        _newest(commands, command)
    errors = {error.text: error for error in (*old.errors, *new.errors)}
    return Ledger(
        tuple(said[seq] for seq in sorted(said)),
        tuple(sorted(files.values(), key=_recency)),
        tuple(sorted(commands.values(), key=_recency)),
        tuple(sorted(errors.values(), key=_recency)),
        join((*old.folded, *new.folded)),
        {kind: old.moved.get(kind, 0) + new.moved.get(kind, 0) for kind in sorted({*old.moved, *new.moved})},
    )


def _recency(note: Note) -> int:
    return note.place.seq


# ---- spans ---------------------------------------------------------------------------------------------


def spans(places: Iterable[Place]) -> tuple[Span, ...]:
    return join(Span(place.cycle, place.index, place.index) for place in places)


def join(parts: Iterable[Span]) -> tuple[Span, ...]:
    """The same messages in as few spans as possible, in order."""
    joined: list[Span] = []
    for part in sorted(parts, key=lambda span: (span.cycle, span.first, span.last)):
        if joined and joined[-1].cycle == part.cycle and part.first <= joined[-1].last + 1:
            last = max(part.last, joined[-1].last)
            joined[-1] = Span(part.cycle, joined[-1].first, last)
        else:
            joined.append(part)
    return tuple(joined)


def covers(parts: Iterable[Span], cycle: int, index: int) -> bool:
    return any(part.cycle == cycle and part.first <= index <= part.last for part in parts)


# ---- the proof -----------------------------------------------------------------------------------------


def missing(fold: Fold, old: Ledger, leaving: Iterable[Entry], new: Ledger) -> tuple[str, ...]:
    """What of `old` and of the messages `leaving` is neither in `new` nor in one of its spans. Empty: sound."""
    lost: list[str] = []
    for entry in leaving:
        if not covers(new.folded, *fold.place(entry.seq)):
            lost.append(f"message {entry.seq}")
    for part in old.folded:
        if not any(
            p.cycle == part.cycle and p.first <= part.first and part.last <= p.last for p in new.folded
        ):
            lost.append(f"messages {part.first}..{part.last} of cycle {part.cycle}")
    held = {item.place.seq for item in new.said}
    lost += [f"words {s.place.seq}" for s in old.said if s.place.seq not in held and not _reach(new, s.place)]
    paths = {note.path for note in new.files}
    lost += [f"file {n.path}" for n in old.files if n.path not in paths and not _reach(new, n.place)]
    ran = {note.command for note in new.commands}
    lost += [
        f"command {n.command}" for n in old.commands if n.command not in ran and not _reach(new, n.place)
    ]
    failed = {error.text for error in new.errors}
    lost += [f"error {e.place.seq}" for e in old.errors if e.text not in failed and not _reach(new, e.place)]
    return tuple(lost)


def _reach(ledger: Ledger, place: Place) -> bool:
    return covers(ledger.folded, place.cycle, place.index)


# ---- short forms ---------------------------------------------------------------------------------------


def one_line(text: str, limit: int = _LINE) -> str:
    """`text` on one line, at most `limit` characters."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit and len(text) <= 4 * limit else line[: limit - 1] + "…"


def both_ends(text: str, limit: int) -> str:
    """The first third and the last two thirds of `limit` characters: errors tell most at their end."""
    text = text.strip()
    if len(text) <= limit:
        return text
    return f"{text[: limit // 3]}\n[…]\n{text[-(2 * limit // 3) :]}"
