"""Several methods on one split: what a job found, read back from its folder, and what it can be asked. No torch."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from vitexplorer.finetune.job.events import latest, read_events
from vitexplorer.finetune.job.folder import (
    BASELINE,
    PREDICTIONS,
    RESULT,
    SPLIT,
    TUNED,
    JobError,
    read_config,
    run_folder,
)
from vitexplorer.finetune.results.bootstrap import Bootstrap, paired_bootstrap
from vitexplorer.finetune.results.metrics import METRIC, higher_is_better
from vitexplorer.finetune.results.pareto import pareto_front
from vitexplorer.finetune.results.records import Baseline, Epoch, FinetuneResult, LearningCurve
from vitexplorer.registry import unknown_name
from vitexplorer.words import Text

Cost = Literal["trainable", "seconds", "file_bytes"]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several methods on one split and one seed, and what they have to beat."""

    folder: Path
    results: tuple[FinetuneResult, ...]
    """in the order in which they were asked for; those that failed are missing"""
    baseline: Baseline | None
    failures: tuple[tuple[str, Text], ...] = ()
    """runs that could not be trained, and why"""

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
    """What a job found so far; also while it runs. Raises JobError where there is no job."""
    folder = Path(folder).expanduser().absolute()
    config = read_config(folder)
    baseline = load_baseline(folder)
    done = [c for c in config.candidates if (run_folder(folder, c.key) / RESULT).exists()]
    failures = {}
    for event in latest(read_events(folder)[0]):
        if event.run and event.kind in ("failed", "finished", "stopped"):
            failures[event.run] = event.text if event.kind == "failed" else None
    return Comparison(
        folder,
        tuple(load_result(folder, c.key) for c in done),
        baseline,
        tuple((key, text) for key, text in failures.items() if text),
    )


def load_baseline(folder: Path) -> Baseline | None:
    """The baseline of a job; None before it is made."""
    path = folder / BASELINE
    if not path.exists():
        return None
    facts = json.loads(path.read_text(encoding="utf-8"))
    curve = facts.pop("learning_curve")
    return Baseline(learning_curve=LearningCurve(tuple(curve["images"]), tuple(curve["values"])), **facts)


def load_result(folder: str | os.PathLike, run: str) -> FinetuneResult:
    """The result of one run of a job. Raises JobError where it has none yet."""
    folder = Path(folder).expanduser().absolute()
    config, own = read_config(folder), run_folder(folder, run)
    try:
        facts = json.loads((own / RESULT).read_text(encoding="utf-8"))
        sides = json.loads((folder / SPLIT).read_text(encoding="utf-8"))
        with np.load(own / PREDICTIONS) as predictions:
            outputs = predictions["outputs"]
    except OSError as error:
        raise JobError(Text("{run} has no result yet.", "{run} 尚无结果。").format(run=run)) from error
    paths, targets = zip(*sides["validation"], strict=True)
    notes = tuple(Text(*note) for note in facts.pop("notes"))
    epochs = tuple(Epoch(**epoch) for epoch in facts.pop("epochs"))
    return FinetuneResult(
        run=run,
        base=(config.model, config.weights, config.weights_seed),
        task=sides["task"],
        metric=METRIC[sides["task"]],
        classes=tuple(sides["classes"]),
        epochs=epochs,
        paths=paths,
        targets=np.array(targets, np.int64 if sides["classes"] else np.float64),
        outputs=outputs,
        file=own / TUNED,
        baseline=load_baseline(folder),
        notes=notes,
        **facts,
    )
