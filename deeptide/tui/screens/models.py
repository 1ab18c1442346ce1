"""The model picker: which model, and how hard it thinks.

Invariant: it offers what the catalogue offers and returns names only.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from deeptide.tui.ports import ModelChoice
from deeptide.tui.screens.picker import Picker
from deeptide.tui.widgets.rows import Row, Rows


class ModelPicker(Picker):
    """Returns `model effort` (the effort may be missing), or None."""

    heading = "Model"
    empty = "No model of the catalogue fits"
    keys = "↑↓ model · ←→ effort · Enter takes · Esc"

    def __init__(self, models: Sequence[ModelChoice], current: str, effort: str) -> None:
        super().__init__()
        self._models = {model.id: model for model in models}
        self._current = current
        self._effort = effort

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(Rows).choose(self._current)

    def rows(self) -> Sequence[Row]:
        return [
            Row(model.id, model.id, f"{_tokens(model.window)} window", marked=model.id == self._current)
            for model in self._models.values()
        ]

    def _efforts(self) -> tuple[str, ...]:
        row = self.query_one(Rows).chosen
        return tuple(self._models[row.value].efforts) if row else ()

    def preview(self, row: Row) -> Text:
        text = Text("effort  ", "dim")
        for effort in self._models[row.value].efforts:
            text.append(f" {effort} ", "reverse bold" if effort == self._effort else "")
            text.append(" ")
        if row.value != self._current:
            text.append(
                "\n\nAnother model reads the whole context anew once: the cache belongs to a model.", "dim"
            )
        return text

    def act(self, key: str) -> bool:
        if key not in ("left", "right"):
            return super().act(key)
        efforts = self._efforts()
        if efforts:
            at = efforts.index(self._effort) if self._effort in efforts else 0
            self._effort = efforts[(at + (1 if key == "right" else -1)) % len(efforts)]
            self.on_rows_moved()
        return True

    def take(self) -> None:
        row = self.query_one(Rows).chosen
        if row is not None:
            self.dismiss(f"{row.value} {self._effort}".strip())


def _tokens(count: int) -> str:
    if count >= 1_000_000:
        return f"{count / 1_000_000:.3g}M"
    return f"{count / 1_000:.3g}k"
