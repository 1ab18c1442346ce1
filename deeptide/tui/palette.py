"""The colours of DeepTide, named by what they mean: one set each for dark, light, high contrast and NO_COLOR.

Every part of the terminal app takes its colours from here, either as `Palette` fields (for strips drawn by
hand) or as the Textual theme made from it, whose stylesheet variables are the built-in ones plus `$tide-...`
for each field (`muted` is `$tide-muted`, `add_ground` is `$tide-add-ground`).

Invariant: every palette fills every field, text on its own ground keeps a contrast of at least 4.5 (`faint`
and `line` are decoration and may have less), and nothing is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from textual.theme import Theme


class Palette(msgspec.Struct, frozen=True):
    """All colours are `#rrggbb`. Fields come in groups: grounds, texts, states, diffs, code.

    `ground` is the page, `panel` a raised area (composer, cards, dialogs), `raised` one step above a panel
    (the highlighted row of a list). `monochrome` means that colours will be filtered out by the app, so
    weight, slant, underline and reverse have to carry what colour does elsewhere.
    """

    name: str
    dark: bool
    monochrome: bool

    ground: str
    panel: str
    raised: str
    line: str
    select_ground: str
    find_ground: str

    text: str
    strong: str
    muted: str
    faint: str
    accent: str
    accent_text: str
    user: str
    user_ground: str
    thinking: str
    heading: str
    link: str

    good: str
    warning: str
    bad: str
    info: str

    add: str
    add_ground: str
    remove: str
    remove_ground: str

    code: str
    code_ground: str
    keyword: str
    string: str
    number: str
    comment: str
    function: str
    type: str
    operator: str

    def theme(self) -> Theme:
        """The Textual theme of this palette, named `deeptide-<name>`."""
        plain = {"name", "dark", "monochrome"}
        tide = {
            f"tide-{field.replace('_', '-')}": getattr(self, field)
            for field in self.__struct_fields__
            if field not in plain
        }
        return Theme(
            name=f"deeptide-{self.name}",
            primary=self.accent,
            secondary=self.user,
            accent=self.accent,
            success=self.good,
            warning=self.warning,
            error=self.bad,
            foreground=self.text,
            background=self.ground,
            surface=self.panel,
            panel=self.raised,
            dark=self.dark,
            variables={
                **tide,
                "border": self.accent,
                "border-blurred": self.line,
                "scrollbar": self.line,
                "scrollbar-hover": self.faint,
                "scrollbar-active": self.accent,
                "scrollbar-background": self.ground,
                "scrollbar-background-hover": self.ground,
                "scrollbar-background-active": self.ground,
                "scrollbar-corner-color": self.ground,
                "input-selection-background": self.select_ground,
                "screen-selection-background": self.select_ground,
                "screen-selection-foreground": self.strong,
                "block-cursor-background": self.accent,
                "block-cursor-foreground": self.accent_text,
                "block-cursor-text-style": "bold",
                "footer-key-foreground": self.accent,
                "footer-background": self.ground,
            },
        )


DARK = Palette(
    name="dark",
    dark=True,
    monochrome=False,
    ground="#0f151c",
    panel="#161e27",
    raised="#202b36",
    line="#2b3845",
    select_ground="#24506a",
    find_ground="#5a4a1a",
    text="#cfd8e0",
    strong="#f0f5f9",
    muted="#8b9bab",
    faint="#5f7081",
    accent="#4cc3d3",
    accent_text="#07202a",
    user="#79b8ff",
    user_ground="#15202c",
    thinking="#a493d6",
    heading="#8fd6e0",
    link="#79b8ff",
    good="#7ecb8f",
    warning="#e3b65c",
    bad="#f0858b",
    info="#79b8ff",
    add="#96d8a4",
    add_ground="#12321f",
    remove="#f2a0a4",
    remove_ground="#331c22",
    code="#e8c084",
    code_ground="#151d26",
    keyword="#c3a6f5",
    string="#a3d39c",
    number="#f0a873",
    comment="#7d8d9c",
    function="#7fc4f0",
    type="#63cfc4",
    operator="#a9bccb",
)

LIGHT = Palette(
    name="light",
    dark=False,
    monochrome=False,
    ground="#fbfbf9",
    panel="#f1f3f3",
    raised="#e4e9eb",
    line="#cdd5d9",
    select_ground="#b9dcec",
    find_ground="#f6e3a1",
    text="#26323c",
    strong="#0c161e",
    muted="#5a6874",
    faint="#83909a",
    accent="#00707f",
    accent_text="#ffffff",
    user="#1a5fb4",
    user_ground="#edf3f9",
    thinking="#6a51a8",
    heading="#00606d",
    link="#1a5fb4",
    good="#1f7a3a",
    warning="#8a5a00",
    bad="#b3262f",
    info="#1a5fb4",
    add="#1a6b33",
    add_ground="#e0f3e4",
    remove="#a3222b",
    remove_ground="#fbe6e6",
    code="#8a4b08",
    code_ground="#f2f4f4",
    keyword="#7a3fb5",
    string="#2a7034",
    number="#a14a08",
    comment="#626e78",
    function="#1a5fb4",
    type="#00707f",
    operator="#48555f",
)

CONTRAST = Palette(
    name="contrast",
    dark=True,
    monochrome=False,
    ground="#000000",
    panel="#0a0a0a",
    raised="#262626",
    line="#8c8c8c",
    select_ground="#004a8f",
    find_ground="#6b5200",
    text="#ffffff",
    strong="#ffffff",
    muted="#d6d6d6",
    faint="#b0b0b0",
    accent="#5cf2ff",
    accent_text="#000000",
    user="#9ed0ff",
    user_ground="#0d1a29",
    thinking="#d9c7ff",
    heading="#5cf2ff",
    link="#9ed0ff",
    good="#7dff9a",
    warning="#ffd75e",
    bad="#ff9a9a",
    info="#9ed0ff",
    add="#a5ffb8",
    add_ground="#06330f",
    remove="#ffb3b3",
    remove_ground="#3b0508",
    code="#ffdf9e",
    code_ground="#0f0f0f",
    keyword="#dcc4ff",
    string="#b5ffab",
    number="#ffc99a",
    comment="#c4c4c4",
    function="#a6dcff",
    type="#8cfff0",
    operator="#ffffff",
)

_GREYS = dict.fromkeys(
    (
        "text", "strong", "muted", "faint", "accent", "user", "thinking", "heading", "link", "good",
        "warning", "bad", "info", "add", "remove", "code", "keyword", "string", "number", "comment",
        "function", "type", "operator",
    ),
    "#e6e6e6",
) | dict.fromkeys(
    (
        "ground", "panel", "user_ground", "add_ground", "remove_ground", "code_ground", "accent_text",
        "find_ground",
    ),
    "#000000",
)  # fmt: skip

MONO = Palette(
    name="mono",
    dark=True,
    monochrome=True,
    raised="#303030",
    line="#808080",
    select_ground="#505050",
    **_GREYS,
)

PALETTES: dict[str, Palette] = {palette.name: palette for palette in (DARK, LIGHT, CONTRAST, MONO)}


def choose(name: str, environ: Mapping[str, str]) -> Palette:
    """The palette called `name` (`dark`, `light`, `contrast`, `mono`; anything else is `dark`), or the
    monochrome one when NO_COLOR is set to anything but the empty string (https://no-color.org).

    Textual takes NO_COLOR out of `os.environ` when the app object is made: ask before, or pass a copy.
    """
    if environ.get("NO_COLOR"):
        return MONO
    return PALETTES.get(name, DARK)
