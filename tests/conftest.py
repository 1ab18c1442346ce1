"""Shared fixtures: every test gets its own DEEPTIDE_HOME and no key from the machine."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "deeptide-home"
    monkeypatch.setenv("DEEPTIDE_HOME", str(home))
    for name in ("DEEPSEEK_API_KEY", "NO_COLOR", "DEEPTIDE_MODEL", "DEEPTIDE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return home
