"""How large a property test runs: small in `.ci/run`, large in `.ci/deep` (DEEPTIDE_DEEP=1)."""

from __future__ import annotations

import os

DEEP = os.environ.get("DEEPTIDE_DEEP") == "1"


def count(small: int, deep: int) -> int:
    """`small` normally, `deep` when DEEPTIDE_DEEP=1."""
    return deep if DEEP else small
