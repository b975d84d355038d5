"""Results of a job, read back from its folder: leaderboard, paired bootstrap, Pareto front. No torch."""

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
from vitexplorer.finetune.results.metrics import METRIC, higher_is_better, metric_text, pareto_front
from vitexplorer.finetune.results.records import Baseline, FinetuneResult, RunRecord
from vitexplorer.storage.checked_reading import BrokenFileError, broken, read_arrays, read_header
from vitexplorer.storage.claims import JobError

Cost = Literal["trainable", "seconds", "file_bytes"]


@dataclass(frozen=True, eq=False)
class Comparison(Summarised):
    """Results of several methods on one split and one seed, with the baseline to beat."""

    folder: Path
    results: tuple[FinetuneResult, ...]
    """Results in the order of the candidates, without those that failed"""
    baseline: Baseline | None
    failures: tuple[tuple[str, Text], ...] = ()
    """Runs that could not be trained, with the reason"""

    def _summary(self) -> Summary:
        rows = (
            (run.run, f"{run.metric} {metric_text(run.metric, run.value)}, {counted(run.trainable)} trained parameters")
            for run in self.leaderboard
        )
        return Summary(
            f"fine-tuning runs on one split, the best first, in {self.folder}",
            (*rows, *self.failures),
            'comparison["run"] is one run; .leaderboard, .baseline, .bootstrap("a", "b"), .pareto("trainable")',
        )

    @property
    def leaderboard(self) -> tuple[FinetuneResult, ...]:
        """Results, best metric first; fewer trained parameters win a tie."""
        sign = -1 if self.results and higher_is_better(self.results[0].metric) else 1
        return tuple(sorted(self.results, key=lambda result: (sign * result.value, result.trainable)))

    def __getitem__(self, run: str) -> FinetuneResult:
        for result in self.results:
            if result.run == run:
                return result
        raise unknown_name("run", run, [result.run for result in self.results])

    def bootstrap(self, a: str, b: str, *, draws: int = 2000, seed: int = 0) -> Bootstrap:
        """Test by paired bootstrap whether run `a` is better than run `b` on this validation set."""
        first, second = self[a], self[b]
        outputs = ((a, first.outputs), (b, second.outputs))
        return paired_bootstrap(first.task, first.targets, *outputs, draws=draws, seed=seed)

    def pareto(self, cost: Cost) -> tuple[FinetuneResult, ...]:
        """Return the results that no other beats in both metric and cost, cheapest first."""
        if not self.results:
            return ()
        values, costs = [r.value for r in self.results], [getattr(r, cost) for r in self.results]
        front = pareto_front(self.results[0].metric, values, costs)
        optimal = [result for result, stays in zip(self.results, front, strict=True) if stays]
        return tuple(sorted(optimal, key=lambda result: getattr(result, cost)))


def load_comparison(folder: str | os.PathLike) -> Comparison:
    """Load the results of a job so far, also while it runs. A run with broken files counts as a failure.

    Raises JobError if the folder holds no job, BrokenFileError if its common files are broken.
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
    """Load the result of one run. Raises JobError if there is none yet, BrokenFileError if it is damaged."""
    folder = Path(folder).expanduser().absolute()
    return _result(folder, read_config(folder), SPLIT.read(folder), _baseline(folder), run)


def why_broken(folder: Path, run: str) -> Text | None:
    """Return the reason why an ended run cannot be shown, or None. Cached until its files change."""
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
    """Read the baseline of a job; None before it exists or if it is damaged, since results can do without it."""
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
    """Read a run's outputs for the validation images. Raises BrokenFileError if its files do not match."""
    outputs = read_arrays(own / PREDICTIONS, ("outputs",), TRAIN_AGAIN)["outputs"]
    shape = (len(sides.validation), len(sides.classes)) if sides.classes else (len(sides.validation),)
    if outputs.shape != shape or METRIC[sides.task] not in record.epochs[record.best].metrics:
        raise broken(own / PREDICTIONS, remedy=TRAIN_AGAIN)
    return outputs
