"""What users and scripts rely on changes only on purpose."""

from __future__ import annotations

import re

from deeptide.config.schema import all_settings
from tests.contracts.source import ROOT, files
from tests.contracts.surface import surface

PINNED = ROOT / "tests" / "contracts" / "surface.txt"


def test_the_public_surface_is_the_pinned_one() -> None:
    assert surface() == PINNED.read_text(encoding="utf-8"), (
        "if this is on purpose: python -m tests.contracts.surface > tests/contracts/surface.txt"
    )


READERS = ("deeptide/wiring/", "deeptide/commands/", "deeptide/tui/", "deeptide/cli/")


def test_every_setting_is_read_by_something() -> None:
    text = "\n".join(source for name, source in files().items() if name.startswith(READERS))
    unread = [key for key in all_settings() if not re.search(rf"\.{key.partition('.')[2]}\b", text)]
    assert unread == [], "take the setting out, or use it"
