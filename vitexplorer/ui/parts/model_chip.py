"""The model in use, as a chip of the top bar; the list of models and the choice of weights stand in its sheet."""

from __future__ import annotations

from gradio.data_classes import GradioModel

from vitexplorer.ui.parts.widget import Widget


class ModelItem(GradioModel):
    """One model of the list."""

    name: str
    title: str
    family: str
    """heading in the list"""
    state: str
    """whether its weights are here"""


class ModelChipData(GradioModel):
    """The chip and the list."""

    name: str = ""
    title: str = ""
    note: str = ""
    sentence: str = ""
    """what the catalogue says of it"""
    weights: str = "trained"
    """trained or random"""
    models: list[ModelItem] = []
    any: bool = False
    """whether a name outside the list may be asked for"""
    words: dict[str, str] = {}


class ModelChip(Widget):
    """Fires `choose` with `model`, a name, or with `weights`."""

    data_model = ModelChipData
    stem = "model_chip"
    sends = ("choose",)
