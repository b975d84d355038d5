"""What the cards state, measured on held-out scenes: accuracy, nearest neighbours, attention against the object.

The object's mask is known, so that "attention looks at the object" is a number: the overlap (intersection over union)
of the mask with the patches that hold 60 % of the class token's attention in the last block (the figure of DINO,
Caron et al. 2021, arXiv 2104.14294, section 4.2.2), for the head that overlaps most.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from vitexplorer.models.bundled.pool import Scenes, draw_scenes
from vitexplorer.models.bundled.recipe import Figures, Recipe

KEEP_MASS = 0.6
NEIGHBOURS = 20
TEST_SCENES = 1000
KNOWN_SCENES = 2000
"""training scenes whose labels the nearest neighbours may read"""
ATTENTION_SCENES = 300
TWIN_SEEDS = range(3)


def batches(model: nn.Module, images: np.ndarray, batch_size: int = 64) -> Iterator[Tensor]:
    """(scenes, height, width, 3) uint8 -> batches as the model wants them, by its own mean and std."""
    parameter = next(model.parameters())
    config = model.pretrained_cfg
    mean, std = (torch.tensor(config[key]).view(3, 1, 1).to(parameter) for key in ("mean", "std"))
    for start in range(0, len(images), batch_size):
        part = torch.tensor(images[start : start + batch_size]).to(parameter)
        yield (part.permute(0, 3, 1, 2) / 255 - mean) / std


@torch.inference_mode()
def accuracy(model: nn.Module, scenes: Scenes) -> float:
    """Share of scenes whose class has the largest logit."""
    predicted = torch.cat([model(batch).argmax(1).cpu() for batch in batches(model, scenes.images)])
    return float((predicted.numpy() == scenes.labels).mean())


@torch.inference_mode()
def class_tokens(model: nn.Module, images: np.ndarray) -> Tensor:
    """(scenes, dim) class tokens after the final norm, of unit length."""
    tokens = torch.cat([model.forward_features(batch)[:, 0].float().cpu() for batch in batches(model, images)])
    return F.normalize(tokens, dim=1)


def neighbour_accuracy(model: nn.Module, known: Scenes, asked: Scenes) -> float:
    """Share of scenes whose class wins among the 20 nearest known class tokens, weighted by exp(cosine / 0.07).

    The protocol of Wu et al. 2018 (arXiv 1805.01978), as DINO uses it.
    """
    similarity, nearest = (class_tokens(model, asked.images) @ class_tokens(model, known.images).T).topk(NEIGHBOURS)
    labels = torch.as_tensor(np.array(known.labels))
    votes = F.one_hot(labels[nearest], int(labels.max()) + 1) * (similarity / 0.07).exp()[..., None]
    return float((votes.sum(1).argmax(1).numpy() == asked.labels).mean())


@torch.inference_mode()
def class_attention(model: nn.Module, images: np.ndarray) -> np.ndarray:
    """(scenes, heads, patches): what the class token of the last block gives to each patch."""
    attention = model.blocks[-1].attn
    rows = []

    def keep(_module: nn.Module, _inputs: tuple, qkv: Tensor) -> None:
        q, k, _ = qkv.unflatten(-1, (3, attention.num_heads, -1)).permute(2, 0, 3, 1, 4)
        rows.append((q[:, :, :1] @ k.transpose(-1, -2) * attention.scale).softmax(-1)[:, :, 0].float().cpu())

    handle = attention.qkv.register_forward_hook(keep)
    try:
        for batch in batches(model, images):
            model.forward_features(batch)
    finally:
        handle.remove()
    return torch.cat(rows).numpy()[..., model.num_prefix_tokens :]


def mass_mask(rows: np.ndarray, keep_mass: float = KEEP_MASS) -> np.ndarray:
    """(..., patches) weights -> bool: the patches that together hold `keep_mass`.

    Rows are divided by their sum, sorted ascending, and kept where the running sum exceeds 1 - keep_mass.
    """
    rows = rows / rows.sum(-1, keepdims=True)
    order = rows.argsort(-1)
    held = np.take_along_axis(rows, order, -1).cumsum(-1) > 1 - keep_mass
    mask = np.zeros(rows.shape, bool)
    np.put_along_axis(mask, order, held, -1)
    return mask


def attention_overlap(model: nn.Module, scenes: Scenes) -> float:
    """Mean over the scenes of the best head's intersection over union with the object's mask, in pixels."""
    rows, cols = model.patch_embed.grid_size
    height, width = model.patch_embed.patch_size
    kept = mass_mask(class_attention(model, scenes.images)).reshape(len(scenes), -1, rows, cols)
    kept = kept.repeat(height, axis=2).repeat(width, axis=3)
    masks = np.asarray(scenes.masks)[:, None]
    overlap = (kept & masks).sum((2, 3)) / (kept | masks).sum((2, 3))
    return float(overlap.max(1).mean())


def attention_figures(recipe: Recipe, model: nn.Module) -> Figures:
    """Overlap of the trained model, mean overlap of untrained twins under the same protocol, and their ratio."""
    scenes = draw_scenes("test", ATTENTION_SCENES)
    trained = attention_overlap(model, scenes)
    untrained = float(np.mean([attention_overlap(recipe.untrained(seed), scenes) for seed in TWIN_SEEDS]))
    return {
        "attention overlap": trained,
        "attention overlap, untrained": untrained,
        "attention overlap, trained / untrained": trained / untrained,
    }
