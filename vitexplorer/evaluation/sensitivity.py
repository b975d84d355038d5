"""Does a map stay the same when the image hardly changes? Its sensitivity to small noise.

Yeh, Hsieh, Suggala, Inouye & Ravikumar 2019 (arXiv 1901.09392, definition 3): the largest distance between the map of
the image and the map of an image within a radius, by Monte Carlo. As in captum it is divided by the norm of the map, so
maps in different units can be compared. Distance and norm are Frobenius'. The second score is the mean over the draws.
Scores are 0 or more, low is good; a map that ignores the image is perfect here, as is `oracle`. Noise: uniform within
0.02 of full scale for each value, about five of 255 levels; five seeded draws.
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
"""Bound of the noise, as a share of full scale"""
DRAWS = 5


def noisy(capture: Capture, seed: int) -> Capture:
    """Capture the same image with uniform noise on every channel of every pixel."""
    image = capture.input.tensor
    std = image.new_tensor(capture.model.preprocessing.std)[:, None, None]
    noise = torch.rand(image.shape, generator=torch.Generator().manual_seed(seed)).to(image) * 2 - 1
    return capture_input(capture.model, replace(capture.input, tensor=image + RADIUS / std * noise))


def relative_distances(
    values: Float[np.ndarray, "rows cols"], others: Float[np.ndarray, "images rows cols"]
) -> Float[np.ndarray, " images"]:
    """Divide the distance between a map and each of the others by the map's norm; NaN for a zero map."""
    norm = np.linalg.norm(values)
    distances = np.linalg.norm((others - values).reshape(len(others), -1), axis=1)
    return distances / norm if norm > 0 else np.full(len(others), np.nan)


def sensitivity(trial: Trial) -> Float[np.ndarray, " figures"]:
    """Compute the largest and the mean relative distance of the maps of noisy images."""
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
    targets=40,
    targets_of_slow=3,
)
