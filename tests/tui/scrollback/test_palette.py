from __future__ import annotations

import pytest
from rich.color import Color as Ansi
from rich.color import ColorSystem
from textual.color import Color

from deeptide.tui.palette import DARK, MONO, PALETTES, Palette, choose
from deeptide.tui.scrollback.inks import Inks

ON_THE_PAGE = (
    "text", "strong", "muted", "accent", "user", "thinking", "heading", "link", "good", "warning", "bad", "info",
    "add", "remove", "code",
)  # fmt: skip
IN_CODE = ("code", "keyword", "string", "number", "comment", "function", "type", "operator", "text")
PAIRS = (
    ("add", "add_ground"), ("remove", "remove_ground"), ("strong", "select_ground"), ("strong", "find_ground"),
    ("accent_text", "accent"), ("text", "user_ground"), ("muted", "panel"), ("text", "raised"),
)  # fmt: skip


def contrast(one: str, other: str) -> float:
    """WCAG 2 contrast of two colours, 1 to 21."""

    def light(colour: str) -> float:
        linear = [
            v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4
            for v in Color.parse(colour).normalized
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
def test_everything_that_is_read_can_be_read(palette: Palette) -> None:
    pairs = (
        [(name, "ground") for name in ON_THE_PAGE] + [(name, "code_ground") for name in IN_CODE] + list(PAIRS)
    )
    for ink, ground in pairs:
        assert contrast(getattr(palette, ink), getattr(palette, ground)) >= 4.5, (ink, ground)
    assert contrast(palette.faint, palette.ground) >= 3


@pytest.mark.parametrize("palette", [p for p in PALETTES.values() if not p.monochrome], ids=lambda p: p.name)
def test_with_256_colours_added_and_removed_lines_still_have_grounds_of_their_own(palette: Palette) -> None:
    def coarse(colour: str) -> str:
        return Ansi.parse(colour).downgrade(ColorSystem.EIGHT_BIT).get_truecolor().hex

    grounds = {coarse(ground) for ground in (palette.ground, palette.add_ground, palette.remove_ground)}
    assert len(grounds) == 3
    assert contrast(coarse(palette.add), coarse(palette.add_ground)) >= 4.5
    assert contrast(coarse(palette.remove), coarse(palette.remove_ground)) >= 4.5


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
def test_a_theme_carries_every_colour_as_a_variable(palette: Palette) -> None:
    variables = palette.theme().variables
    for field in palette.__struct_fields__:
        if field not in ("name", "dark", "monochrome"):
            assert variables[f"tide-{field.replace('_', '-')}"] == getattr(palette, field)


def test_no_color_wins_over_the_setting_and_an_unknown_name_is_dark() -> None:
    assert choose("light", {"NO_COLOR": "1"}) is MONO
    assert choose("light", {"NO_COLOR": ""}) is PALETTES["light"]
    assert choose("auto", {}) is DARK


def test_without_colours_weight_and_slant_still_tell_things_apart() -> None:
    inks = Inks.of(MONO)

    def look(name: str) -> tuple[object, ...]:
        style = getattr(inks, name)
        return (style.bold, style.dim, style.italic, style.underline, style.reverse)

    assert look("heading") != look("text")
    assert look("code") != look("text")
    assert look("link") != look("text")
    assert look("muted") != look("text")
    assert look("select") != look("text")
    assert look("user_fill") != look("text")
    assert look("add") != look("remove")
