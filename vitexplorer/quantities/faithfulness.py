"""Faithfulness of maps: curves of deletion and insertion, and the areas under them.

Deletion and insertion (Petsiuk et al. 2018, arXiv 1806.07421), by patches. The curves are the probability of the class;
the output f(x) of a model that has only one; or the score of another target: a difference of logits, or the cosine of a
similarity. Areas of all but a probability are in their own unit and may be negative. Patches with equal values (a map
may be zero in many places) go in a seeded random order, so that their place gives no advantage. Areas are by the
trapezoid rule over the share of patches that were really exchanged. Maps on a finer grid than the last block's (Swin)
are summed over its cells.

A curve is known at its steps only, which makes its area uncertain. Between two steps it is taken to lie anywhere
between its ends: the area of the step then has an even distribution of half width |Δf| Δs / 2 and the standard
uncertainty of this half width / √3 (JCGM 100:2008, "Guide to the expression of uncertainty in measurement", 4.3.7).
The steps of all curves add in quadrature (5.1.2), and twice the sum covers about 95 % (6.3.3). More steps make it
smaller. It does not cover the choice of the picture, nor a curve that leaves the range of its ends. On two drawn scenes
the areas of eight methods at 5, 10 and 20 steps were all within it of those at 72 steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls.explained import Target
from vitexplorer.core.capture_protocol import has_one_output
from vitexplorer.core.format import measured, plus_minus
from vitexplorer.core.text import Progress, Text, present
from vitexplorer.core.types import MapResult, PatchGrid
from vitexplorer.quantities.perturbation import Runs, baseline_image, baseline_text, patch_of_pixel, run_exchanged
from vitexplorer.quantities.read_out import displayed_values
from vitexplorer.quantities.scores import run_scores

CURVES = ("deletion", "insertion")
OF_OUTPUT = Text(
    "Both curves are the model's one output itself, and the areas under them are in its unit.",
    "两条曲线都是模型唯一的输出值本身，曲线下面积以它的单位计。",
)
DELETED = Text("Deleted patches become {baseline}.", "被删除的图块换成{baseline}。")
INSERTED = Text("Insertion begins with {baseline}.", "插入从{baseline}开始。")
NO_ORDER = Text(
    "{title} gives every patch the same number here, so its order is random too.",
    "{title} 在这里给所有图块同样的数值，因此它的顺序也是随机的。",
)
RANDOM_ALONE = Text(
    "A random order alone gives an area of {chance} between insertion and deletion: a map must do better.",
    "仅用随机顺序，插入与删除曲线之间的面积为 {chance}：图的表现应当优于它。",
)
NONE_BETTER = Text(
    "No method beats random order here: the area between insertion and deletion is {chance} for random order and "
    "{gain} for the best, {title}.",
    "这里没有方法胜过随机顺序：插入与删除曲线之间的面积，随机顺序为 {chance}，最好的“{title}”为 {gain}。",
)
AHEAD = Text(
    "{title} is ahead of {next} by {lead} in the area between the curves", "“{title}”的曲线间面积比“{next}”高 {lead}"
)
ALIKE = Text("{ahead}: these two cannot be told apart on this picture", "{ahead}：在本图上无法区分两者的优劣")
ALONE = Text("{verdict}.", "{verdict}。")
CHANCE_BEHIND = Text("{verdict}; a random order is {lead} behind.", "{verdict}；随机顺序落后 {lead}。")
CHANCE_ALIKE = Text(
    "{verdict}; a random order is {lead} behind and cannot be told apart from it either.",
    "{verdict}；随机顺序落后 {lead}，同样无法区分。",
)
RANDOM_ORDER = Text("a random order", "随机顺序")
UNCERTAIN = Text(
    "The number after ± covers about 95 % of what the curves can do between their steps: more steps make it smaller. "
    "Another picture may rank the methods differently.",
    "± 后的数值约以 95 % 的把握涵盖曲线在各步之间可能的变化：步数越多，它越小。换一幅图像，方法的排名可能不同。",
)
COVERAGE = 2
"""Standard uncertainties that cover about 95 % (JCGM 100:2008, 6.3.3)"""


@dataclass(frozen=True, eq=False)
class Faithfulness:
    """Curves and areas of several maps."""

    values: Float[np.ndarray, "methods curves steps"]
    """Probability of the class, the one output, or the score of another target"""
    shares: Float[np.ndarray, " steps"]
    """Share of the patches that are exchanged"""
    areas: Float[np.ndarray, "methods curves"]
    notes: tuple[Text, ...]
    """Notes on the curves of a single output, on the baselines, on maps that give no order, and on ±"""


def coarsened(values: Float[np.ndarray, "rows cols"], fine: PatchGrid, coarse: PatchGrid) -> np.ndarray:
    """Sum a map over the cells of a coarser grid, (coarse rows, coarse cols)."""
    ratio = coarse.patch_size // fine.patch_size
    out = np.zeros((coarse.rows, coarse.cols))
    np.add.at(out, (np.arange(fine.rows)[:, None] // ratio, np.arange(fine.cols)[None, :] // ratio), values)
    return out


def ranking(values: Float[np.ndarray, "rows cols"], seed: int) -> Int[np.ndarray, " patches"]:
    """Rank patches from the highest value to the lowest; the seed orders equal ones."""
    return np.lexsort((np.random.default_rng(seed).permutation(values.size), -values.ravel()))


def step_counts(patches: int, steps: int) -> Int[np.ndarray, " steps"]:
    """Return the numbers of exchanged patches: none, then equal steps rounded to whole numbers, then all."""
    return np.unique(np.rint(np.linspace(0, patches, steps + 1)).astype(int))


def first_ones(order: Int[np.ndarray, " patches"], counts: Int[np.ndarray, " steps"]) -> Bool[np.ndarray, "steps more"]:
    """Mark, for each count, the first patches of the order; one more place stands for pixels of no patch."""
    place = np.empty(len(order) + 1, int)
    place[order], place[-1] = np.arange(len(order)), len(order)
    return place[None, :] < counts[:, None]


def values_exchanged(
    runs: Runs,
    capture: Capture,
    target: Target,
    other: Float[Tensor, "1 channels height width"],
    exchanged: Bool[Tensor, "images height width"],
) -> Float[np.ndarray, " images"]:
    """Compute the target's value with pixels exchanged for those of another image; `runs` are those of `runs_for`.

    It is the probability of the class, the one output, or the score of another target.
    """
    answers = run_exchanged(runs, capture.input.tensor, other, exchanged)
    values = displayed_values(answers)[:, target] if isinstance(target, int) else answers
    return values.double().cpu().numpy()


def runs_for(capture: Capture, target: Target, total: int, progress: Progress | None = None) -> Runs:
    """Return the network whose values for a target are asked for: its logits, or the score of what is no class."""
    network = None if isinstance(target, int) else partial(run_scores, capture, target)
    return Runs(capture, total, progress, network)


def num_passes(capture: Capture, maps: int, steps: int) -> int:
    """Return the most images that the curves of so many maps take; equal curves take a little fewer."""
    return maps * len(CURVES) * len(step_counts(capture.grid(capture.depth - 1).num_patches, steps))


def gains(areas: Float[np.ndarray, "methods curves"]) -> Float[np.ndarray, " methods"]:
    """Return the area between the curves of insertion and deletion, large for a map that is right."""
    return areas[:, CURVES.index("insertion")] - areas[:, CURVES.index("deletion")]


def gain_uncertainties(
    values: Float[np.ndarray, "methods curves steps"], shares: Float[np.ndarray, " steps"]
) -> Float[np.ndarray, " methods"]:
    """Compute half the width of the 95 % interval of each gain, in the unit of the values."""
    half_widths = np.abs(np.diff(values)) * np.diff(shares) / 2
    return COVERAGE * np.sqrt((half_widths**2).sum((1, 2)) / 3)


def best_text(
    titles: Sequence[Text], areas: Float[np.ndarray, "methods curves"], uncertainties: Float[np.ndarray, " methods"]
) -> Text:
    """Say how far the best method is ahead of the next one and of random order, and whether that can be told apart.

    Methods are compared by the area between their curves; random order is the last of them.
    """
    gain, chance = gains(areas), len(areas) - 1
    if not chance:
        return RANDOM_ALONE.format(chance=measured(gain[chance]))
    best, *others = np.argsort(-gain[:-1], kind="stable").tolist()
    if gain[best] <= gain[chance]:
        return NONE_BETTER.format(
            title=titles[best],
            gain=plus_minus(gain[best], uncertainties[best]),
            chance=plus_minus(gain[chance], uncertainties[chance]),
        )

    def lead_over(other: int) -> tuple[str, bool]:
        lead = gain[best] - gain[other]
        half = np.hypot(uncertainties[best], uncertainties[other])
        return plus_minus(lead, half), bool(lead > half)

    after = next((method for method in others if gain[method] > gain[chance]), chance)
    lead, is_clear = lead_over(after)
    name = RANDOM_ORDER if after == chance else titles[after]
    ahead = AHEAD.format(title=titles[best], next=name, lead=lead)
    verdict = ahead if is_clear else ALIKE.format(ahead=ahead)
    if after == chance:
        return ALONE.format(verdict=verdict)
    lead, is_clear = lead_over(chance)
    return (CHANCE_BEHIND if is_clear else CHANCE_ALIKE).format(verdict=verdict, lead=lead)


def faithfulness(
    capture: Capture, target: Target, maps: Sequence[MapResult], steps: int, seed: int, progress: Progress | None
) -> Faithfulness:
    """Compute the target's value, see `values_exchanged`, along both curves of each map, and the areas."""
    grid, image = capture.grid(capture.depth - 1), capture.input.tensor
    counts = step_counts(grid.num_patches, steps)
    on_grid = [coarsened(result.values, result.grid, grid) for result in maps]

    first = np.concatenate([first_ones(ranking(values, seed), counts) for values in on_grid])
    different, place = np.unique(first, axis=0, return_inverse=True)  # all curves share their ends
    at = patch_of_pixel(grid, *image.shape[-2:])
    ranked_first = torch.from_numpy(different)[:, at].to(image.device)
    runs = runs_for(capture, target, len(CURVES) * len(different), progress)
    deletion = values_exchanged(runs, capture, target, baseline_image(capture, "mean"), ranked_first)
    insertion = values_exchanged(runs, capture, target, baseline_image(capture, "blur"), ~ranked_first)
    curves = [curve[place.ravel()].reshape(len(maps), len(counts)) for curve in (deletion, insertion)]

    values, shares = np.stack(curves, axis=1), counts / grid.num_patches
    flat = [result.title for result, cells in zip(maps, on_grid, strict=True) if np.ptp(cells) == 0]
    return Faithfulness(
        values=values,
        shares=shares,
        areas=np.trapezoid(values, shares),
        notes=present(
            OF_OUTPUT if isinstance(target, int) and has_one_output(capture) else None,
            DELETED.format(baseline=baseline_text(capture, "mean")),
            INSERTED.format(baseline=baseline_text(capture, "blur")),
            *(NO_ORDER.format(title=title) for title in flat),
            UNCERTAIN,
        ),
    )
