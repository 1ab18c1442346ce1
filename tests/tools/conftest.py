"""The fixture of this folder: a workbench in an empty workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.workbench import Workbench, workbench


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    root = tmp_path / "work"
    root.mkdir()
    return workbench(root, tmp_path / "spill")
