"""Component of the room Folder. Its value is only the current model; it requests everything else from `routes`."""

from __future__ import annotations

from pydantic import BaseModel

from vitexplorer.ui.kit.widget import Widget


class SurveyData(BaseModel):
    """Current model, as in an address."""

    model: str = ""
    title: str = ""
    """Title of the model in sentences"""
    weights: str = ""
    fit: str = ""
    size: str = ""
    classifies: bool = False
    """True where the model has a classifier"""


class SurveyView(Widget):
    """Component of the room; it fires no gradio events."""

    data_model = SurveyData
