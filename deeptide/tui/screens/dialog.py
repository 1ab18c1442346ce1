"""What all screens that cover the page have in common: their stylesheet, read when the first of them opens.

Invariant: no dialog costs the first frame anything.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from textual.screen import ModalScreen

Answer = TypeVar("Answer")


class Dialog(ModalScreen[Answer]):
    CSS_PATH = Path(__file__).with_name("dialogs.tcss")
