"""The board of sizes as a gradio component."""

from __future__ import annotations

from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.rooms.size.data import SizeData


class SizeBoard(Widget):
    """Parts of a model in every counting, sliders for another one, and tables on demand.

    Fires `design` with `text`, what is designed as the address has it, and `asked`.
    """

    data_model = SizeData
    stem = "size_board"
    sends = ("design",)
