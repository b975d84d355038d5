"""Does a map stay the same when the image hardly changes? Its sensitivity to small noise.

Yeh, Hsieh, Suggala, Inouye & Ravikumar 2019 (arXiv 1901.09392, definition 3): the largest distance between the map of
the image and that of an image within a radius, by Monte Carlo; divided by the norm of the map, so that maps in
different units can be compared, as captum does. Distance and norm are Frobenius'. Beside it the mean over the draws. 0
and more, low is good: but a map that says the same of every image is perfect here, and `oracle` is. Noise: even within
0.02 of full scale for each number of the image, about five of 255 levels; five draws, seeded.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float

from vitexplorer.capturing.capture import Capture, capture_input
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.evaluation.case import Trial
from vitexplorer.evaluation.protocol import Column, Protocol

RADIUS = 0.02
"""of full scale"""
DRAWS = 5


def noisy(capture: Capture, seed: int, radius: float = RADIUS) -> Capture:
    """The capture of the same image with even noise on every number of every pixel."""
    image = capture.input.tensor
    std = image.new_tensor(capture.model.preprocessing.std)[:, None, None]
    noise = torch.rand(image.shape, generator=torch.Generator().manual_seed(seed)).to(image) * 2 - 1
    return capture_input(capture.model, replace(capture.input, tensor=image + radius / std * noise))


def relative_distances(
    values: Float[np.ndarray, "rows cols"], others: Float[np.ndarray, "images rows cols"]
) -> Float[np.ndarray, " images"]:
    """Norm of the difference between a map and each other, over the map's norm; NaN for a map that is zero."""
    norm = np.linalg.norm(values)
    distances = np.linalg.norm((others - values).reshape(len(others), -1), axis=1)
    return distances / norm if norm > 0 else np.full(len(others), np.nan)


def sensitivity(trial: Trial) -> Float[np.ndarray, " figures"]:
    """Largest and mean relative distance of the maps of noisy images."""
    maps = []
    for draw in range(DRAWS):
        other = trial.once(("noisy", draw), lambda draw=draw: noisy(trial.capture, trial.seed * DRAWS + draw))
        maps.append(trial.explain(other, trial.case.target).values)
    distances = relative_distances(trial.map.values, np.stack(maps))
    return np.array([distances.max(), distances.mean()])


PROTOCOL = Protocol(
    title=Text("Sensitivity to small noise", "对微小噪声的敏感度"),
    question=Text("Does the map stay the same when the image hardly changes?", "图像几乎不变时，该图是否也保持不变？"),
    columns=(
        Column("max_sensitivity", Text("sensitivity, most", "敏感度，最大"), "low"),
        Column("avg_sensitivity", Text("sensitivity, mean", "敏感度，平均"), "low"),
    ),
    measure=sensitivity,
    data="scenes",
    paper=Paper("Yeh et al. 2019", "https://arxiv.org/abs/1901.09392"),
    suits=lambda case: True,
    targets=40,
    targets_of_slow=3,
)
