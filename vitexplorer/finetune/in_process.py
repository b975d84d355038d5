"""`finetune` and `compare`: train on a folder of images in this process.

    run = vx.finetune("pets", model="scenes_vit_patch16_192", method="lora", epochs=10, out="runs/pets", r=4)
    run.value, run.baseline.value        # accuracy of the tuned model and of logistic regression on frozen features
    vx.capture(run.model, "cat.jpg")     # a model like any other

    both = compare("pets", model="...", methods=["lora", Candidate("adaptformer", {"bottleneck": 32})])
    both.leaderboard, both.bootstrap("lora", "linear").verdict, both.pareto("trainable")

After an interruption, a call with the same `out` folder resumes the job.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from vitexplorer.finetune.comparison import Comparison, load_comparison
from vitexplorer.finetune.job.events import Listener
from vitexplorer.finetune.job.folder import write_config
from vitexplorer.finetune.job.plan import Candidate, JobConfig, Plan, sort_controls
from vitexplorer.finetune.results.records import FinetuneResult
from vitexplorer.storage.claims import JobError, claimed, is_first_process, stop_file, worker_of

_COLUMNS = ("image_column", "target_column", "task")
"""Arguments that choose columns of a table"""


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
        out: folder of the run; `runs/<folder>-<method>` when None. An existing run is resumed.
        weights: "auto", "pretrained", "bundled", "random" or a path.
        weights_seed: seed of random weights.
        learning_rate: peak learning rate; the method's own when None.
        listen: called with every event.
        controls: the method's settings (`r=4`), fields of `Plan` (`batch_size=32`), and the columns of a table
            (`image_column`, `target_column`, `task`).

    Raises:
        ExplainedError: a problem the user can fix: the images, a name, a setting, a full disk.
    """
    plan, rest = sort_controls(controls)
    plan |= {name: rest.pop(name) for name in _COLUMNS if name in rest}
    candidate = Candidate(method, rest, learning_rate)
    out = out if out is not None else Path("runs") / f"{Path(folder).resolve().stem}-{candidate.key}"
    base = {"weights": weights, "weights_seed": weights_seed}
    comparison = compare(folder, model, [candidate], epochs, out, **base, listen=listen, **plan)
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
    """Train several methods on one split and one seed; arguments as for `finetune`, settings in each `Candidate`."""
    columns = {name: plan.pop(name) for name in _COLUMNS if name in plan}
    candidates = tuple(Candidate(method) if isinstance(method, str) else method for method in methods)
    config = JobConfig(
        data=os.fspath(folder),
        model=model,
        candidates=candidates,
        plan=Plan(epochs=epochs, **plan),
        weights=os.fspath(weights),
        weights_seed=weights_seed,
        **columns,
    )
    return run_job(config, out if out is not None else Path("runs") / Path(folder).stem, listen)


def run_job(config: JobConfig, out: str | os.PathLike, listen: Listener | None = None) -> Comparison:
    """Run a job in this process, or resume the one in `out`, and load its results."""
    out = Path(out).expanduser().absolute()
    if is_first_process():
        write_config(out, config)
        if worker_of(out) is None:
            stop_file(out).unlink(missing_ok=True)  # left by a process that was killed before it could stop
    with claimed(out) if is_first_process() else nullcontext():
        from vitexplorer.finetune.training.whole_job import do_job

        do_job(out, listen)
    return load_comparison(out)
