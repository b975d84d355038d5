"""Component at the top of the room: its question and the four steps; the browser marks the current step."""

from __future__ import annotations

from pydantic import BaseModel

from vitexplorer.core.text import Language
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.rooms.finetune.words import say

STEPS = ("images", "methods", "training", "results")
"""Keys of the steps in order; a step stands in the element `vx-step-<key>`"""


class StepsData(BaseModel):
    """Question and steps in one language."""

    question: str = ""
    reading: str = ""
    name: str = ""
    """Accessible name of the list of steps"""
    steps: list[dict[str, str]] = []
    """Steps: `key` and `label`"""


class Steps(Widget):
    """Component of the steps; pressing a step shows it."""

    data_model = StepsData


def steps_data(language: Language) -> StepsData:
    """Return the question and the steps in one language."""
    return StepsData(
        question=say("steps_question", language),
        reading=say("steps_reading", language),
        name=say("steps_name", language),
        steps=[{"key": key, "label": say(f"step_{key}", language)} for key in STEPS],
    )
