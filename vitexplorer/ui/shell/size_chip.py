"""Size chip of the top bar: the input's size and fit; its sheet lists other sizes with their cost."""

from __future__ import annotations

from pydantic import BaseModel

from vitexplorer.ui.kit.widget import Widget


class SizeItem(BaseModel):
    """One size."""

    value: str
    """Size as in the page's address; empty for the model's own"""
    label: str
    """Factor of the model's own size: 1×, 1.5×, ..."""
    grid: str
    """Pixels"""
    cost: str
    """Tokens, relative time and memory, computed before any run"""
    refused: str = ""
    """Reason why it cannot be chosen; empty if it can"""


class SizeChipData(BaseModel):
    """The chip and the sizes."""

    title: str = ""
    note: str = ""
    size: str = ""
    """Current size, as in the page's address"""
    sizes: list[SizeItem] = []
    """Sizes to choose from; empty for a model that takes only one"""
    step: int = 0
    """Pixels of which a size must be a multiple; 0 if no size can be typed"""
    says: str = ""
    """Message about other sizes of this model, or about the typed one"""
    fit: str = "crop"
    words: dict[str, str] = {}


class SizeChip(Widget):
    """Component that fires `choose` with `size` or `fit`, and `cost` with the typed `size` when the sheet opens."""

    data_model = SizeChipData
    stem = "size_chip"
    sends = ("choose", "cost")
