"""Labelled windows of scenes, recoloured, and labels for the patch tokens; shared by the supervised recipes.

Token labels (Jiang et al. 2021, arXiv 2104.10858): every patch token also predicts the content of its patch. Training
thus uses the object's mask, so attention on the object is no discovery.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from training.crops import Curriculum, about_object, cut_with_mask, tinted
from training.pool import Scenes
from vitexplorer.scenes.shapes import LABEL_NAMES

TOKEN_CLASSES = len(LABEL_NAMES) + 1
"""Number of labels of a patch: the classes and, last, no object"""


class Labelled(NamedTuple):
    """A batch of windows."""

    images: Tensor
    """(batch, 3, size, size) float 0-1"""
    labels: Tensor
    """(batch,) int64"""
    cover: Tensor
    """(batch, cells) float 0-1: the share of each cell that the object covers, row by row"""

    @property
    def shares(self) -> Tensor:
        """Share of each cell that shows each class, the last one nothing; (batch, cells, TOKEN_CLASSES) float."""
        shares = F.one_hot(self.labels, TOKEN_CLASSES)[:, None] * self.cover[..., None]
        shares[..., -1] = 1 - self.cover
        return shares


def labelled_windows(
    scenes: Scenes, curriculum: Curriculum, rng: np.random.Generator, step: int, cell: int, device: torch.device
) -> Labelled:
    """Cut a window from each scene by the curriculum; shuffle its channels and brighten or darken each.

    `cell` is the side, in pixels, of the area that one token of the last block covers.
    """
    size = curriculum.size(step)
    grid = size // cell
    images, covers = [], []
    for image, mask in zip(scenes.images, scenes.masks, strict=True):
        window = about_object(mask, rng, curriculum.zoom(step))
        view, seen = cut_with_mask(image, mask, window, size, curriculum.paint(step, rng))
        images.append(view[..., rng.permutation(3)])
        covers.append(seen.reshape(grid, cell, grid, cell).mean((1, 3)) / 255)
    cover = torch.from_numpy(np.stack(covers)).flatten(1).float()
    return Labelled(tinted(images, rng).to(device), torch.tensor(scenes.labels, device=device), cover.to(device))


def token_loss(logits: Tensor, shares: Tensor) -> Tensor:
    """Compute the cross entropy of the tokens' logits, (batch, cells, kinds), against the shares of their cells."""
    return F.cross_entropy(logits.float().flatten(0, 1), shares.flatten(0, 1))
