"""A transcript as a Markdown file that people can read and keep.

Invariant: pure; whatever a tool printed cannot break out of its fence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from deeptide.protocol.plan import BOX
from deeptide.transcript.blocks import (
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
from deeptide.transcript.notes import counted, short

_MARKS = {
    "interrupted": "interrupted",
    "cut": "the connection broke here",
    "length": "cut at the length limit",
    "content_filter": "stopped by the provider's filter",
}


def markdown(blocks: Iterable[Block]) -> str:
    """The whole talk: prompts as headings, answers verbatim, tool calls as fenced blocks. Ends with a
    newline; empty for no blocks. Facts appended for the model are left out."""
    parts = [part for part in (_part(block) for block in blocks) if part]
    return "\n\n".join(parts) + "\n" if parts else ""


def _part(block: Block) -> str:
    match block:
        case UserBlock():
            return f"## {'You (while it worked)' if block.steered else 'You'}\n\n{block.text}"
        case ThinkingBlock():
            return _details(f"Thought for {seconds(block.elapsed_ms)}", block.text)
        case AnswerBlock():
            mark = f"\n\n*[{_MARKS[block.mark]}]*" if block.mark else ""
            return f"{block.markdown}{mark}"
        case ToolBlock():
            return _call(block)
        case NoteBlock():
            return _note(block)
        case DividerBlock():
            return f"---\n\n*{block.label}{' · ' + block.detail if block.detail else ''}*"
        case PlanBlock():
            return "\n".join(
                f"- {BOX[item.status].replace('~', ' ')} {item.text}" for item in block.plan.items
            )
        case SummaryBlock():
            undone = " · undone" if block.undone else ""
            return f"---\n\n*{block.label} · {block.detail}{undone}*\n\n{_details('Summary', block.text)}"
        case TurnBlock():
            return f"*{turn_line(block)}*"
        case _:
            return ""


def seconds(elapsed_ms: int) -> str:
    """A duration for people: 0.4 s, 12 s, 3 min 20 s."""
    whole = elapsed_ms / 1000
    if whole < 9.95:
        return f"{whole:.1f} s"
    if whole < 60:
        return f"{whole:.0f} s"
    return f"{int(whole) // 60} min {int(whole) % 60} s"


def turn_line(block: TurnBlock) -> str:
    """The foot of a turn in one line: model, time, tokens in and out, cache share, cost."""
    usage = block.usage
    parts = [block.model, seconds(block.elapsed_ms)]
    if block.calls:
        parts.append(counted(block.calls, "call"))
    if usage.prompt:
        cached = f" ({usage.hit * 100 // usage.prompt} % cached)" if usage.hit else ""
        parts.append(f"{short(usage.prompt)} in{cached}")
        parts.append(f"{short(usage.completion)} out")
    if block.cost is not None and block.cost.amount:
        parts.append(str(block.cost))
    return " · ".join(part for part in parts if part)


def _note(block: NoteBlock) -> str:
    if block.level == "model":
        return ""
    if block.level == "shell":
        return _fence(block.text, "text")
    advice = f" {block.advice}" if block.advice else ""
    return f"> {block.level}: {block.text}{advice}".replace("\n", "\n> ")


def _call(block: ToolBlock) -> str:
    summary = f" · {block.summary}" if block.summary else ""
    head = f"**{_code(block.title)}** {block.status}{summary}"
    if block.trace:
        head += f" · {block.trace}"
    body = _fence(block.diff, "diff") if block.diff else _fence(block.output, "text") if block.output else ""
    return f"{head}\n\n{body}" if body else head


def _code(text: str) -> str:
    ticks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}".replace("\n", " ")


def _fence(text: str, language: str) -> str:
    ticks = "`" * max(3, max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    return f"{ticks}{language}\n{text.rstrip(chr(10))}\n{ticks}"


def _details(title: str, text: str) -> str:
    safe = text.replace("</details>", "&lt;/details&gt;")
    return f"<details><summary>{title}</summary>\n\n{safe}\n\n</details>"
