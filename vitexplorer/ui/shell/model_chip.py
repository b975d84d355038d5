"""Model chip of the top bar; its sheet has the list of models and the choice of weights."""

from __future__ import annotations

from pydantic import BaseModel

from vitexplorer.ui.kit.widget import Widget


class ModelItem(BaseModel):
    """One model of the list."""

    name: str
    title: str
    family: str
    """Heading of its group in the list"""
    state: str
    """State of its weights in words: bundled, on this machine, to download"""
    typed: str = ""
    """Name of the model in programs; empty for a visitor's own"""


class ModelChipData(BaseModel):
    """The chip and the list of its sheet."""

    name: str = ""
    title: str = ""
    note: str = ""
    sentence: str = ""
    """Description from the catalogue"""
    notes: list[str] = []
    """Notes on loading a model that is not in the catalogue: what was translated, guessed or left out"""
    weights: str = "trained"
    """`trained` or `random`; empty for a visitor's own model, which offers no choice"""
    models: list[ModelItem] = []
    any: bool = False
    """True if the visitor may request a name outside the list"""
    kinds: list[str] = []
    """Extensions of the files that may be opened"""
    named: bool = False
    """True if the visitor may type a path on the machine that serves the page"""
    most: int = 0
    """Largest upload in megabytes"""
    takes_drops: bool = True
    """True if the chip takes model files that are dropped anywhere on the page"""
    words: dict[str, str] = {}


class ModelChip(Widget):
    """Component that fires `choose` with `model`, the name of a model or of a file that `/model` has stored, or with
    `weights`.
    """

    data_model = ModelChipData
    stem = "model_chip"
    sends = ("choose",)
