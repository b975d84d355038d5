"""A setting as the page's own components send it to the browser: a choice where it has options, otherwise a number."""

from __future__ import annotations

from gradio.data_classes import GradioModel


class Option(GradioModel):
    """One choice of a setting."""

    value: str
    label: str


class Field(GradioModel):
    """One setting."""

    name: str
    label: str
    value: str
    options: list[Option] = []
    low: float = 0
    high: float = 1
    step: float = 1
