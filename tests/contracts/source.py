"""The package's own source, parsed once for the contract tests."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "deeptide"


@cache
def files() -> dict[str, str]:
    """Every Python file of the package by its path inside the checkout."""
    return {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for path in sorted(PACKAGE.rglob("*.py"))
    }


@cache
def trees() -> dict[str, ast.Module]:
    return {name: ast.parse(text, name) for name, text in files().items()}


def module_of(name: str) -> str:
    """`deeptide/cli/main.py` as `deeptide.cli.main`."""
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
