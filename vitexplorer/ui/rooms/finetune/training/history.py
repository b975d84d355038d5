"""Component of the earlier trainings, which can be opened again or deleted."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from vitexplorer.core.text import Language, in_language
from vitexplorer.finetune.job.folder import images_of
from vitexplorer.finetune.job.state import JobState
from vitexplorer.finetune.run_titles import run_title
from vitexplorer.models.catalog import title_of
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.rooms.finetune.words import TRAINING_WORDS, say

MOST = 100
"""Most trainings in the list"""


class OldTraining(BaseModel):
    """Earlier training."""

    run: str
    text: str
    begun: float
    """Start in seconds since 1970; the browser formats it in its own time zone"""
    running: bool


class HistoryData(BaseModel):
    """The trainings of a visitor."""

    trainings: list[OldTraining] = []
    open: str = ""
    """Name of the training on the screen"""
    words: dict[str, str] = {}


class HistoryView(Widget):
    """Component of the list. Events: `reopen` and `remove` with `run`."""

    data_model = HistoryData
    sends = ("reopen", "remove")


def history_data(trainings: Iterable[JobState], opened: str, language: Language) -> HistoryData:
    """Return the data of the list, in the given order."""
    return HistoryData(
        trainings=[
            OldTraining(run=job.folder.name, text=line(job, language), begun=job.begun, running=job.state == "running")
            for job in list(trainings)[:MOST]
        ],
        open=opened,
        words=in_language(TRAINING_WORDS, language, "runs_"),
    )


def line(job: JobState, language: Language) -> str:
    """Describe a training by methods, images, model and state; a broken one by the reason."""
    if job.config is None:
        return say("runs_broken", language, why=job.text)
    separator = "、" if language == "zh" else ", "
    return say(
        "runs_line",
        language,
        methods=separator.join(run_title(run.key).in_(language) for run in job.runs),
        data=images_of(job.config),
        model=title_of(job.config.model),
        state=TRAINING_WORDS[f"run_{job.state}"],
    )
