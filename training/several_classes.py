"""Loss, measurement and card text that the recipes for several classes share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from training.composed import Composed
from training.measure import batches
from training.recipe import Figures
from training.shipped import load
from vitexplorer.scenes.several import draw_several

SEVERAL_SCENES = 500


def labels_loss(logits: Tensor, batch: Composed) -> Tensor:
    """Sum the binary cross entropies over the classes that count, and average over the pictures."""
    each = F.binary_cross_entropy_with_logits(logits.float(), batch.present, batch.asked, reduction="none")
    return each.sum(1).mean()


def several_figures(folder: Path) -> Figures:
    """Measure the share of classes found in scenes of several objects."""
    return {"classes found among several": found_among_several(load(folder))}


@torch.inference_mode()
def found_among_several(model: nn.Module) -> float:
    """Average over scenes of several objects the share of their classes among as many highest logits."""
    scenes = [draw_several("test", index) for index in range(SEVERAL_SCENES)]
    images = np.stack([scene.image for scene in scenes])
    logits = torch.cat([model(batch).cpu() for batch in batches(model, images)])
    highest = [set(row.topk(len(scene.labels)).indices.tolist()) for row, scene in zip(logits, scenes, strict=True)]
    shares = [len(guess & set(scene.labels)) / len(guess) for guess, scene in zip(highest, scenes, strict=True)]
    return float(np.mean(shares))


DATA = """A step took 64 scenes, a quarter of them of two to four
objects of different classes: 40 were cut out about their objects and put together to ten 2 x 2 grids, the rest was
shown whole. The answer is several labels: a sigmoid for each class, binary cross entropy, so that a picture of a fish
says nothing against a mug beside it."""
"""Text on the data, for the cards"""
