"""Does a method beat the linear probe on classes that the backbone does not know? Drawn scenes, a DINO, several seeds.

The backbone learned by self-distillation what twelve paper cut-outs are, wherever they lie: crops of one scene had to
be called the same. Asked here is where the object lies, in which ninth of the picture, which its class token was
trained to forget. Scenes come at `SIDE` pixels, so that all of it is minutes on one core.

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
from vitexplorer.finetune.training.schedule import rate_at
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.preprocess import normalise
from vitexplorer.models.seeding import seeded
from vitexplorer.scenes import draw_scene

BACKBONE = "scenes_dino_patch16_192"
SIDE, PARTS = 96, 3
"""pixels of a scene's side, and parts that a side is cut in: PARTS**2 classes"""
TRAINING, TEST = 640, 600
"""scenes"""
STEPS, BATCH, WARMUP, RATE = 120, 16, 0.1, 1e-2
DRAWS = 4000


@lru_cache(maxsize=2)
def backbone(device: str) -> LoadedModel:
    """The DINO at this size."""
    return vx.load_model(BACKBONE, size=SIDE, device=device)


@lru_cache(maxsize=4)
def scenes(stream: str, start: int, count: int, device: str) -> tuple[Tensor, np.ndarray]:
    """Normalised images, and in which part of the picture the middle of the object's box lies, row by row."""
    wanted, images, places = backbone(device).preprocessing, [], []
    for number in range(start, start + count):
        scene = draw_scene(stream, number, SIDE)
        top, left, bottom, right = scene.box
        row, col = (
            min(PARTS - 1, int(PARTS * (low + high) / (2 * SIDE))) for low, high in ((top, bottom), (left, right))
        )
        places.append(PARTS * row + col)
        images.append(normalise(scene.image, wanted.mean, wanted.std))
    return torch.cat(images).to(device), np.array(places)


@torch.no_grad()
def answers(network: torch.nn.Module, images: Tensor) -> np.ndarray:
    """What a network says of images, (images, outputs), in eval mode."""
    network.eval()
    return torch.cat([network(part) for part in images.split(64)]).cpu().numpy()


@lru_cache(maxsize=2)
def probed(seed: int, device: str) -> tuple[LinearHead, np.ndarray]:
    """The linear probe of a seed, and which test scenes it gets right."""
    (images, targets), (unseen, wanted) = material(seed, device)
    frozen = backbone(device).module
    features = [Features(answers(frozen, part), labels) for part, labels in ((images, targets), (unseen, wanted))]
    _, head = fit_baseline("classification", PARTS**2, *features, seed=seed)
    said = ((features[1].values - head.centre) / head.spread) @ head.weight.T + head.bias
    return head, said.argmax(-1) == wanted


def material(seed: int, device: str) -> tuple[tuple[Tensor, np.ndarray], tuple[Tensor, np.ndarray]]:
    """Training scenes of a seed, and the test scenes of all."""
    return scenes("train", 50_000 + seed * TRAINING, TRAINING, device), scenes("test", 60_000, TEST, device)


def tuned_right(method: str, seed: int, device: str, steps: int = STEPS) -> np.ndarray:
    """Which test scenes a method gets right after its training, (scenes,) bool."""
    (images, targets), (unseen, wanted) = material(seed, device)
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
    return answers(tuned.module, unseen).argmax(-1) == wanted


def interval(better: np.ndarray, seed: int = 0) -> tuple[float, float, float]:
    """Mean and 95 % interval of differences (seeds, scenes) in being right: seeds and scenes drawn with replacement."""
    rng, (seeds, count) = np.random.default_rng(seed), better.shape
    drawn = [better[rng.integers(seeds, size=seeds)][:, rng.integers(count, size=count)].mean() for _ in range(DRAWS)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(better.mean()), float(low), float(high)
