"""The transcript as it stands in the app, above panels that come and go.

Invariant: a change of its height is not a move of the reader: who followed the newest line still does.
"""

from __future__ import annotations

from textual.scroll_view import ScrollView

from deeptide.tui.scrollback.scrollback import Scrollback


class Page(Scrollback):
    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """From `Scrollback`. While the new height has not reached the column yet, Textual only keeps its own
        number inside its new bounds."""
        if self.scrollable_content_region.height != self.column.height:
            ScrollView.watch_scroll_y(self, old_value, new_value)
        else:
            super().watch_scroll_y(old_value, new_value)
