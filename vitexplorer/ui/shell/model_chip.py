"""The model in use, as a chip of the top bar; the list of models and the choice of weights stand in its sheet."""

from __future__ import annotations

from pydantic import BaseModel

from vitexplorer.ui.kit.widget import Widget


class ModelItem(BaseModel):
    """One model of the list."""

    name: str
    title: str
    family: str
    """heading in the list"""
    state: str
    """whether its weights are here"""
    typed: str = ""
    """what people call it who write programs; empty for a visitor's own"""


class ModelChipData(BaseModel):
    """The chip and the list."""

    name: str = ""
    title: str = ""
    note: str = ""
    sentence: str = ""
    """what the catalogue says of it"""
    notes: list[str] = []
    """what one that is not in the catalogue says of itself: what was translated, guessed or left out"""
    weights: str = "trained"
    """trained or random; empty for a visitor's own model, which is what it is"""
    models: list[ModelItem] = []
    any: bool = False
    """whether a name outside the list may be asked for"""
    kinds: list[str] = []
    """endings of the files that may be opened"""
    named: bool = False
    """whether a path of the machine that serves the page may be typed"""
    most: int = 0
    """megabytes of what may be sent"""
    takes_drops: bool = True
    """whether a model's file that is dropped anywhere on the page is for this chip"""
    words: dict[str, str] = {}


class ModelChip(Widget):
    """Fires `choose` with `model`, a name (that of a file too, which `/model` has taken), or with `weights`."""

    data_model = ModelChipData
    stem = "model_chip"
    sends = ("choose",)
