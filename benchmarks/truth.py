"""Do the maps find the object? Every attention and relevance view on every bundled model, where the truth is known.

    python -m benchmarks.truth [--scenes 500] [--untrained 100] [--models scenes_vit_patch16_192,...] [--steps 10]

On held-out scenes, as a Markdown table for each model, beside a random map and, on the first of these scenes, the same
network untrained:

pointing   share of scenes in which the middle of the highest cell lies on the object (Zhang et al. 2016, arXiv
           1608.00507, without a margin)
overlap    intersection over union of the object's mask and the cells that together hold 60 % of the map's positive
           part; 0 for a map without one
deletion   area under the probability of the true class while patches are taken away in the map's order, low is good
insertion  the same while they come back to the blurred image, high is good (Petsiuk et al. 2018, arXiv 1806.07421)

The class explained is the true one. Views without a class stand for all classes alike. The last two need a classifier,
and are not measured on untrained networks, whose probabilities mean nothing.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Annotated

import numpy as np
import torch
import typer
from tqdm import tqdm

import vitexplorer as vx
from vitexplorer.capture import Capture
from vitexplorer.models.bundled.measure import mass_mask
from vitexplorer.models.bundled.scenes import Scene, draw_scene
from vitexplorer.models.catalog import catalog
from vitexplorer.quantities.faithfulness import (
    areas_under,
    coarsened,
    first_ones,
    probabilities,
    ranking,
    step_counts,
)
from vitexplorer.quantities.perturbation import Runs, baseline_image, patch_of_pixel
from vitexplorer.types import MapResult
from vitexplorer.views import VIEWS, explanations

SEED = 0
Scores = dict[str, list[float]]
"""what was measured -> a number for each scene"""


def maps_of(capture: Capture, target: int) -> dict[str, MapResult]:
    """The map of every view of attention or relevance that has a meaning for the model, at its default settings.

    Without a classifier those of relevance are left out: what they explain there is no object.
    """
    maps = {}
    for key, view in {"attention_map": VIEWS["attention_map"], **explanations()}.items():
        names = {control.name for control in view.controls}
        explains_a_class = "target" in names and capture.logits is not None
        if view.refuses(capture) is None and (explains_a_class or "target" not in names):
            maps[key] = vx.compute(key, capture, **({"target": target} if explains_a_class else {}))
    return maps


def points_at(result: MapResult, mask: np.ndarray) -> bool:
    """Whether the middle of the highest cell lies on the mask (height, width); of equal cells a random one."""
    row, col = divmod(int(ranking(result.values, SEED)[0]), result.grid.cols)
    half = result.grid.patch_size // 2
    return bool(mask[row * result.grid.patch_size + half, col * result.grid.patch_size + half])


def overlap(result: MapResult, mask: np.ndarray) -> float:
    """Intersection over union of the mask and the cells that hold 60 % of what is positive."""
    positive = result.values.clip(0)
    if not positive.any():
        return 0.0
    kept = mass_mask(positive.ravel()).reshape(positive.shape)
    kept = kept.repeat(result.grid.patch_size, 0).repeat(result.grid.patch_size, 1)
    return float((kept & mask).sum() / (kept | mask).sum())


@torch.no_grad()
def areas(capture: Capture, result: MapResult, target: int, steps: int) -> tuple[float, float]:
    """Under the deletion and the insertion curve of one map."""
    grid = capture.grid(capture.depth - 1)
    counts = step_counts(grid.num_patches, steps)
    first = first_ones(ranking(coarsened(result.values, result.grid, grid), SEED), counts)
    changed = torch.from_numpy(first)[:, patch_of_pixel(grid, *capture.input.tensor.shape[-2:])]
    runs = Runs(capture, 2 * len(counts))
    curves = [
        probabilities(runs, capture, target, baseline_image(capture, kind), pixels)
        for kind, pixels in (("mean", changed), ("blur", ~changed))
    ]
    deletion, insertion = areas_under(np.stack(curves)[None], counts / grid.num_patches)[0]
    return float(deletion), float(insertion)


def measure(name: str, scenes: list[Scene], num_untrained: int, steps: int) -> dict[str, Scores]:
    """Of every view, on one bundled model, and for the first `num_untrained` scenes on its untrained twin."""
    trained, untrained = vx.load_model(name), vx.load_model(name, weights="random", seed=SEED)
    scores: dict[str, Scores] = defaultdict(lambda: defaultdict(list))
    for number, scene in enumerate(tqdm(scenes, name, unit="scene")):
        for model, suffix in ((trained, ""), (untrained, ", untrained"))[: 2 if number < num_untrained else 1]:
            capture = vx.capture(model, scene.image, fit="squash")
            for key, result in maps_of(capture, scene.label).items():
                scores[key]["pointing" + suffix].append(points_at(result, scene.mask))
                scores[key]["overlap" + suffix].append(overlap(result, scene.mask))
                if model is trained and model.num_classes:
                    deletion, insertion = areas(capture, result, scene.label, steps)
                    scores[key]["deletion"].append(deletion)
                    scores[key]["insertion"].append(insertion)
    return scores


def table(scores: dict[str, Scores]) -> str:
    """Markdown: a row for each view, the mean over the scenes in each column."""
    columns = list(dict.fromkeys(column for measured in scores.values() for column in measured))
    rows = [["view", *columns], ["---"] * (1 + len(columns))]
    for key, measured in scores.items():
        rows.append([f"`{key}`", *(f"{np.mean(measured[c]):.3f}" if c in measured else "" for c in columns)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main(
    scenes: Annotated[int, typer.Option(help="Held-out scenes to measure on.")] = 500,
    untrained: Annotated[int, typer.Option(help="The first so many scenes also with the network untrained.")] = 100,
    models: Annotated[str, typer.Option(help="Names with commas between them; all bundled ones when empty.")] = "",
    steps: Annotated[int, typer.Option(help="Points of the deletion and insertion curves.")] = 10,
) -> None:
    """Print the truth table."""
    drawn = [scene for index in range(scenes) if (scene := draw_scene("test", index)).mask.any()]
    names = models.split(",") if models else [entry.name for entry in catalog() if entry.bundled]
    for name in names:
        measured = table(measure(name, drawn, untrained, steps))
        print(f"\n### {name}, {len(drawn)} scenes ({min(untrained, len(drawn))} untrained)\n\n{measured}", flush=True)


if __name__ == "__main__":
    typer.run(main)
