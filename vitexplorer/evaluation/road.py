"""What does the model say when the places a map names are filled in from their surroundings? ROAD.

Rong, Leemann, Borisov, Kasneci & Kasneci 2022 (arXiv 2202.00449): pixels are removed most relevant first (MoRF) or
least relevant first (LeRF), and the share of removals after which the class is still the model's answer is the score,
0-1: low is good for MoRF, high for LeRF. What is removed is replaced by noisy linear imputation (their section 4.2):
each missing pixel is the mean of its eight neighbours, direct ones weighing 1/6 and diagonal ones 1/12, missing ones
included, plus noise of standard deviation 0.01 in normalised units. The shape of the hole then tells the model far less
than a grey patch does. Here whole patches of the last block's grid go, at 10, 30, 50, 70 and 90 %; equal ones in a
seeded random order. The equations are solved by conjugate gradients from a guess on coarser and coarser pixels, until
no pixel misses its neighbours' mean by more than 0.0003.
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
"""of the patches that are removed"""
NOISE = 0.01
TOLERANCE = 3e-4
"""largest residual of the equations, in normalised units"""
MOST_STEPS = 500
SMALLEST = 6
"""pixels of the shorter side below which there is no coarser guess"""


def imputed(
    image: Float[Tensor, "channels height width"], missing: Bool[Tensor, "images height width"], seed: int
) -> Float[Tensor, "images channels height width"]:
    """The image with missing pixels filled in from the others, noise included; one pixel at least must be known."""
    holes = missing[:, None].to(image)
    filled = filled_in(image[None].expand(len(missing), -1, -1, -1), holes)
    noise = torch.randn(filled.shape, generator=torch.Generator().manual_seed(seed)).to(image)
    return filled + NOISE * noise * holes


def filled_in(
    images: Float[Tensor, "images channels height width"], holes: Float[Tensor, "images 1 height width"]
) -> Float[Tensor, "images channels height width"]:
    """Pixels where `holes` is 1 solve: each is the weighted mean of its neighbours inside the image."""
    return _solved(images, holes, torch.where(holes > 0, _guess(images, holes), images))


def _guess(images: Tensor, holes: Tensor) -> Tensor:
    """The solution on pixels twice as large, or the mean of what is known."""
    known = 1 - holes
    height, width = images.shape[-2:]
    if min(height, width) < 2 * SMALLEST or height % 2 or width % 2:
        return (images * known).sum((-2, -1), keepdim=True) / known.sum((-2, -1), keepdim=True)
    seen = F.avg_pool2d(known, 2)
    coarse = F.avg_pool2d(images * known, 2) / seen.clamp(min=0.25)
    return F.interpolate(filled_in(coarse, (seen == 0).to(images)), scale_factor=2, mode="bilinear")


def _neighbours(images: Tensor) -> Tensor:
    """The weighted sum of each pixel's neighbours, those beyond the border being nothing: (1 2 1)' (1 2 1) / 12."""
    padded = F.pad(images, (1, 1, 1, 1))
    rows = padded[..., :-2] + 2 * padded[..., 1:-1] + padded[..., 2:]
    return (rows[..., :-2, :] + 2 * rows[..., 1:-1, :] + rows[..., 2:, :] - 4 * images) / 12


def _solved(images: Tensor, holes: Tensor, guess: Tensor) -> Tensor:
    """Conjugate gradients on the missing pixels; the matrix is symmetric and, where a pixel is known, definite."""
    weight = _neighbours(torch.ones_like(holes))

    def residual(found: Tensor) -> Tensor:
        return holes * (_neighbours(found) - weight * found)

    left = residual(guess)
    way, size = left, left.square().sum((-2, -1), keepdim=True)
    for _ in range(MOST_STEPS):
        if float(left.abs().amax()) < TOLERANCE:
            break
        image = -residual(way)
        length = size / (way * image).sum((-2, -1), keepdim=True).clamp(min=1e-30)
        guess, left = guess + length * way, left - length * image
        before, size = size, left.square().sum((-2, -1), keepdim=True)
        way = left + size / before.clamp(min=1e-30) * way
    return guess


@torch.no_grad()
def road(trial: Trial) -> Float[np.ndarray, " curves"]:
    """Share of the removals after which the class is still the answer: most relevant first, least relevant first."""
    grid, image = trial.last_grid, trial.capture.input.tensor
    order = ranking(trial.on_last_grid, trial.seed)
    counts = np.rint(np.array(SHARES) * grid.num_patches).astype(int)
    gone = torch.from_numpy(np.concatenate([first_ones(order, counts), first_ones(order[::-1], counts)]))
    missing = gone[:, patch_of_pixel(grid, *image.shape[-2:])].to(image.device)
    answers = [trial.capture.run(images).argmax(-1) for images in imputed(image[0], missing, trial.seed).split(BATCH)]
    return (torch.cat(answers) == trial.case.target).double().reshape(2, -1).mean(1).cpu().numpy()


PROTOCOL = Protocol(
    title=Text("Removal and imputation (ROAD)", "移除并填补测试"),
    question=Text(
        "Does the answer change when the map's highest places are filled in from around them, and last when its "
        "lowest are?",
        "用周围像素填补图中最高处时答案是否改变，填补最低处时答案是否保持？",
    ),
    columns=(
        Column("road_morf", Text("ROAD, highest first", "填补，从高到低"), "low"),
        Column("road_lerf", Text("ROAD, lowest first", "填补，从低到高"), "high"),
    ),
    measure=road,
    data="scenes",
    paper=Paper("Rong et al. 2022", "https://arxiv.org/abs/2202.00449"),
    suits=lambda case: True,
    targets=12,
    targets_of_slow=12,
    compares_classes=True,
)
