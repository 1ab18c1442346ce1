"""What each kind of block looks like, folded and unfolded.

Invariant: a folded block is short whatever it holds; an unfolded one hides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from rich.style import Style

from deeptide.protocol.plan import Plan
from deeptide.transcript.blocks import (
    OPEN_CALLS,
    AnswerBlock,
    Block,
    DividerBlock,
    NoteBlock,
    PlanBlock,
    SummaryBlock,
    ThinkingBlock,
    ToolBlock,
    TurnBlock,
    UserBlock,
)
from deeptide.transcript.export import seconds, turn_line
from deeptide.transcript.notes import counted
from deeptide.tui.scrollback.cells import fit, width_of
from deeptide.tui.scrollback.diffs import diff_parts
from deeptide.tui.scrollback.inks import Inks
from deeptide.tui.scrollback.parts import Ink, Part, PlainPart, chunked, source_parts
from deeptide.tui.scrollback.sheet import Pen, Run, Sheet
from deeptide.tui.scrollback.split import split

Fold = Literal["", "folded", "unfolded"]

TAIL_LINES = 6
DIFF_LINES = 12
USER_LINES = 12
QUIET = frozenset(("read", "list", "glob", "grep", "todo", "recall_archive", "read_archive", "ask_user"))
"""Tools whose output is for the model: their folded card is one line."""

_MARKS = {
    "interrupted": "interrupted here",
    "cut": "the connection broke here",
    "length": "cut here by the length limit",
    "content_filter": "stopped here by the provider's filter",
}
_STATES: dict[str, tuple[str, str]] = {
    "ok": ("done", "good"),
    "error": ("failed", "bad"),
    "denied": ("denied", "bad"),
    "cancelled": ("stopped", "muted"),
    "orphaned": ("stopped", "muted"),
    "running": ("running", "accent"),
    "waiting": ("waiting", "muted"),
    "writing": ("writing", "muted"),
}


@dataclass(frozen=True, slots=True)
class LinePart:
    """One line: runs named by ink, then `meta` (dim) if there is room. Cut at the edge, never wrapped."""

    runs: tuple[tuple[str, str], ...]
    meta: str = ""
    gap: int = 0
    toggles: bool = False

    def estimate(self, width: int) -> int:
        return 1

    def draw(self, width: int, inks: Inks) -> Sheet:
        pen = Pen(width)
        runs: list[Run] = [(text, _ink(inks, ink)) for text, ink in self.runs]
        gutter, words = runs[:1], runs[1:]
        meta = f"  {self.meta}" if self.meta else ""
        room = width - width_of(gutter[0][0]) - 1
        if meta and width_of(meta) > room // 2:
            meta = fit(meta, room // 2, inks.glyphs.more)
        kept = _fitted(words, room - width_of(meta), inks)
        pen.write([*kept, (meta, inks.faint)], first=gutter, code=True)
        return pen.sheet()


@dataclass(frozen=True, slots=True)
class RulePart:
    """A line across the page with words in it."""

    label: str
    detail: str
    fold: Fold = ""
    struck: bool = False
    gap: int = 0

    @property
    def toggles(self) -> bool:
        return bool(self.fold)

    def estimate(self, width: int) -> int:
        return 1

    def draw(self, width: int, inks: Inks) -> Sheet:
        pen = Pen(width)
        rule = inks.glyphs.rule
        label = inks.accent + Style(strike=True) if self.struck else inks.accent
        words: list[Run] = [(self.label, label)]
        if self.detail:
            words.append((f" {inks.glyphs.dot} {self.detail}", inks.muted))
        sign: list[Run] = [(f" {getattr(inks.glyphs, self.fold)}", inks.muted)] if self.fold else []
        kept = [*_fitted(words, width - 6 - 2 * len(sign), inks), *sign]
        used = sum(width_of(run[0]) for run in kept)
        pen.write([*kept], first=[(rule * 2 + " ", inks.line)], code=True)
        line = pen.lines[-1]
        line.pieces.append(
            line.pieces[0]._replace(text=" " + rule * max(0, width - used - 4), offset=line.end)
        )
        return pen.sheet()


@dataclass(frozen=True, slots=True)
class PlanPart:
    plan: Plan
    all: bool
    gap: int = 0
    toggles: bool = True

    def estimate(self, width: int) -> int:
        return len(self._shown()) + 1

    def _shown(self) -> list[int]:
        """Indices of the items to show: all, or those around the one in work."""
        items = self.plan.items
        if self.all or len(items) <= 8:
            return list(range(len(items)))
        now = next((i for i, item in enumerate(items) if item.status != "completed"), len(items) - 1)
        start = max(0, min(now - 2, len(items) - 6))
        return list(range(start, min(start + 6, len(items))))

    def draw(self, width: int, inks: Inks) -> Sheet:
        pen = Pen(width)
        items = self.plan.items
        done = sum(item.status == "completed" for item in items)
        shown = self._shown()
        head: list[Run] = [("Plan ", inks.strong), (f"{done} of {len(items)} done", inks.muted)]
        if len(shown) < len(items):
            head.append((f"  {inks.glyphs.folded} {len(items) - len(shown)} more", inks.faint))
        pen.write(head, first=[("  ", inks.text)])
        glyphs = inks.glyphs
        looks = {
            "completed": (glyphs.box_done, inks.good, inks.muted),
            "in_progress": (glyphs.box_half, inks.accent, inks.strong),
            "pending": (glyphs.box_open, inks.muted, inks.text),
        }
        for index in shown:
            sign, sign_ink, ink = looks[items[index].status]
            gutter: list[Run] = [("  ", inks.text), (f"{sign} ", sign_ink)]
            pen.write([(items[index].text, ink)], first=gutter, rest=[("    ", inks.text)])
        return pen.sheet()


def _ink(inks: Inks, name: str) -> Style:
    return cast(Style, getattr(inks, name))


def _fitted(runs: Sequence[Run], room: int, inks: Inks) -> list[Run]:
    kept: list[Run] = []
    for text, style in runs:
        size = width_of(text)
        if size <= room:
            kept.append((text, style))
            room -= size
            continue
        if room > 1:
            kept.append((fit(text, room, inks.glyphs.more), style))
        break
    return kept


# ---- blocks to parts -------------------------------------------------------------------------------------


def parts_of(block: Block, unfolded: bool) -> list[Part]:
    """The parts of any block but a streaming answer (see `body.py`)."""
    draw = _PARTS.get(type(block))
    return draw(block, unfolded) if draw else []


def foldable(block: Block) -> bool:
    """Whether folding the block changes what is shown."""
    match block:
        case ThinkingBlock():
            return True
        case SummaryBlock():
            return bool(block.text)
        case ToolBlock():
            return bool(block.output or block.diff or "\n" in block.title)
        case NoteBlock():
            return block.level in ("model", "shell")
        case UserBlock():
            return _long(block.text)
        case PlanBlock():
            return len(block.plan.items) > 8
        case _:
            return False


def mark_parts(block: AnswerBlock) -> list[Part]:
    """The line that says why an answer is not whole."""
    if not block.mark:
        return []
    return [
        LinePart((("  ", "text"), (f"[{_MARKS[block.mark]}]", "warning")), gap=1 if len(block.source) else 0)
    ]


def _long(text: str) -> bool:
    return len(text) > 2_000 or text.count("\n") >= USER_LINES


def _more(hidden: int, noun: str = "line") -> LinePart:
    return LinePart((("    ", "text"), (f"… {counted(hidden, noun)} more", "faint")), toggles=True)


def _user(block: UserBlock, unfolded: bool) -> list[Part]:
    text, parts = block.text.rstrip("\n"), cast("list[Part]", [])
    if block.steered:
        parts.append(PlainPart("while it worked", "muted", "user", indent=0))
    if unfolded or not _long(text):
        parts.extend(PlainPart(chunk, "user", "user", indent=0) for chunk in chunked(text))
        return parts
    head = "\n".join(line for line in text[:2_000].split("\n")[:USER_LINES])
    parts.append(PlainPart(head, "user", "user", indent=0, toggles=True))
    hidden = text.count("\n") + 1 - USER_LINES
    note = (
        f"… {counted(hidden, 'line')} more" if hidden > 0 else f"… {len(text) - len(head):,} characters more"
    )
    parts.append(PlainPart(note, "muted", "user", indent=0, toggles=True))
    return parts


def _thinking(block: ThinkingBlock, unfolded: bool) -> list[Part]:
    sign: Fold = "unfolded" if unfolded else "folded"
    if block.open:
        last = (
            block.source[-400:]
            if isinstance(block.source, str)
            else block.source.since(len(block.source) - 400)
        )
        now = last.strip().rpartition("\n")[2].strip() if not unfolded else ""
        head = SignPart("think", "thinking", (("Thinking", "thinking"),), f"{now}", sign)
    else:
        took = f"Thought for {seconds(block.elapsed_ms)}" if block.elapsed_ms >= 50 else "Thought"
        head = SignPart("think", "thinking", ((took, "thinking"),), "", sign)
    if not unfolded:
        return [head]
    text = block.text.strip("\n")
    return [head, *(PlainPart(chunk, "muted", "thin", indent=2) for chunk in chunked(text))]


@dataclass(frozen=True, slots=True)
class SignPart:
    """A one-line head: a sign, some words, dim `meta`, and whether there is more behind it."""

    sign: str
    sign_ink: str
    runs: tuple[tuple[str, str], ...]
    meta: str = ""
    fold: Fold = ""
    gap: int = 0

    @property
    def toggles(self) -> bool:
        return bool(self.fold)

    def estimate(self, width: int) -> int:
        return 1

    def draw(self, width: int, inks: Inks) -> Sheet:
        runs = (("  " + getattr(inks.glyphs, self.sign) + " ", self.sign_ink), *self.runs)
        if self.fold:
            runs = (*runs, (f" {getattr(inks.glyphs, self.fold)}", "faint"))
        return LinePart(runs, self.meta).draw(width, inks)


def _tool(block: ToolBlock, unfolded: bool) -> list[Part]:
    sign, ink = _STATES[block.status]
    first, _, rest = block.title.partition("\n")[0].partition(" ")
    if "\n" in block.title:
        rest += " …"
    words = ((first, "strong"), (f" {rest}" if rest else "", "text"))
    facts = [block.summary]
    if block.status in ("denied", "cancelled"):
        facts.insert(0, block.status)
    if block.elapsed_ms >= 1000:
        facts.append(seconds(block.elapsed_ms))
    body = _tool_body(block, unfolded)
    fold: Fold = ("unfolded" if unfolded else "folded") if foldable(block) else ""
    parts: list[Part] = [SignPart(sign, ink, words, " · ".join(fact for fact in facts if fact), fold)]
    if unfolded and "\n" in block.title:
        parts.extend(PlainPart(chunk, "text", "thin", indent=4) for chunk in chunked(block.title))
    if block.trace:
        parts.append(PlainPart(block.trace, "faint", indent=4))
    parts.extend(body)
    return parts


def _tool_body(block: ToolBlock, unfolded: bool) -> list[Part]:
    parts: list[Part] = []
    if block.diff and block.status not in ("error", "denied"):
        rows, hidden = diff_parts(block.diff, 0 if unfolded else DIFF_LINES)
        parts.extend(rows)
        if hidden:
            parts.append(_more(hidden))
        return parts
    output = block.output.strip("\n")
    if not output:
        return parts
    ink: Ink = "bad" if block.status == "error" and block.name != "shell" else "muted"
    if unfolded:
        parts.extend(PlainPart(chunk, ink, "thin", indent=4) for chunk in chunked(output))
        if block.spill:
            parts.append(LinePart((("    ", "text"), (f"all of it: {block.spill}", "faint"))))
        return parts
    if block.status == "ok" and block.name in QUIET:
        return parts
    lines = output.split("\n")
    limit = TAIL_LINES if block.status != "denied" else 1
    hidden = len(lines) - limit
    if hidden > 1:
        if block.status not in OPEN_CALLS:
            parts.append(_more(hidden))
        lines = lines[-limit:]
    parts.append(PlainPart("\n".join(lines), ink, "thin", indent=4, cut=True, toggles=True))
    return parts


def _note(block: NoteBlock, unfolded: bool) -> list[Part]:
    if block.level == "model":
        head = LinePart((("  ", "text"), (f"+ for the model: {block.label}", "faint")), toggles=True)
        body = [PlainPart(chunk, "faint", "thin", indent=2) for chunk in chunked(block.text.strip("\n"))]
        return [head, *body] if unfolded else [head]
    if block.level == "shell":
        return _shell(block.text, unfolded)
    if block.level == "info":
        return [PlainPart(_with(block.text, block.advice), "muted", indent=2)]
    ink: Ink = "bad" if block.level == "error" else "warning"
    parts: list[Part] = [PlainPart(block.text, ink, "thick", indent=0)]
    if block.advice:
        parts.append(PlainPart(block.advice, "muted", indent=2))
    return parts


def _with(text: str, advice: str) -> str:
    return f"{text} {advice}" if advice else text


def _shell(text: str, unfolded: bool) -> list[Part]:
    """The user's own command: the line that begins with `$ ` is the head, a closing line in parentheses says
    how it ended, what stands before the head is for the model only."""
    lines = text.strip("\n").split("\n")
    head = next((at for at, line in enumerate(lines) if line.startswith("$ ")), 0)
    command, lines = lines[head], lines[head + 1 :]
    ended = next(
        (at for at in range(len(lines) - 1, max(-1, len(lines) - 3), -1) if lines[at][:1] == "("), -1
    )
    meta = lines.pop(ended).strip("()") if ended >= 0 else ""
    hidden = 0 if unfolded else max(0, len(lines) - 2 * TAIL_LINES)
    fold: Fold = "unfolded" if unfolded else "folded" if hidden else ""
    failed = bool(meta) and meta != "exit 0"
    sign, ink = ("failed", "bad") if failed else ("done", "good")
    words = (("$", "strong"), (command.removeprefix("$"), "text"))
    parts: list[Part] = [SignPart(sign, ink, words, meta, fold)]
    if hidden:
        parts.append(_more(hidden))
    if lines:
        body = "\n".join(lines[hidden:])
        parts.extend(PlainPart(chunk, "muted", "thin", indent=4, cut=not unfolded) for chunk in chunked(body))
    return parts


def _divider(block: DividerBlock, unfolded: bool) -> list[Part]:
    return [RulePart(block.label, block.detail)]


def _summary(block: SummaryBlock, unfolded: bool) -> list[Part]:
    detail = f"{block.detail} · undone" if block.undone else block.detail
    parts: list[Part] = [RulePart(block.label, detail, "unfolded" if unfolded else "folded", block.undone)]
    if unfolded:
        parts.extend(source_parts(split(block.text)))
    return parts


def _plan(block: PlanBlock, unfolded: bool) -> list[Part]:
    return [PlanPart(block.plan, unfolded, toggles=foldable(block))]


def _turn(block: TurnBlock, unfolded: bool) -> list[Part]:
    return [PlainPart(turn_line(block), "faint")]


_PARTS: dict[type[Block], Callable[..., list[Part]]] = {
    UserBlock: _user,
    ThinkingBlock: _thinking,
    ToolBlock: _tool,
    NoteBlock: _note,
    DividerBlock: _divider,
    SummaryBlock: _summary,
    PlanBlock: _plan,
    TurnBlock: _turn,
}

_ACTIVITY = (ThinkingBlock, ToolBlock)


def gap_between(above: Block | None, below: Block, unfolded: bool = False) -> int:
    """Empty lines between two blocks: what the agent does stands together unless more than its head is shown,
    everything else apart. `unfolded` is about the block above."""
    if above is None:
        return 0
    if isinstance(above, _ACTIVITY) and isinstance(below, _ACTIVITY):
        return int(_shows_body(above, unfolded))
    if isinstance(above, NoteBlock) and isinstance(below, NoteBlock) and above.level == below.level == "info":
        return 0
    return 1


def _shows_body(block: ThinkingBlock | ToolBlock, unfolded: bool) -> bool:
    if isinstance(block, ThinkingBlock) or unfolded:
        return unfolded
    return bool(block.diff) or (bool(block.output) and (block.status != "ok" or block.name not in QUIET))
