"""Does the answer survive when a map's places are filled in from their surroundings? Remove and debias (ROAD).

Rong, Leemann, Borisov, Kasneci & Kasneci 2022 (arXiv 2202.00449): pixels are removed most relevant first (MoRF) or
least relevant first (LeRF). The score is the share of removals after which the class is still the model's answer, 0-1:
low is good for MoRF, high for LeRF. Removed pixels are replaced by noisy linear imputation (their section 4.2): each is
the mean of its eight neighbours, removed ones included, with weights 1/6 (direct) and 1/12 (diagonal), plus noise of
standard deviation 0.01 in normalised units. The shape of the hole then reveals far less than a grey patch does. Here
whole patches of the last block's grid are removed, at 10, 30, 50, 70 and 90 %; ties are in a seeded random order. The
equations are solved by conjugate gradients from a guess on coarser pixels, recursively, until every residual is below
0.0003.
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.evaluation.case import Trial
from vitexplorer.evaluation.protocol import Column, Protocol
from vitexplorer.quantities.faithfulness import first_ones, ranking
from vitexplorer.quantities.perturbation import BATCH, patch_of_pixel

SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Shares of the patches that are removed"""
NOISE = 0.01
TOLERANCE = 3e-4
"""Largest residual of the equations, in normalised units"""
MOST_STEPS = 500
SMALLEST = 6
"""Shorter side in pixels below which there is no coarser guess"""


def imputed(
    image: Float[Tensor, "channels height width"], missing: Bool[Tensor, "images height width"], seed: int
) -> Float[Tensor, "images channels height width"]:
    """Fill in missing pixels from the others, with noise; at least one pixel must be known."""
    holes = missing[:, None].to(image)
    filled = filled_in(image[None].expand(len(missing), -1, -1, -1), holes)
    noise = torch.randn(filled.shape, generator=torch.Generator().manual_seed(seed)).to(image)
    return filled + NOISE * noise * holes


def filled_in(
    images: Float[Tensor, "images channels height width"], holes: Float[Tensor, "images 1 height width"]
) -> Float[Tensor, "images channels height width"]:
    """Solve for the pixels where `holes` is 1: each is the weighted mean of its neighbours inside the image."""
    return _solved(images, holes, torch.where(holes > 0, _guess(images, holes), images))


def _guess(images: Tensor, holes: Tensor) -> Tensor:
    """Return the solution on pixels twice as large, or the mean of the known pixels."""
    known = 1 - holes
    height, width = images.shape[-2:]
    if min(height, width) < 2 * SMALLEST or height % 2 or width % 2:
        return (images * known).sum((-2, -1), keepdim=True) / known.sum((-2, -1), keepdim=True)
    seen = F.avg_pool2d(known, 2)
    coarse = F.avg_pool2d(images * known, 2) / seen.clamp(min=0.25)
    return F.interpolate(filled_in(coarse, (seen == 0).to(images)), scale_factor=2, mode="bilinear")


def _neighbours(images: Tensor) -> Tensor:
    """Sum each pixel's neighbours with weights (1 2 1)' (1 2 1) / 12; those beyond the border count as zero."""
    padded = F.pad(images, (1, 1, 1, 1))
    rows = padded[..., :-2] + 2 * padded[..., 1:-1] + padded[..., 2:]
    return (rows[..., :-2, :] + 2 * rows[..., 1:-1, :] + rows[..., 2:, :] - 4 * images) / 12


def _solved(images: Tensor, holes: Tensor, guess: Tensor) -> Tensor:
    """Run conjugate gradients on the missing pixels; the matrix is symmetric and, if any pixel is known, definite."""
    weight = _neighbours(torch.ones_like(holes))

    def residual(solution: Tensor) -> Tensor:
        return holes * (_neighbours(solution) - weight * solution)

    left = residual(guess)
    direction, size = left, left.square().sum((-2, -1), keepdim=True)
    for _ in range(MOST_STEPS):
        if float(left.abs().amax()) < TOLERANCE:
            break
        image = -residual(direction)
        length = size / (direction * image).sum((-2, -1), keepdim=True).clamp(min=1e-30)
        guess, left = guess + length * direction, left - length * image
        before, size = size, left.square().sum((-2, -1), keepdim=True)
        direction = left + size / before.clamp(min=1e-30) * direction
    return guess


@torch.no_grad()
def road(trial: Trial) -> Float[np.ndarray, " curves"]:
    """Return the share of removals after which the class is still the answer, for MoRF and for LeRF."""
    grid, image = trial.last_grid, trial.capture.input.tensor
    order = ranking(trial.on_last_grid, trial.seed)
    counts = np.rint(np.array(SHARES) * grid.num_patches).astype(int)
    removed = torch.from_numpy(np.concatenate([first_ones(order, counts), first_ones(order[::-1], counts)]))
    missing = removed[:, patch_of_pixel(grid, *image.shape[-2:])].to(image.device)
    answers = [trial.capture.run(images).argmax(-1) for images in imputed(image[0], missing, trial.seed).split(BATCH)]
    return (torch.cat(answers) == trial.case.target).double().reshape(2, -1).mean(1).cpu().numpy()


PROTOCOL = Protocol(
    title=Text("Removal and imputation (ROAD)", "移除与填补（ROAD）"),
    question=Text(
        "Does the answer change when the map's highest places are filled in from around them, and stay when its "
        "lowest are?",
        "用周围像素填补图中最高处时答案是否改变，填补最低处时答案是否保持？",
    ),
    columns=(
        Column("road_morf", Text("ROAD, highest first", "ROAD，从高到低"), "low"),
        Column("road_lerf", Text("ROAD, lowest first", "ROAD，从低到高"), "high"),
    ),
    measure=road,
    data="scenes",
    paper=Paper("Rong et al. 2022", "https://arxiv.org/abs/2202.00449"),
    targets=12,
    targets_of_slow=12,
    compares_classes=True,
    reads_answer=True,
)
