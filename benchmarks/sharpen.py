"""Does a sharpened map follow the object better? Maps of 1, 4, 16 and 64 passes against the drawn masks.

    python -m benchmarks.sharpen [--images 200] [--kinds scenes,grid] [--views attention_map,...] [--passes 1,4,16,64]
        [--processes 2]

Prints a Markdown table for each kind of picture: a row for each view, and for each number of passes the best overlap
with the mask of the object (intersection over union at the best of all thresholds) and the edge error (mean distance in
pixels between the outline of the map at that threshold and the outline of the object, both ways: average symmetric
surface distance, Heimann et al. 2009, IEEE TMI 28(8)). Intervals are 95 % bootstrap intervals over pictures; the last
columns give the change from one pass to the most, picture by picture. Maps keep their positive part.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Annotated

import cv2
import numpy as np
import torch
import typer
from jaxtyping import Bool, Float
from tqdm import tqdm

import vitexplorer as vx
from vitexplorer.core.format import measured
from vitexplorer.core.types import MapResult
from vitexplorer.evaluation.evaluating import drawn_cases
from vitexplorer.evaluation.intervals import mean_interval
from vitexplorer.views import VIEWS

VIEWS_WITH_CLASS = "attention_map,attention_rollout,generic_relevance,grad_cam,legrad,attn_lrp"
THRESHOLDS = 256
"""Largest number of thresholds that are tried, at even ranks of the values"""


def best_region(
    result: MapResult, mask: Bool[np.ndarray, "height width"]
) -> tuple[float, Bool[np.ndarray, "height width"]]:
    """Find the region above a threshold that overlaps most with the mask; its intersection over union, and itself."""
    side = result.grid.patch_size
    values = result.values.clip(0).repeat(side, 0).repeat(side, 1)
    mask = mask[: values.shape[0], : values.shape[1]]
    levels = np.unique(result.values.clip(0))
    levels = levels[np.linspace(0, len(levels) - 1, min(len(levels), THRESHOLDS)).round().astype(int)]
    overlaps = [_overlap(values >= level, mask) for level in levels]
    best = int(np.argmax(overlaps))
    return overlaps[best], values >= levels[best]


def _overlap(region: np.ndarray, mask: np.ndarray) -> float:
    return float((region & mask).sum() / (region | mask).sum())


def edge_error(region: Bool[np.ndarray, "height width"], mask: Bool[np.ndarray, "height width"]) -> float:
    """Compute the average symmetric surface distance of two regions in pixels; NaN where one has no outline."""
    edges = [_outline(area) for area in (region, mask[: region.shape[0], : region.shape[1]])]
    if not all(edge.any() for edge in edges):
        return np.nan
    first, second = (cv2.distanceTransform((~edge).astype(np.uint8), cv2.DIST_L2, 5) for edge in edges)
    return float(np.concatenate([second[edges[0]], first[edges[1]]]).mean())


def _outline(region: np.ndarray) -> Bool[np.ndarray, "height width"]:
    """Return the pixels of a region that have a neighbour outside it, within the image."""
    inside = cv2.erode(region.astype(np.uint8), np.ones((3, 3), np.uint8), borderType=cv2.BORDER_REPLICATE)
    return region & (inside == 0)


@dataclass(frozen=True)
class Task:
    """Measurement of one model on one kind of pictures."""

    model: str
    kind: str
    views: list[str]
    passes: list[int]
    images: int
    processes: int

    def measure(self) -> Float[np.ndarray, "views passes 2 images"]:
        """Measure best overlap and edge error, the pictures shared out among processes."""
        with ProcessPoolExecutor(self.processes, get_context("spawn")) as pool:
            return np.concatenate(list(pool.map(measure_share, [self] * self.processes, range(self.processes))), -1)


def measure_share(task: Task, share: int) -> Float[np.ndarray, "views passes 2 images"]:
    """Measure every n-th picture, from the one with the number `share`."""
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // task.processes))
    loaded, views, passes = vx.load_model(task.model), task.views, task.passes
    cases = [case for case in drawn_cases(loaded, task.kind, task.images) if case.mask is not None]
    cases = cases[share :: task.processes]
    values = np.full((len(views), len(passes), 2, len(cases)), np.nan)
    for number, case in enumerate(tqdm(cases, desc=f"{task.model}, {task.kind}", position=share)):
        capture = vx.capture(loaded, case.image, differentiable=True)
        for row, view in enumerate(views):
            controls = {control.name for control in VIEWS[view].controls}
            target = {"target": case.target} if "target" in controls else {}
            for at, count in enumerate(passes):
                result = vx.compute(view, capture, sharpen=count, **target)
                overlap, region = best_region(result, case.mask)
                values[row, at, :, number] = overlap, edge_error(region, case.mask)
    return values


def with_interval(values: Float[np.ndarray, " images"]) -> str:
    """Format the mean of values with its interval."""
    mean, low, high = mean_interval(values, np.arange(len(values)))
    return f"{measured(mean)} ({measured(low)} to {measured(high)})"


def main(
    images: Annotated[int, typer.Option(help="Pictures of each kind.")] = 200,
    model: str = "scenes_vit_patch16_192",
    kinds: Annotated[str, typer.Option(help="scenes: one object; grid: four objects, one of them asked for.")] = (
        "scenes,grid"
    ),
    views: str = VIEWS_WITH_CLASS,
    passes: str = "1,4,16,64",
    processes: Annotated[int, typer.Option(help="Processes that share the pictures.")] = 1,
) -> None:
    """Print the tables."""
    keys, counts = views.split(","), [int(count) for count in passes.split(",")]
    for kind in kinds.split(","):
        values = Task(model, kind, keys, counts, images, processes).measure()
        print(f"\n{model}, {kind}, {values.shape[-1]} pictures\n")
        heads = [f"{name}, {count}" for name in ("overlap", "edge error in px") for count in counts]
        changes = [f"{name}, change" for name in ("overlap", "edge error")]
        print("| view | " + " | ".join([*heads, *changes]) + " |")
        print("|---" * (1 + len(heads) + len(changes)) + "|")
        for view, of_view in zip(keys, values, strict=True):
            cells = [with_interval(of_view[at, number]) for number in range(2) for at in range(len(counts))]
            cells += [with_interval(of_view[-1, number] - of_view[0, number]) for number in range(2)]
            print(f"| {VIEWS[view].title.en} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    typer.run(main)
