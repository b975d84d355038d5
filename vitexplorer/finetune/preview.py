"""Cost preview of a method before training: parameter counts at once, time measured on two batches."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vitexplorer.core.text import ExplainedError, Progress, Text
from vitexplorer.finetune.attaching import attach, count_parameters
from vitexplorer.finetune.data import Dataset, split
from vitexplorer.finetune.job.plan import JobConfig
from vitexplorer.finetune.results.records import Estimate
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.weightless import weightless


@dataclass(frozen=True)
class Preview:
    """Parameter counts, or the reason why the method does not fit the model."""

    total: int = 0
    trainable: int = 0
    """Trained parameters, the head's included"""
    refused: Text | None = None


def preview(model: LoadedModel, method: str, outputs: int, **settings: Any) -> Preview:
    """Count the parameters of a method on a model with a new head; no weight is copied or drawn."""
    try:
        counts = count_parameters(attach(weightless(model), method, outputs, **settings))
    except ExplainedError as error:
        return Preview(refused=error.text)
    return Preview(counts.total, counts.trainable)


def estimates(config: JobConfig, dataset: Dataset, base: LoadedModel, progress: Progress) -> dict[str, Estimate | Text]:
    """Estimate every candidate of a job, or give the reason why it cannot be trained, by key; nothing stays on disk.

    `progress` is called with (done, total); an exception from it stops the work.

    Raises:
        SettingError: the validation share is outside 0-1.
        DataError: one side of the split would be empty.
    """
    from vitexplorer.finetune.training.estimate import measure
    from vitexplorer.finetune.training.setup import Setup, make_accelerator

    sides = split(dataset, config.plan.seed, config.plan.validation)
    by_candidate: dict[str, Estimate | Text] = {}
    with tempfile.TemporaryDirectory() as folder:
        setup = Setup(config, Path(folder), dataset, sides, base, make_accelerator())
        for done, candidate in enumerate(config.candidates):
            progress(done, len(config.candidates))
            try:
                by_candidate[candidate.key] = measure(setup, candidate, setup.attach(candidate)).estimate
            except ExplainedError as error:
                by_candidate[candidate.key] = error.text
    return by_candidate
