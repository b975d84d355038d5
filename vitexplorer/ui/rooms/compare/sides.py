"""Component with the texts of a comparison: the answers of both sides, how they are matched, presets."""

from __future__ import annotations

from pydantic import BaseModel

from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.shell.frame import FrameData


class Preset(BaseModel):
    """A pair worth a look."""

    label: str
    changes: dict[str, str]
    """Parameters of the address that change"""


class SidesData(FrameData):
    """Data of both sides. While the right side is being computed, `working` alone is set."""

    working: str = ""
    """Progress of the right side"""
    refused: str = ""
    """Reason why the right side is not the requested one"""
    title: str = ""
    """Title of the left model"""
    note: str = ""
    """Weights and input size of the left model"""
    presets: list[Preset] = []
    swapped: dict[str, str] = {}
    """Parameters of the address with the sides exchanged"""
    address: dict[str, str] = {}
    """Parameters of the address that describe the right side"""
    changes: dict[str, str] = {}
    """Changes on the left, `left_change`, and on the right, `change`, as `vx.intervene` reads them"""
    first_change: str = ""
    """Change to offer where nothing was changed in the room What if"""
    notes: list[str] = []
    """Notes on how places and blocks are matched"""


class Sides(Widget):
    """Component of both sides. Event: `choose` with one choice. Swapping and presets go through the address."""

    data_model = SidesData
    sends = ("choose",)
