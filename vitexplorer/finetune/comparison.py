"""`finetune` and `compare`: from a folder of images to tuned models, in this process, and what they can be asked.

    run = vx.finetune("pets", model="scenes_vit_patch16_192", method="lora", epochs=10, out="runs/pets", r=4)
    run.value, run.baseline.value        # accuracy of the tuned model and of logistic regression on frozen features
    vx.capture(run.model, "cat.jpg")     # a model like any other

    both = compare("pets", model="...", methods=["lora", Candidate("adaptformer", {"bottleneck": 32})])
    both.leaderboard, both.bootstrap("lora", "linear").verdict, both.pareto("trainable")

Interrupted, or called again with the same folder, they go on where they were.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from vitexplorer.finetune.job.events import Listener, latest, read_events
from vitexplorer.finetune.job.folder import (
    BASELINE,
    PREDICTIONS,
    RESULT,
    SPLIT,
    TUNED,
    JobError,
    claimed,
    is_first_process,
    read_config,
    run_folder,
    stop_file,
    worker_of,
    write_config,
)
from vitexplorer.finetune.job.plan import Candidate, JobConfig, Plan, sort_controls
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


def finetune(
    folder: str | os.PathLike,
    model: str,
    method: str = "lora",
    epochs: int = 10,
    out: str | os.PathLike | None = None,
    *,
    weights: str | os.PathLike = "auto",
    weights_seed: int = 0,
    learning_rate: float | None = None,
    listen: Listener | None = None,
    **controls: Any,
) -> FinetuneResult:
    """Train one method on a folder of images.

    Args:
        folder: one sub-folder per class, a .zip of that, or images with a .csv.
        model: a name as `load_model` takes it; ResNets and EfficientNets too.
        method: a key of `methods()`.
        epochs: passes over the training images.
        out: folder of the run; `runs/<folder>-<method>` when None. One that is there is resumed.
        weights: "auto", "pretrained", "bundled", "random" or a path.
        weights_seed: of random weights.
        learning_rate: at the peak; the method's own when None.
        listen: told of every event.
        controls: the method's settings (`r=4`), fields of `Plan` (`batch_size=32`), and the columns of a table
            (`image_column`, `target_column`, `task`).

    Raises:
        ExplainedError: something a person can mend: the images, a name, a setting, a full disk.
    """
    plan, rest = sort_controls(controls)
    table = {name: rest.pop(name) for name in ("image_column", "target_column", "task") if name in rest}
    candidate = Candidate(method, rest, learning_rate)
    config = JobConfig(
        data=os.fspath(folder),
        model=model,
        candidates=(candidate,),
        plan=Plan(epochs=epochs, **plan),
        weights=os.fspath(weights),
        weights_seed=weights_seed,
        **table,
    )
    out = Path(out if out is not None else Path("runs") / f"{Path(folder).resolve().stem}-{candidate.key}")
    comparison = run_job(config, out, listen)
    for key, why in comparison.failures:
        if key == candidate.key:
            raise JobError(why)
    return comparison[candidate.key]


def compare(
    folder: str | os.PathLike,
    model: str,
    methods: Sequence[str | Candidate],
    epochs: int = 10,
    out: str | os.PathLike | None = None,
    *,
    weights: str | os.PathLike = "auto",
    weights_seed: int = 0,
    listen: Listener | None = None,
    **plan: Any,
) -> Comparison:
    """Train several methods on one split and one seed; arguments as in `finetune`, settings in each `Candidate`."""
    candidates = tuple(Candidate(one) if isinstance(one, str) else one for one in methods)
    config = JobConfig(
        data=os.fspath(folder),
        model=model,
        candidates=candidates,
        plan=Plan(epochs=epochs, **plan),
        weights=os.fspath(weights),
        weights_seed=weights_seed,
    )
    return run_job(config, Path(out if out is not None else Path("runs") / Path(folder).stem), listen)


def run_job(config: JobConfig, out: str | os.PathLike, listen: Listener | None = None) -> Comparison:
    """Do a job in this process, or what is left of the one in `out`, and load what it found."""
    out = Path(out).expanduser().absolute()
    if is_first_process():
        write_config(out, config)
        if worker_of(out) is None:
            stop_file(out).unlink(missing_ok=True)  # of a process that was killed before it could stop
    with claimed(out):
        from vitexplorer.finetune.training.whole_job import do_job

        do_job(out, listen)
    return load_comparison(out)


# ---------------------------------------------------------------------------------------------- reading back


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
