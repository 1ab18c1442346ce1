"""The styles that lines are drawn with, made once from a palette.

Invariant: an ink sets only what differs from the page; grounds are inks of their own, laid under a whole line.
"""

from __future__ import annotations

from dataclasses import dataclass

from rich.style import Style

from deeptide.tui.palette import Palette
from deeptide.tui.scrollback.glyphs import UNICODE, Glyphs


@dataclass(frozen=True)
class Inks:
    """`syntax` maps the kinds of `code.py` to inks. `*_fill` are grounds."""

    glyphs: Glyphs
    page: Style
    text: Style
    strong: Style
    muted: Style
    faint: Style
    line: Style
    accent: Style
    user: Style
    user_fill: Style
    thinking: Style
    heading: Style
    code: Style
    code_fill: Style
    link: Style
    good: Style
    warning: Style
    bad: Style
    info: Style
    add: Style
    add_fill: Style
    remove: Style
    remove_fill: Style
    select: Style
    find: Style
    pill: Style
    syntax: dict[str, Style]

    @classmethod
    def of(cls, palette: Palette, glyphs: Glyphs = UNICODE) -> Inks:
        mono = palette.monochrome
        p = palette
        syntax = {
            name: Style(color=getattr(p, name))
            for name in ("keyword", "string", "number", "comment", "function", "type", "operator")
        }
        if mono:
            syntax |= {"keyword": Style(bold=True), "comment": Style(dim=True)}
        return cls(
            glyphs=glyphs,
            page=Style(color=p.text, bgcolor=p.ground),
            text=Style(color=p.text),
            strong=Style(color=p.strong, bold=True),
            muted=Style(color=p.muted, dim=mono or None),
            faint=Style(color=p.faint, dim=mono or None),
            line=Style(color=p.line, dim=mono or None),
            accent=Style(color=p.accent, bold=mono or None),
            user=Style(color=p.user, bold=True),
            user_fill=Style(color=p.text, bgcolor=p.user_ground, bold=mono or None),
            thinking=Style(color=p.thinking, italic=True, dim=mono or None),
            heading=Style(color=p.heading, bold=True, underline=mono or None),
            code=Style(color=p.code, bold=mono or None),
            code_fill=Style(color=p.text, bgcolor=p.code_ground),
            link=Style(color=p.link, underline=True),
            good=Style(color=p.good),
            warning=Style(color=p.warning, bold=mono or None),
            bad=Style(color=p.bad, bold=mono or None),
            info=Style(color=p.info),
            add=Style(color=p.add),
            add_fill=Style(color=p.add, bgcolor=p.add_ground),
            remove=Style(color=p.remove, dim=mono or None),
            remove_fill=Style(color=p.remove, bgcolor=p.remove_ground),
            select=Style(reverse=True) if mono else Style(color=p.strong, bgcolor=p.select_ground),
            find=Style(reverse=True, bold=True) if mono else Style(color=p.strong, bgcolor=p.find_ground),
            pill=Style(reverse=True) if mono else Style(color=p.accent_text, bgcolor=p.accent, bold=True),
            syntax=syntax,
        )
