"""Component of the size board."""

from __future__ import annotations

from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.rooms.size.data import SizeData


class SizeBoard(Widget):
    """Component with the parts of a model by every way of counting, sliders for a design, and tables on demand.

    Event: `design` with `text`, the design as in the address, and `asked`.
    """

    data_model = SizeData
    stem = "size_board"
    sends = ("design",)
