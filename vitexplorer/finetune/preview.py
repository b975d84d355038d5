"""What a method would train and take on a model, before anything is trained: counts at once, time from two batches."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.finetune.attaching import attach, count_parameters
from vitexplorer.finetune.data import Dataset, split
from vitexplorer.finetune.job.plan import JobConfig
from vitexplorer.finetune.results.records import Estimate
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.weightless import weightless


@dataclass(frozen=True)
class Preview:
    """How many parameters train, or why the method has no place in the model."""

    total: int = 0
    trainable: int = 0
    """the head included"""
    refused: Text | None = None


def preview(model: LoadedModel, method: str, outputs: int, **settings: Any) -> Preview:
    """Counts of a method with these settings on a model with a new head; no number is copied or drawn."""
    try:
        counts = count_parameters(attach(weightless(model), method, outputs, **settings))
    except ExplainedError as error:
        return Preview(refused=error.text)
    return Preview(counts.total, counts.trainable)


def estimates(
    config: JobConfig, dataset: Dataset, base: LoadedModel, progress: Callable[[int, int], None]
) -> dict[str, Estimate | Text]:
    """The estimate of every candidate of a job, or why it cannot be trained, by its key; nothing of it is kept.

    `progress` is told how many are done; what it raises stops the work. Raises what `split` raises.
    """
    from vitexplorer.finetune.training.estimate import measure
    from vitexplorer.finetune.training.setup import Setup, make_accelerator

    sides = split(dataset, config.plan.seed, config.plan.validation)
    found: dict[str, Estimate | Text] = {}
    with tempfile.TemporaryDirectory() as folder:
        setup = Setup(config, Path(folder), dataset, sides, base, make_accelerator())
        for done, candidate in enumerate(config.candidates):
            progress(done, len(config.candidates))
            try:
                found[candidate.key] = measure(setup, candidate, setup.attach(candidate)).estimate
            except ExplainedError as error:
                found[candidate.key] = error.text
    return found
