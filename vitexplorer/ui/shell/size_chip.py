"""The input's size and fit, as a chip of the top bar; other sizes stand in its sheet with what they cost."""

from __future__ import annotations

from pydantic import BaseModel

from vitexplorer.ui.kit.widget import Widget


class SizeItem(BaseModel):
    """One size."""

    value: str
    """as in the page's address; empty for the model's own"""
    label: str
    """1×, 1.5×, ..."""
    grid: str
    """pixels and patches"""
    cost: str
    """time and memory, before it runs"""
    refused: str = ""
    """why it cannot be chosen"""


class SizeChipData(BaseModel):
    """The chip and the sizes."""

    title: str = ""
    note: str = ""
    size: str = ""
    """the one in use, as in the page's address"""
    sizes: list[SizeItem] = []
    """none for a model that takes no other"""
    step: int = 0
    """pixels that a size is a multiple of; 0 where none can be typed"""
    says: str = ""
    """what a person should know of other sizes of this model"""
    fit: str = "crop"
    words: dict[str, str] = {}


class SizeChip(Widget):
    """Fires `choose` with `size` or with `fit`, and `cost` when the sheet opens, with the `size` typed."""

    data_model = SizeChipData
    stem = "size_chip"
    sends = ("choose", "cost")
