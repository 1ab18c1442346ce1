"""Exit codes are a promise to scripts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from deeptide.headless.exits import MEANING, Exit, exit_of
from deeptide.protocol.events import EndReason, TurnEnded

ROOT = Path(__file__).resolve().parents[2]


def test_no_number_changes_its_meaning() -> None:
    assert {code.name: code.value for code in Exit} == {
        "OK": 0,
        "FAILED": 1,
        "USAGE": 2,
        "TURNS": 3,
        "COST": 4,
        "DENIED": 5,
        "BLOCKED": 6,
        "RETRYABLE": 75,
        "INTERRUPTED": 130,
        "TERMINATED": 143,
    }


def test_every_code_has_a_meaning_and_stands_in_the_documentation() -> None:
    assert set(MEANING) == set(Exit)
    text = (ROOT / "docs" / "headless.md").read_text(encoding="utf-8")
    rows = {
        int(number): meaning.strip() for number, meaning in re.findall(r"^\| (\d+) \| (.+) \|$", text, re.M)
    }
    assert rows == {code.value: meaning for code, meaning in MEANING.items()}


@pytest.mark.parametrize(
    ("reason", "retryable", "denied_last", "code"),
    [
        ("done", False, False, Exit.OK),
        ("done", False, True, Exit.DENIED),
        ("denied", False, False, Exit.DENIED),
        ("turns", False, True, Exit.TURNS),
        ("money", False, False, Exit.COST),
        ("repetition", False, False, Exit.BLOCKED),
        ("interrupted", False, False, Exit.INTERRUPTED),
        ("error", False, False, Exit.FAILED),
        ("error", True, False, Exit.RETRYABLE),
    ],
)
def test_how_a_turn_ends_decides_the_code(
    reason: EndReason, retryable: bool, denied_last: bool, code: Exit
) -> None:
    assert exit_of(TurnEnded(1, reason, retryable=retryable), denied_last) is code
