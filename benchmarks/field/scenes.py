"""Does a method beat the linear probe on classes that the backbone does not know? Drawn scenes, a DINO, several seeds.

The backbone learned by self-distillation to recognise twelve paper cut-outs wherever they lie: all crops of a scene had
to get one output. The task here is the position of the object, one of nine parts of the picture, to which its class
token was trained to be invariant. Scenes have `SIDE` pixels, so that everything takes minutes on one core.

A seed draws its own training scenes, the batches and what a method adds. The linear probe is our instant baseline,
logistic regression on standardised frozen features, its strength by cross-validation; every method begins with it as
its head, trains for the same number of steps at the same peak rate, and is asked when it ends. The test scenes are the
same for all seeds and took no part in choosing the task, the steps or the rate: those were chosen on others. The
interval is that of the mean difference in accuracy to the probe: a paired bootstrap that draws test scenes and seeds
(Efron & Tibshirani 1993, chapter 8).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

import vitexplorer as vx
from vitexplorer.finetune.attaching import attach
from vitexplorer.finetune.parts.heads import begin_with
from vitexplorer.finetune.results.baseline import Features, LinearHead, fit_baseline
from vitexplorer.finetune.trained_parts import parameter_groups, train_mode
from vitexplorer.finetune.training.steps import rate_at
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.preprocess import normalise
from vitexplorer.models.seeding import seeded
from vitexplorer.scenes import draw_scene

BACKBONE = "scenes_dino_patch16_192"
SIDE, PARTS = 96, 3
"""Pixels of a scene's side, and parts per side, which give PARTS**2 classes"""
TRAINING, TEST = 640, 600
"""Numbers of training and test scenes"""
STEPS, BATCH, WARMUP, RATE = 120, 16, 0.1, 1e-2
DRAWS = 4000


@lru_cache(maxsize=2)
def backbone(device: str) -> LoadedModel:
    """Load the DINO at this size."""
    return vx.load_model(BACKBONE, size=SIDE, device=device)


@lru_cache(maxsize=4)
def scenes(stream: str, start: int, count: int, device: str) -> tuple[Tensor, np.ndarray]:
    """Return normalised images, and the part of the picture with the centre of the object's box, row by row."""
    preprocessing = backbone(device).preprocessing
    images, places = [], []
    for number in range(start, start + count):
        scene = draw_scene(stream, number, SIDE)
        top, left, bottom, right = scene.box
        row, col = (
            min(PARTS - 1, int(PARTS * (low + high) / (2 * SIDE))) for low, high in ((top, bottom), (left, right))
        )
        places.append(PARTS * row + col)
        images.append(normalise(scene.image, preprocessing.mean, preprocessing.std))
    return torch.cat(images).to(device), np.array(places)


@torch.no_grad()
def answers(network: torch.nn.Module, images: Tensor) -> np.ndarray:
    """Return a network's outputs in eval mode, (images, outputs)."""
    network.eval()
    return torch.cat([network(part) for part in images.split(64)]).cpu().numpy()


@lru_cache(maxsize=2)
def probed(seed: int, device: str) -> tuple[LinearHead, np.ndarray]:
    """Return the linear probe of a seed, and a mask of the test scenes it classifies correctly."""
    (images, targets), (test_images, test_targets) = material(seed, device)
    frozen = backbone(device).module
    splits = ((images, targets), (test_images, test_targets))
    features = [Features(answers(frozen, part), labels) for part, labels in splits]
    _, head = fit_baseline("classification", PARTS**2, *features, seed=seed)
    logits = ((features[1].values - head.centre) / head.spread) @ head.weight.T + head.bias
    return head, logits.argmax(-1) == test_targets


def material(seed: int, device: str) -> tuple[tuple[Tensor, np.ndarray], tuple[Tensor, np.ndarray]]:
    """Return the training scenes of a seed, and the test scenes, which are the same for all seeds."""
    return scenes("train", 50_000 + seed * TRAINING, TRAINING, device), scenes("test", 60_000, TEST, device)


def tuned_right(method: str, seed: int, device: str, steps: int = STEPS) -> np.ndarray:
    """Train a method; return a mask of the test scenes it classifies correctly, (scenes,) bool."""
    (images, targets), (test_images, test_targets) = material(seed, device)
    head, _ = probed(seed, device)
    tuned = attach(backbone(device), method, PARTS**2, seed=seed)
    parts = (head.weight, head.bias, head.centre, head.spread)
    with torch.no_grad():
        begin_with(tuned.module, *(torch.as_tensor(part, dtype=torch.float32, device=device) for part in parts))
    groups = parameter_groups(tuned, RATE)
    optimiser, peaks = torch.optim.AdamW(groups), [group["lr"] for group in groups]
    trained = [parameter for group in groups for parameter in group["params"]]
    order, labels = np.random.default_rng(seed), torch.from_numpy(targets).to(device)
    train_mode(tuned)
    with seeded(seed, torch.device(device)):
        for step in range(steps):
            batch = torch.from_numpy(order.choice(len(targets), BATCH, replace=False)).to(device)
            for group, peak in zip(optimiser.param_groups, peaks, strict=True):
                group["lr"] = peak * rate_at(step, steps, WARMUP)
            F.cross_entropy(tuned.module(images[batch]), labels[batch]).backward()
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            optimiser.step()
            optimiser.zero_grad()
    return answers(tuned.module, test_images).argmax(-1) == test_targets


def interval(better: np.ndarray, seed: int = 0) -> tuple[float, float, float]:
    """Return mean and 95 % interval of differences in correctness (seeds, scenes), resampling seeds and scenes."""
    rng, (seeds, count) = np.random.default_rng(seed), better.shape
    drawn = [better[rng.integers(seeds, size=seeds)][:, rng.integers(count, size=count)].mean() for _ in range(DRAWS)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(better.mean()), float(low), float(high)
