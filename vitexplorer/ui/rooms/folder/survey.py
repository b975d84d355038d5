"""The room Folder as a component: what is told it is the model on the screen; all else is between it and `routes`."""

from __future__ import annotations

from pydantic import BaseModel

from vitexplorer.ui.kit.widget import Widget


class SurveyData(BaseModel):
    """The model on the screen, as an address has it."""

    model: str = ""
    weights: str = ""
    fit: str = ""
    size: str = ""
    classifies: bool = False
    """whether it says what an image shows"""
    language: str = "en"


class SurveyView(Widget):
    """Nothing that happens in it is an event of gradio's."""

    data_model = SurveyData
    stem = "survey"
