"""Trainings that were made before, as a component: open one again, or delete it."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from vitexplorer.core.text import Language
from vitexplorer.finetune.job.folder import images_of
from vitexplorer.finetune.job.state import JobState
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.rooms.finetune.words import TRAINING_WORDS, say, words_with

MOST = 100
"""trainings listed"""


class OldTraining(BaseModel):
    """One training."""

    run: str
    text: str
    begun: float
    """seconds since 1970; the browser writes it in its own time"""
    running: bool


class HistoryData(BaseModel):
    """The trainings of a visitor."""

    trainings: list[OldTraining] = []
    open: str = ""
    """the one on the screen"""
    words: dict[str, str] = {}


class HistoryView(Widget):
    """The list. Fires `reopen` and `remove` with `run`."""

    data_model = HistoryData
    stem = "history"
    sends = ("reopen", "remove")


def history_data(trainings: Iterable[JobState], opened: str, language: Language) -> HistoryData:
    """The list, as it was given: newest first."""
    return HistoryData(
        trainings=[
            OldTraining(run=job.folder.name, text=line(job, language), begun=job.begun, running=job.state == "running")
            for job in list(trainings)[:MOST]
        ],
        open=opened,
        words=words_with("runs_", language),
    )


def line(job: JobState, language: Language) -> str:
    """Methods, images, model and state of a training; of a broken one why it is."""
    if job.config is None:
        return say("runs_broken", language, why=job.text)
    separator = "、" if language == "zh" else ", "
    return say(
        "runs_line",
        language,
        methods=separator.join(run.key for run in job.runs),
        data=images_of(job.config),
        model=job.config.model,
        state=TRAINING_WORDS[f"run_{job.state}"],
    )
