"""Bed of check-ups: faults planted by code in models, pictures, labels and data, and as many healthy pairs.

    python -m benchmarks.diagnosis [--seeds 5] [--first-seed 0] [--causes ...] [--models ...] [--pictures 64]

A row for each cause: runs, the right cause first, among the first three, decided (not among what cannot be told),
repairs that reach the healthy accuracy to one point, and the median of the seconds. Of two faults at once, either may
be first, and both must be among three. The last rows are healthy pairs, with false alarms in place of the right cause.
Even seeds are for building the checks, odd ones (`--first-seed 1`) for the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Annotated, Any

import numpy as np
import torch
import typer
from torch import Tensor, nn

import vitexplorer as vx
from benchmarks.planted import FAULTS, HEALTHY, TOGETHER, Case, fed_right
from vitexplorer.diagnosis import Diagnosis, Finding
from vitexplorer.diagnosis.features import features_of
from vitexplorer.models.loading import LoadedModel
from vitexplorer.scenes import draw_scene
from vitexplorer.scenes.creatures import Creature
from vitexplorer.scenes.shapes import LABEL_NAMES

SCENES = ("scenes_vit_patch16_192", "scenes_deit_patch16_192", "scenes_swin_patch4_window6_192")
PROBED, CREATURES = "scenes_dino_patch16_192", "creatures_vit_patch16_192"
AND = " and "
REACHED = 0.01
"""Accuracy by which a repair may stay below that of the healthy pair"""


@dataclass
class Row:
    """Counts of one cause."""

    runs: int = 0
    first: int = 0
    among: int = 0
    decided: int = 0
    repairs: int = 0
    proven: int = 0
    seconds: list[float] = field(default_factory=list)


# ----------------------------------------------------------------------------------------------- pairs


def scenes(model: LoadedModel, seed: int, count: int) -> Case:
    """Draw scenes that no bundled model was trained on, at the size of the model."""
    drawn = [draw_scene("examples", 40_000 + 1000 * seed + number, 192) for number in range(count)]
    return Case(model, tuple(scene.image for scene in drawn), tuple(scene.label for scene in drawn))


def creatures(model: LoadedModel, seed: int, count: int) -> Case:
    """Draw paper creatures."""
    side = model.preprocessing.input_size[0]
    drawn = [Creature("test", 40_000 + 1000 * seed + number, side) for number in range(count)]
    return Case(model, tuple(one.render() for one in drawn), tuple(one.label for one in drawn))


class WithProbe(nn.Module):
    """Backbone with a linear classifier on its features."""

    def __init__(self, backbone: nn.Module, head: nn.Linear):
        super().__init__()
        self.backbone, self.head = backbone, head

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits."""
        return self.head(self.backbone(images))


def probed() -> LoadedModel:
    """Return the DINO with a probe that was fitted to scenes, as a wrapped module."""
    from sklearn.linear_model import LogisticRegression

    model = vx.load_model(PROBED)
    case = scenes(model, -1, 600)
    features = features_of(model.module, fed_right(case), 0)
    probe = LogisticRegression(max_iter=500, C=1.0).fit(features, case.labels)
    head = nn.Linear(features.shape[1], len(LABEL_NAMES))
    with torch.no_grad():
        head.weight.copy_(torch.from_numpy(probe.coef_).float())
        head.bias.copy_(torch.from_numpy(probe.intercept_).float())
    own = model.preprocessing
    return vx.wrap(WithProbe(model.module, head).eval(), mean=own.mean, std=own.std, labels=list(LABEL_NAMES))


def pairs(names: list[str]) -> dict[str, Callable[[int, int], Case]]:
    """Return makers of healthy pairs of model and pictures, by name."""
    makers: dict[str, Callable[[int, int], Case]] = {}
    for name in names:
        if name == "probed":
            model, draw = probed(), scenes
        elif name == "wrapped":
            plain = vx.load_model(SCENES[0])
            own = plain.preprocessing
            model, draw = vx.wrap(plain.module, mean=own.mean, std=own.std, labels=list(plain.class_names)), scenes
        else:
            model, draw = vx.load_model(name), creatures if name == CREATURES else scenes
        makers[name] = lambda seed, count, model=model, draw=draw: draw(model, seed, count)
    return makers


# ----------------------------------------------------------------------------------------------- runs


def accuracy(module: nn.Module, fed: Tensor, labels: Any) -> float:
    """Return the share of right answers."""
    with torch.inference_mode():
        answers = torch.cat([module(part).argmax(1) for part in fed.split(16)])
    return float((answers.numpy() == np.array(labels)).mean())


def reached(finding: Finding, case: Case) -> float | None:
    """Return the accuracy with a repair; None for a cause without one."""
    repaired = finding.repaired
    fed = fed_right(case) if case.fed is None else case.fed
    if isinstance(repaired, list):
        return accuracy(case.model.module, fed, repaired)
    if isinstance(repaired, dict):
        module = replace(case.model).module
        state = {name: tensor.clone() for name, tensor in module.state_dict().items()}
        module.load_state_dict(repaired)
        share = accuracy(module, fed, case.labels)
        module.load_state_dict(state)
        return share
    if isinstance(repaired, LoadedModel):
        return accuracy(repaired.module, fed, case.labels)
    if case.preprocess is not None and finding.cause == "wrong_size_or_crop":
        fed = torch.stack([repaired(picture) for picture in case.pictures])
        return accuracy(case.model.module, fed, case.labels)
    return accuracy(case.model.module, repaired(fed), case.labels) if repaired and case.fed is not None else None


def record(row: Row, cause: str, case: Case, healthy: float, report: Diagnosis) -> None:
    """Add a run to the counts of its cause."""
    causes = [finding.cause for finding in report.findings]
    right = cause.split(AND)
    row.runs += 1
    row.first += bool(causes) and (causes[0] in right or cause in HEALTHY)
    row.among += all(one in causes[:3] for one in right)
    row.decided += not any(one in report.undecided for one in right)
    row.seconds.append(report.seconds)
    finding = next((finding for finding in report.findings if finding.cause == cause), None)
    share = reached(finding, case) if finding else None
    if share is not None:
        row.repairs += 1
        row.proven += share >= healthy - REACHED


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


def rows_of(rows: dict[str, Row]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| cause | runs | first | among three | decided | repair proven | seconds |"
    yield "|---|---|---|---|---|---|---|"
    for cause, row in rows.items():
        first = f"{row.first} false alarms" if cause in HEALTHY else row.first
        proven = f"{row.proven} of {row.repairs}" if row.repairs else "-"
        seconds = f"{median(row.seconds):.0f}" if row.seconds else "-"
        yield f"| `{cause}` | {row.runs} | {first} | {row.among} | {row.decided} | {proven} | {seconds} |"


def main(
    seeds: Annotated[int, typer.Option(help="Runs of each cause and pair.")] = 5,
    first_seed: Annotated[int, typer.Option(help="First seed; every second one follows.")] = 0,
    causes: Annotated[str, typer.Option(help="Keys, with semicolons between.")] = ";".join(
        (*FAULTS, *map(AND.join, TOGETHER), *HEALTHY)
    ),
    models: Annotated[str, typer.Option(help="Names, with commas between.")] = ",".join(
        (*SCENES, "probed", "wrapped", CREATURES)
    ),
    pictures: Annotated[int, typer.Option(help="Pictures of a pair.")] = 64,
    seconds: Annotated[float, typer.Option(help="Time of a check-up to aim for.")] = 60,
) -> None:
    """Print a row for each cause."""
    rows = {cause: Row() for cause in causes.split(";")}
    for name, make in pairs(models.split(",")).items():
        for seed in range(first_seed, first_seed + 2 * seeds, 2):
            case = make(seed, pictures)
            healthy = accuracy(case.model.module, fed_right(case), case.labels)
            for cause, row in rows.items():
                faulty = planted(case, cause, seed)
                if faulty is None:
                    continue
                report = faulty.check_up(seconds)
                record(row, cause, faulty, healthy, report)
                causes_named = ", ".join(finding.cause for finding in report.findings) or "healthy"
                typer.echo(f"{name}, seed {seed}, {cause}: {causes_named}, {report.seconds:.0f} s", err=True)
    print("\n".join(rows_of(rows)))


if __name__ == "__main__":
    typer.run(main)
