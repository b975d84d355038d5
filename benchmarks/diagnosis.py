"""Bed of check-ups: faults planted by code in models, pictures, labels and data, and as many healthy pairs.

    python -m benchmarks.diagnosis [--seeds 5] [--first-seed 0] [--causes ...] [--models ...] [--runs FILE]

A row for each cause: runs, those whose fault is visible, of them the right cause first and among the first three,
repairs that reach the healthy accuracy to one point, and the median of the seconds. A fault is visible if it shows in
weights or files, or if the healthy pair scores higher by three standard errors: of the forty candidates that a check-up
compares, one may be two higher by chance. A turn named in place of its mirror image counts as right: where mirror
images are as likely, answers cannot tell the two. Of two faults at once, either may be first, and both must be among
three. The last rows are healthy pairs, with false alarms in place of the right cause. Even seeds are for building the
checks, odd ones (`--first-seed 1`) for the end. Runs in the file of `--runs` are not repeated, so that a bed can be
continued: `benchmarks/diagnosis.jsonl` and `benchmarks/diagnosis_building.jsonl` have the runs of the tables in
`benchmarks/diagnosis.md`.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Annotated, NamedTuple

import numpy as np
import torch
import typer
from PIL import Image
from torch import Tensor

from benchmarks.planted import BY_ANSWERS, FAULTS, HEALTHY, MODELS, TOGETHER, Case, fed_right, pairs
from vitexplorer.diagnosis import Diagnosis
from vitexplorer.diagnosis.answers import Judged, class_mean_logits, gain, judged_by_labels, logits_of, run_of
from vitexplorer.models.loading import LoadedModel

AND = " and "
REACHED = 0.01
"""Accuracy by which a repair may stay below that of the healthy pair"""
MIRRORED = {"rotated": "axes_swapped", "axes_swapped": "rotated", "flipped": "rotated"}
"""Cause -> one that differs by a mirror image, and is as right where mirror images are as likely"""
VISIBLE = 3.0
"""Standard errors by which a healthy pair scores higher than a faulty one whose fault is visible"""


@dataclass(frozen=True)
class CheckedCase:
    """Result of one check-up of the bed."""

    model: str
    seed: int
    cause: str
    cost: float | None
    """Standard errors by which a fault lowers the score, the least of several; None for one that shows elsewhere"""
    named: list[str]
    """Causes that the check-up names, surest first"""
    repaired: float | None
    """Accuracy with the repair; None for a cause without one"""
    healthy: float
    """Accuracy of the healthy pair"""
    seconds: float

    @property
    def is_visible(self) -> bool:
        """True if every fault shows in weights or files, or lowers the score by more than noise."""
        return self.cost is None or self.cost >= VISIBLE

    @property
    def is_first(self) -> bool:
        """True if a planted cause is the surest."""
        return any(_names(self.named[:1], cause) for cause in self.cause.split(AND))

    @property
    def is_among(self) -> bool:
        """True if every planted cause is among the three surest."""
        return all(_names(self.named[:3], cause) for cause in self.cause.split(AND))


class Counts(NamedTuple):
    """Numbers of check-ups of one cause, or of several."""

    visible: int
    """Runs whose faults are visible"""
    first: int
    """Visible ones for which a planted cause is the surest"""
    among: int
    """Visible ones whose planted causes are all among the three surest"""
    repairs: int
    proven: int
    """Repairs that reach the healthy accuracy"""
    alarms: int
    """Healthy pairs for which a cause is named"""


def counts_of(runs: Sequence[CheckedCase]) -> Counts:
    """Count what the table and the documentation of the causes state."""
    visible = [run for run in runs if run.is_visible]
    repairs = [run for run in runs if run.repaired is not None]
    return Counts(
        visible=len(visible),
        first=sum(run.is_first for run in visible),
        among=sum(run.is_among for run in visible),
        repairs=len(repairs),
        proven=sum(run.repaired >= run.healthy - REACHED for run in repairs),
        alarms=sum(run.cause in HEALTHY and bool(run.named) for run in runs),
    )


def stored_runs(file: Path) -> list[CheckedCase]:
    """Read finished runs, one JSON object a line."""
    return [CheckedCase(**json.loads(line)) for line in file.read_text("utf-8").splitlines()]


def _names(named: Sequence[str], cause: str) -> bool:
    return cause in named or MIRRORED.get(cause) in named


def judged(model: LoadedModel, fed: Tensor, labels: Sequence[int]) -> Judged:
    """Judge a model's answers to pictures by their labels; without classes, features by class means."""
    logits = logits_of(run_of(model.module), fed)
    if model.num_classes:
        return judged_by_labels(logits, np.array(labels))
    numbers = np.unique(labels, return_inverse=True)[1]
    return judged_by_labels(class_mean_logits(logits, numbers), numbers)


def as_fed(case: Case) -> Tensor:
    """Return the pictures as they enter the model."""
    if case.preprocess is not None:
        return torch.stack([case.preprocess(Image.fromarray(picture)) for picture in case.pictures])
    return fed_right(case) if case.fed is None else case.fed


def reached(report: Diagnosis, case: Case, cause: str) -> float | None:
    """Return the accuracy with the repair of a cause; None without one."""
    repaired = next((finding.repaired for finding in report.findings if finding.cause == cause), None)
    model, fed, labels = case.model, as_fed(case), case.labels
    if isinstance(repaired, list):
        labels = repaired
    elif isinstance(repaired, dict):
        model = replace(model, module=copy.deepcopy(model.module))
        model.module.load_state_dict(repaired)
    elif isinstance(repaired, LoadedModel):
        model = repaired
    elif repaired is not None and case.preprocess is not None:
        fed = torch.stack([repaired(Image.fromarray(picture)) for picture in case.pictures])
    elif repaired is not None:
        fed = repaired(fed)
    else:
        return None
    return judged(model, fed, labels).value


def planted(case: Case, cause: str, seed: int) -> Case | None:
    """Return the pair with its faults; which way of planting one alternates with the seeds."""
    rng = np.random.default_rng(seed)
    if cause in HEALTHY:
        return HEALTHY[cause](case, rng)
    faulty: Case | None = case
    for one in cause.split(AND):
        ways = FAULTS[one]
        faulty = faulty and ways[seed // 2 % len(ways)](faulty, rng)
    return faulty


@dataclass(frozen=True)
class Pair:
    """A healthy pair of model and pictures of one seed."""

    name: str
    seed: int
    case: Case

    @cached_property
    def right(self) -> Judged:
        """The answers without a fault."""
        return judged(self.case.model, as_fed(self.case), self.case.labels)

    def cost(self, cause: str) -> float | None:
        """Compute the standard errors by which each fault alone lowers the score, and return the least."""
        costs = [self._cost(one) for one in cause.split(AND) if one in BY_ANSWERS]
        return min(costs, default=None)

    def _cost(self, cause: str) -> float:
        faulty = planted(self.case, cause, self.seed)
        return 0.0 if faulty is None else gain(judged(faulty.model, as_fed(faulty), faulty.labels), self.right)

    def checked(self, cause: str, seconds: float) -> CheckedCase | None:
        """Plant faults and run the check-up; None where the model has no place for them."""
        faulty = planted(self.case, cause, self.seed)
        if faulty is None:
            return None
        report = faulty.check_up(seconds)
        return CheckedCase(
            model=self.name,
            seed=self.seed,
            cause=cause,
            cost=self.cost(cause),
            named=[finding.cause for finding in report.findings],
            repaired=reached(report, faulty, cause),
            healthy=self.right.value,
            seconds=report.seconds,
        )


def rows_of(runs: list[CheckedCase]) -> Iterator[str]:
    """Yield the lines of the table: a row for each cause, and one for all of a kind."""
    yield "| cause | runs | visible | first | among three | repair proven | seconds |"
    yield "|---|---|---|---|---|---|---|"
    for cause in dict.fromkeys(run.cause for run in runs):
        yield _row(f"`{cause}`", [run for run in runs if run.cause == cause])
    healthy = [run for run in runs if run.cause in HEALTHY]
    together = [run for run in runs if AND in run.cause]
    yield _row("**one fault**", [run for run in runs if run not in healthy and run not in together])
    yield _row("**two faults**", together)
    yield _row("**healthy**", healthy)


def _row(title: str, runs: list[CheckedCase]) -> str:
    counts = counts_of(runs)
    is_healthy = bool(runs) and runs[0].cause in HEALTHY
    cells = [
        title,
        len(runs),
        *(("-", f"{counts.alarms} false alarms", "-") if is_healthy else counts[:3]),
        f"{counts.proven} of {counts.repairs}" if counts.repairs else "-",
        f"{median(run.seconds for run in runs):.0f}" if runs else "-",
    ]
    return f"| {' | '.join(map(str, cells))} |"


def main(
    seeds: Annotated[int, typer.Option(help="Runs of each cause and pair.")] = 5,
    first_seed: Annotated[int, typer.Option(help="First seed; every second one follows.")] = 0,
    causes: Annotated[str, typer.Option(help="Keys, with semicolons between.")] = ";".join(
        (*FAULTS, *map(AND.join, TOGETHER), *HEALTHY)
    ),
    models: Annotated[str, typer.Option(help="Names, with commas between.")] = ",".join(MODELS),
    pictures: Annotated[int, typer.Option(help="Pictures of a pair.")] = 64,
    seconds: Annotated[float, typer.Option(help="Time of a check-up to aim for.")] = 60,
    runs: Annotated[Path | None, typer.Option(help="File of finished runs, one JSON object a line; added to.")] = None,
) -> None:
    """Print a row for each cause."""
    finished = stored_runs(runs) if runs and runs.exists() else []
    done = {(run.model, run.seed, run.cause) for run in finished}
    makers = pairs(models.split(","))
    for seed in range(first_seed, first_seed + 2 * seeds, 2):
        for name, make in makers.items():
            missing = [cause for cause in causes.split(";") if (name, seed, cause) not in done]
            pair = Pair(name, seed, make(seed, pictures))
            for cause in missing:
                run = pair.checked(cause, seconds)
                if run is None:
                    continue
                finished.append(run)
                if runs:
                    with runs.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(asdict(run)) + "\n")
                typer.echo(f"{name}, seed {seed}, {cause}: {', '.join(run.named) or 'healthy'}", err=True)
    print("\n".join(rows_of(finished)))


if __name__ == "__main__":
    typer.run(main)
