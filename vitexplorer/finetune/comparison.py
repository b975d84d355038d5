"""Several methods on one split: what a job found, read back from its folder, and what it can be asked. No torch."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np

from vitexplorer.core.format import counted
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.summaries import Summarised, Summary
from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.finetune.job.events import latest, read_events
from vitexplorer.finetune.job.folder import (
    BASELINE,
    PREDICTIONS,
    RESULT,
    SPLIT,
    TRAIN_AGAIN,
    TUNED,
    Sides,
    read_config,
    run_folder,
)
from vitexplorer.finetune.job.plan import JobConfig
from vitexplorer.finetune.results.bootstrap import Bootstrap, paired_bootstrap
from vitexplorer.finetune.results.metrics import METRIC, higher_is_better, metric_text
from vitexplorer.finetune.results.pareto import pareto_front
from vitexplorer.finetune.results.records import Baseline, FinetuneResult, RunRecord
from vitexplorer.storage.checked_reading import BrokenFileError, broken, read_arrays, read_header
from vitexplorer.storage.claims import JobError

Cost = Literal["trainable", "seconds", "file_bytes"]


@dataclass(frozen=True, eq=False)
class Comparison(Summarised):
    """Several methods on one split and one seed, and what they have to beat."""

    folder: Path
    results: tuple[FinetuneResult, ...]
    """in the order in which they were asked for; those that failed are missing"""
    baseline: Baseline | None
    failures: tuple[tuple[str, Text], ...] = ()
    """runs that could not be trained, and why"""

    def _summary(self) -> Summary:
        rows = (
            (one.run, f"{one.metric} {metric_text(one.metric, one.value)}, {counted(one.trainable)} trained parameters")
            for one in self.leaderboard
        )
        return Summary(
            f"fine-tuning runs on one split, the best first, in {self.folder}",
            (*rows, *self.failures),
            'comparison["run"] is one run; .leaderboard, .baseline, .bootstrap("a", "b"), .pareto("trainable")',
        )

    @property
    def leaderboard(self) -> tuple[FinetuneResult, ...]:
        """The results, the best metric first; with the same metric the one with fewer trained parameters."""
        sign = -1 if self.results and higher_is_better(self.results[0].metric) else 1
        return tuple(sorted(self.results, key=lambda result: (sign * result.value, result.trainable)))

    def __getitem__(self, run: str) -> FinetuneResult:
        """The result of a run. Raises UnknownNameError."""
        for result in self.results:
            if result.run == run:
                return result
        raise unknown_name("run", run, [result.run for result in self.results])

    def bootstrap(self, a: str, b: str, *, draws: int = 2000, seed: int = 0) -> Bootstrap:
        """Whether run `a` is really better than run `b` on this validation set."""
        one, other = self[a], self[b]
        outputs = ((a, one.outputs), (b, other.outputs))
        return paired_bootstrap(one.task, one.targets, *outputs, draws=draws, seed=seed)

    def pareto(self, cost: Cost) -> tuple[FinetuneResult, ...]:
        """The results that no other beats in metric and cost, the cheapest first."""
        if not self.results:
            return ()
        values, costs = [r.value for r in self.results], [getattr(r, cost) for r in self.results]
        front = pareto_front(self.results[0].metric, values, costs)
        kept = [result for result, stays in zip(self.results, front, strict=True) if stays]
        return tuple(sorted(kept, key=lambda result: getattr(result, cost)))


def load_comparison(folder: str | os.PathLike) -> Comparison:
    """What a job found so far; also while it runs. A run whose files are broken is a failure among the others.

    Raises JobError where there is no job, BrokenFileError where nothing of it can be compared.
    """
    folder = Path(folder).expanduser().absolute()
    config = read_config(folder)
    failures: dict[str, Text | None] = {}
    for event in latest(read_events(folder)[0]):
        if event.run and event.kind in ("failed", "finished", "stopped"):
            failures[event.run] = event.text if event.kind == "failed" else None
    done = [c.key for c in config.candidates if RESULT.is_in(run_folder(folder, c.key))]
    sides, baseline = (SPLIT.read(folder), _baseline(folder)) if done else (None, _baseline(folder))
    results = []
    for key in done:
        try:
            results.append(_result(folder, config, sides, baseline, key))
        except BrokenFileError as error:
            failures[key] = error.text
    return Comparison(folder, tuple(results), baseline, tuple((key, text) for key, text in failures.items() if text))


def load_result(folder: str | os.PathLike, run: str) -> FinetuneResult:
    """The result of one run of a job. Raises JobError where it has none yet, BrokenFileError where it is damaged."""
    folder = Path(folder).expanduser().absolute()
    return _result(folder, read_config(folder), SPLIT.read(folder), _baseline(folder), run)


def why_broken(folder: Path, run: str) -> Text | None:
    """Why a run that has ended cannot be shown; None where it can. Its files are read once, until they change."""
    own = run_folder(folder, run)
    files = (folder / SPLIT.name, *(own / name for name in (RESULT.name, PREDICTIONS, TUNED)))
    return _why_broken(folder, run, tuple(map(_stamp, files)))


@lru_cache(maxsize=1024)
def _why_broken(folder: Path, run: str, stamps: tuple) -> Text | None:
    try:
        read_header(load_result(folder, run).file, TRAIN_AGAIN)
    except ExplainedError as error:
        return error.text
    return None


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def _baseline(folder: Path) -> Baseline | None:
    """The baseline of a job; None before it is made, and where it is damaged: results are worth showing without."""
    try:
        return BASELINE.read(folder)
    except BrokenFileError:
        return None


def _result(
    folder: Path, config: JobConfig, sides: Sides | None, baseline: Baseline | None, run: str
) -> FinetuneResult:
    own = run_folder(folder, run)
    record = RESULT.read(own)
    if record is None or sides is None:
        raise JobError(Text("{run} has no result yet.", "{run} 尚无结果。").format(run=run))
    if record.method not in [candidate.method for candidate in config.candidates if candidate.key == run]:
        raise broken(own / RESULT.name, remedy=TRAIN_AGAIN)
    paths, targets = zip(*sides.validation, strict=True)
    return FinetuneResult(
        **vars(record),
        run=run,
        base=(config.model, config.weights, config.weights_seed),
        task=sides.task,
        metric=METRIC[sides.task],
        classes=sides.classes,
        paths=paths,
        targets=np.array(targets, np.int64 if sides.classes else np.float64),
        outputs=_outputs(own, record, sides),
        file=own / TUNED,
        baseline=baseline,
    )


def _outputs(own: Path, record: RunRecord, sides: Sides) -> np.ndarray:
    """What a run says of the images of the split. Raises BrokenFileError where its files do not belong together."""
    outputs = read_arrays(own / PREDICTIONS, ("outputs",), TRAIN_AGAIN)["outputs"]
    wanted = (len(sides.validation), len(sides.classes)) if sides.classes else (len(sides.validation),)
    if outputs.shape != wanted or METRIC[sides.task] not in record.epochs[record.best].metrics:
        raise broken(own / PREDICTIONS, remedy=TRAIN_AGAIN)
    return outputs
