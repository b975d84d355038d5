"""The head of the room: its question and the four steps, of which the browser marks the one that a person is at."""

from __future__ import annotations

from pydantic import BaseModel

from vitexplorer.core.text import Language
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.rooms.finetune.words import say

STEPS = ("images", "methods", "training", "results")
"""in their order; each stands in the element `vx-step-<key>`"""


class StepData(BaseModel):
    """One step."""

    key: str
    label: str


class StepsData(BaseModel):
    """The head in one language."""

    question: str = ""
    reading: str = ""
    name: str = ""
    """of the list of steps"""
    steps: list[StepData] = []


class Steps(Widget):
    """The steps, with the one a person is at: a step is pressed to go there."""

    data_model = StepsData
    stem = "steps"


def steps_data(language: Language) -> StepsData:
    """The head."""
    return StepsData(
        question=say("steps_question", language),
        reading=say("steps_reading", language),
        name=say("steps_name", language),
        steps=[StepData(key=key, label=say(f"step_{key}", language)) for key in STEPS],
    )
