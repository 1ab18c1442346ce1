"""The status line fits any width."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from deeptide.protocol.approvals import MODES
from deeptide.tui.widgets.activity import clock, wave
from deeptide.tui.widgets.status import GAUGE, Facts, compose_line, gauge
from tests.deep import count

FULL = Facts(
    "auto-edit", "deepseek-v4-pro", "high", 93.4, 90, 97.2, "$12.34", 3, "修复上传测试 once and for all"
)


def shown(facts: Facts, width: int) -> str:
    groups, title = compose_line(facts, width)
    return "  ".join("".join(text for text, _ in group) for group in groups) + ("  " + title if title else "")


@given(
    st.builds(
        Facts,
        mode=st.sampled_from(MODES),
        model=st.text(max_size=40),
        effort=st.sampled_from(["", "off", "high"]),
        percent=st.one_of(st.none(), st.floats(0, 200)),
        tier=st.sampled_from([0, 80, 90, 95]),
        hit=st.one_of(st.none(), st.floats(0, 100)),
        queued=st.integers(0, 9),
        title=st.text(max_size=60),
    ),
    st.integers(20, 200),
)
@settings(max_examples=count(200, 5000))
def test_the_line_is_never_wider_than_the_screen(facts: Facts, width: int) -> None:
    groups, title = compose_line(facts, width)
    size = sum(cell_len(text) for group in groups for text, _ in group) + 2 * (len(groups) - 1)
    assert size + cell_len(title) + (3 if title else 0) <= width or len(groups) == 1


@pytest.mark.parametrize(
    ("width", "kept"),
    [(120, "cache"), (120, "修复"), (80, "$12.34"), (60, "93%"), (60, "3 queued"), (30, "93%")],
)
def test_what_matters_most_stays_longest(width: int, kept: str) -> None:
    assert kept in shown(FULL, width)


def test_the_gauge_shows_anything_above_nothing_and_is_full_only_when_full() -> None:
    assert gauge(0) == ("", "─" * GAUGE)
    assert gauge(0.1)[0] == "━"
    assert gauge(99.9)[1] == "─"
    assert gauge(100) == ("━" * GAUGE, "")
    assert gauge(140) == ("━" * GAUGE, "")


def test_the_wave_always_takes_the_same_room() -> None:
    assert {len(wave(tick)) for tick in range(100)} == {4}


def test_the_clock_grows_by_units() -> None:
    assert [clock(0), clock(59.9), clock(61), clock(3660)] == ["0s", "59s", "1m 01s", "1h 01m"]
