"""What a call would do, drawn verbatim for the approval panel: a command or a diff, nothing hidden.

Invariant: every character that would act on the terminal or hide text is written out, and every line of the
preview can be reached by scrolling.
"""

from __future__ import annotations

from collections.abc import Callable

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from deeptide.protocol.approvals import Approval
from deeptide.protocol.text import has_hidden, visible

Styler = Callable[[str], Style]
HIDDEN_WARNING = "It holds control or invisible characters, written out above."


def _written_out(raw: str, base: Style, alarm: Style) -> Text:
    """One line with its hidden characters spelled out and marked (only those, not a typed backslash)."""
    line = Text(style=base, end="")
    position = 0
    for at, character in enumerate(raw):
        if character != "\t" and has_hidden(character):
            line.append(raw[position:at].replace("\t", "    "))
            line.append(visible(character), alarm)
            position = at + 1
    line.append(raw[position:].replace("\t", "    "))
    return line


def _plain_line(raw: str, base: Style, alarm: Style) -> Text:
    if has_hidden(raw):
        return _written_out(raw, base, alarm)
    return Text(raw.replace("\t", "    "), base, end="")


def _diff_role(line: str) -> str:
    if line.startswith(("+++", "---", "@@", "diff ")):
        return "head"
    return {"+": "add", "-": "remove"}.get(line[:1], "plain")


def draw(approval: Approval, style: Styler) -> Text:
    """The preview. `style(role)` gives the style of plain, prompt, add, remove, head and alarm."""
    text = Text(end="", overflow="fold")
    for number, raw in enumerate(approval.preview.removesuffix("\n").split("\n")):
        if number:
            text.append("\n")
        role = _diff_role(raw) if approval.preview_kind == "diff" else "plain"
        if approval.preview_kind == "command":
            text.append("$ " if number == 0 else "  ", style("prompt"))
        text.append_text(_plain_line(raw, style(role), style("alarm")))
    return text


def rows_before_change(approval: Approval, width: int) -> int:
    """How many rows of `width` cells stand before the first changed line of a diff; 0 for anything else."""
    if approval.preview_kind != "diff" or width < 1:
        return 0
    rows = 0
    for line in approval.preview.split("\n"):
        if _diff_role(line) in ("add", "remove"):
            return rows
        rows += max(1, -(-cell_len(visible(line).replace("\t", "    ")) // width))
    return 0


def is_hiding(approval: Approval) -> bool:
    return has_hidden(approval.preview) or has_hidden(approval.title)
