"""The component around the two sides of a comparison: their answers, how they are matched, pairs to begin with."""

from __future__ import annotations

from pydantic import BaseModel

from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.shell.frame import FrameData


class Preset(BaseModel):
    """A pair worth a look."""

    label: str
    changes: dict[str, str]
    """parameters of the address that become others"""


class SidesData(FrameData):
    """Data of both sides. While the right one is on its way, `working` alone."""

    working: str = ""
    """how far the right one is"""
    refused: str = ""
    """why it is not what was asked for"""
    title: str = ""
    """the left model"""
    note: str = ""
    """its weights and size"""
    presets: list[Preset] = []
    swapped: dict[str, str] = {}
    """parameters of the address with the sides the other way round"""
    address: dict[str, str] = {}
    """parameters that say what is on the right"""
    changes: dict[str, str] = {}
    """what is changed on the left, `left_change`, and on the right, `change`, as `vx.intervene` reads it"""
    first_change: str = ""
    """what is changed first, where nothing was changed in the room What if"""
    notes: list[str] = []
    """how places and blocks are matched"""


class Sides(Widget):
    """Fires `choose` with what is to be changed on one side. Swapping and presets go through the address."""

    data_model = SidesData
    stem = "sides"
    sends = ("choose",)
