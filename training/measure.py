"""Figures of the model cards, measured on held-out scenes: accuracy, neighbours, attention overlap, reconstruction.

The object's mask is known, so attention on the object can be measured: the overlap (intersection over union) of the
mask with the patches that hold 60 % of the class token's attention in the last block (as in DINO, Caron et al. 2021,
arXiv 2104.14294, section 4.2.2), for the head with the largest overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from einops import rearrange
from torch import Tensor, nn
from torch.nn import functional as F

from training.pool import Scenes, draw_scenes
from training.recipe import Figures, Recipe
from training.shipped import load, load_decoder
from vitexplorer.evaluation.overlap import mass_mask
from vitexplorer.models.mae import MaeDecoder, choose_visible, encode_visible, to_patches

NEIGHBOURS = 20
TEST_SCENES = 1000
KNOWN_SCENES = 2000
"""Training scenes that are searched for nearest neighbours"""
ATTENTION_SCENES = 300
TWIN_SEEDS = range(3)
RECONSTRUCTED_SCENES = 500
HIDDEN_SHARE = 0.75
"""Share of hidden patches when an autoencoder is measured"""


def batches(model: nn.Module, images: np.ndarray, batch_size: int = 64) -> Iterator[Tensor]:
    """Yield batches of (scenes, height, width, 3) uint8 at the model's own size, mean and std."""
    parameter = next(model.parameters())
    config = model.pretrained_cfg
    size = tuple(config["input_size"][1:])
    mean, std = (torch.tensor(config[key]).view(3, 1, 1).to(parameter) for key in ("mean", "std"))
    for start in range(0, len(images), batch_size):
        part = torch.tensor(images[start : start + batch_size]).to(parameter)
        yield (F.interpolate(part.permute(0, 3, 1, 2), size, mode="area") / 255 - mean) / std


@torch.inference_mode()
def accuracy(model: nn.Module, scenes: Scenes) -> float:
    """Compute the share of scenes whose class has the largest logit."""
    predicted = torch.cat([model(batch).argmax(1).cpu() for batch in batches(model, scenes.images)])
    return float((predicted.numpy() == scenes.labels).mean())


@torch.inference_mode()
def class_tokens(model: nn.Module, images: np.ndarray) -> Tensor:
    """Compute class tokens after the final norm, of unit length, (scenes, dim)."""
    tokens = torch.cat([model.forward_features(batch)[:, 0].float().cpu() for batch in batches(model, images)])
    return F.normalize(tokens, dim=1)


def neighbour_accuracy(model: nn.Module, known: Scenes, asked: Scenes) -> float:
    """Compute the share of scenes whose class wins among the 20 nearest class tokens, weighted by exp(cosine / 0.07).

    The protocol of Wu et al. 2018 (arXiv 1805.01978), as DINO uses it.
    """
    similarity, nearest = (class_tokens(model, asked.images) @ class_tokens(model, known.images).T).topk(NEIGHBOURS)
    labels = torch.as_tensor(np.array(known.labels))
    votes = F.one_hot(labels[nearest], int(labels.max()) + 1) * (similarity / 0.07).exp()[..., None]
    return float((votes.sum(1).argmax(1).numpy() == asked.labels).mean())


@contextmanager
def last_attention(model: nn.Module) -> Iterator[list[Tensor]]:
    """Collect the class token's attention to each patch in the last block, (batch, heads, patches) for each call."""
    attention = model.blocks[-1].attn
    rows = []

    def keep(_module: nn.Module, _inputs: tuple, qkv: Tensor) -> None:
        q, k, _ = qkv.float().unflatten(-1, (3, attention.num_heads, -1)).permute(2, 0, 3, 1, 4)
        row = (q[:, :, :1] @ k.transpose(-1, -2) * attention.scale).softmax(-1)[:, :, 0]
        rows.append(row[..., model.num_prefix_tokens :])

    with attention.qkv.register_forward_hook(keep):
        yield rows


@torch.inference_mode()
def class_attention(model: nn.Module, images: np.ndarray) -> np.ndarray:
    """Compute the attention of the last block's class token to each patch, (scenes, heads, patches)."""
    with last_attention(model) as rows:
        for batch in batches(model, images):
            model.forward_features(batch)
    return torch.cat(rows).cpu().numpy()


def attention_overlap(model: nn.Module, scenes: Scenes) -> float:
    """Average over the scenes the best head's intersection over union with the object's mask, in pixels."""
    return _overlap(class_attention(model, scenes.images), scenes, model.patch_embed.grid_size)


def share_overlap(scenes: Scenes, grid: tuple[int, int]) -> float:
    """Compute the overlap of an ideal head, whose weight on a patch is the share that the object covers."""
    shares = rearrange(scenes.masks, "n (rows h) (cols w) -> n 1 (rows cols) (h w)", rows=grid[0], cols=grid[1])
    return _overlap(shares.mean(-1), scenes, grid)


def _overlap(weights: np.ndarray, scenes: Scenes, grid: tuple[int, int]) -> float:
    """Average the best head's overlap over the scenes, from weights (scenes, heads, patches)."""
    mass = rearrange(mass_mask(weights), "n heads (rows cols) -> n heads rows cols", rows=grid[0], cols=grid[1])
    mass = mass.repeat(scenes.masks.shape[1] // grid[0], axis=2).repeat(scenes.masks.shape[2] // grid[1], axis=3)
    masks = scenes.masks[:, None]
    overlap = (mass & masks).sum((2, 3)) / (mass | masks).sum((2, 3))
    return float(overlap.max(1).mean())


def classifier_figures(recipe: Recipe, folder: Path) -> Figures:
    """Measure accuracy and the class token's attention on held-out scenes."""
    return accuracy_figures(recipe, folder) | attention_figures(recipe, folder)


def accuracy_figures(recipe: Recipe, folder: Path) -> Figures:
    """Measure accuracy on held-out scenes."""
    return {"accuracy": accuracy(load(folder), draw_scenes("test", TEST_SCENES))}


def neighbour_figures(recipe: Recipe, folder: Path) -> Figures:
    """Measure nearest-neighbour accuracy with the tokens of the trained model and of an untrained twin."""
    known, test = draw_scenes("train", KNOWN_SCENES), draw_scenes("test", TEST_SCENES)
    return {
        "20-nearest-neighbour accuracy": neighbour_accuracy(load(folder), known, test),
        "20-nearest-neighbour accuracy, untrained": neighbour_accuracy(recipe.untrained(0), known, test),
    }


def attention_figures(recipe: Recipe, folder: Path) -> Figures:
    """Measure the overlap of the trained model, of untrained twins (mean) and of an ideal head, and the first ratio."""
    scenes = draw_scenes("test", ATTENTION_SCENES)
    model = load(folder)
    trained = attention_overlap(model, scenes)
    untrained = float(np.mean([attention_overlap(recipe.untrained(seed), scenes) for seed in TWIN_SEEDS]))
    return {
        "attention overlap": trained,
        "attention overlap, untrained": untrained,
        "attention overlap, trained / untrained": trained / untrained,
        "attention overlap, by the object's share of each patch": share_overlap(scenes, model.patch_embed.grid_size),
    }


@torch.inference_mode()
def reconstruction_errors(encoder: nn.Module, decoder: MaeDecoder, images: np.ndarray) -> tuple[float, float]:
    """Measure the mean squared error of hidden patches, pixels in 0-1: reconstructed, and as the visible ones' mean.

    Three quarters of the patches are hidden, different ones in each image.
    """
    std = encoder.pretrained_cfg["std"][0]
    generator = torch.Generator().manual_seed(0)
    drawn, filled = [], []
    for batch in batches(encoder, images):
        patches = to_patches(batch, encoder.patch_embed.patch_size[0])
        visible = choose_visible(patches.shape[1], HIDDEN_SHARE, generator, len(batch)).to(batch.device)
        answer = decoder(encode_visible(encoder, batch, visible), visible)
        hidden = torch.ones(patches.shape[:2], dtype=torch.bool, device=batch.device).scatter(1, visible, False)
        seen = patches.gather(1, visible[..., None].expand(-1, -1, patches.shape[-1]))
        colour = seen.unflatten(-1, (-1, 3)).mean((1, 2))  # (batch, 3)
        mean = colour.repeat(1, patches.shape[-1] // 3)[:, None]
        drawn.append((answer - patches).square().mean(-1)[hidden])
        filled.append((mean - patches).square().mean(-1)[hidden])
    return tuple(float(torch.cat(errors).mean()) * std**2 for errors in (drawn, filled))


def reconstruction_figures(recipe: Recipe, folder: Path) -> Figures:
    """Measure the errors of an autoencoder and of the simplest guess on held-out scenes, and their ratio."""
    encoder = load(folder)
    error, guess = reconstruction_errors(
        encoder, load_decoder(folder, encoder), draw_scenes("test", RECONSTRUCTED_SCENES).images
    )
    return {
        "reconstruction error": error,
        "reconstruction error, mean of the visible patches": guess,
        "reconstruction error, ratio": error / guess,
    }


def _looks(figures: Figures) -> str:
    """Explain the ratio of the overlaps: an untrained network attends evenly, which already overlaps a good deal."""
    if figures["attention overlap, trained / untrained"] < 1:
        return """In that block the class token
looks past the object: less of its attention is there than if it looked everywhere alike, as untrained networks do."""
    return "Untrained networks look\neverywhere alike."


def explanations(figures: Figures) -> str:
    """Explain the figures of a card, a paragraph each."""
    texts = []
    if "20-nearest-neighbour accuracy" in figures:
        texts.append(f"""20 nearest neighbours: each of {TEST_SCENES} scenes is given the class that wins among the
{NEIGHBOURS} nearest class tokens of {KNOWN_SCENES} training scenes; untrained: the same with random weights.""")
    if "attention overlap" in figures:
        texts.append(f"""Attention overlap: intersection over union of the object's mask with the patches that hold
60 % of the class token's attention in the last block, best head, mean over {ATTENTION_SCENES} scenes; untrained: the
same architecture with random weights, mean of {len(TWIN_SEEDS)} seeds. {_looks(figures)}
By the object's share: what a head would reach that weighs each patch by how much of it the object covers; it is below 1
because 60 % of the weight lies on part of the object, and patches are coarse.""")
    if "classes found among several" in figures:
        texts.append("""Classes found among several: of the classes of a scene of two to four objects, the share that is
among as many highest logits, mean over 500 scenes of the stream "test".""")
    if "reconstruction error" in figures:
        texts.append(f"""Reconstruction error: mean squared error of hidden patches, pixels in 0-1, {HIDDEN_SHARE:.0%}
hidden, {RECONSTRUCTED_SCENES} scenes; beside it that of filling them with the mean colour of the visible patches.""")
    if "shape named" in figures:
        texts.append("""Named: of 500 scenes of one thing the share for which the text with the largest cosine, of 12
shapes, 11 colours, or 132 of both, is the true one. The next three take scenes of two things and ask which of two
sentences fits better, the true one or one with the colours exchanged, the relation turned round, or a thing of the
picture called absent; 0.5 by chance. Counted: the right one of one to four things; 0.25 by chance. All are means of
English and Chinese.""")
    if "shape in the caption" in figures:
        texts.append("""In the caption: of 500 scenes of one thing the share whose caption has the shape, or the colour;
of as many scenes of two, of three and of four things the share of things that it has with both. Colours put to the
right shapes: of the shapes that it has, those with their own colour. Relation: of scenes of two things whose caption
has both, those that it puts in the right order and relation. Counted: scenes of one to four things whose caption has as
many. All are means of English and Chinese.""")
    return "\n\n".join(texts)
