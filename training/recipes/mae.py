"""Masked autoencoder: three quarters of the patches are hidden and reconstructed (He et al. 2021, arXiv 2111.06377).

The encoder sees only the visible patches; a lighter decoder predicts all patches, and the loss counts the hidden ones.
Positions are fixed sines and cosines in both. The targets are the pixels themselves, not those of each patch brought
to mean 0 and deviation 1 ("norm-pix"): that would teach the encoder more, but its drawings need the hidden patches'
own mean and deviation to be shown. Neither labels nor masks are read.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import timm
import torch
from torch import Tensor, nn

from training.crops import cut, random_window, tinted
from training.loop import Learner, Schedule
from training.measure import HIDDEN_SHARE, attention_figures, reconstruction_figures
from training.pool import SIZE, Scenes
from training.recipe import MEAN, STD, Figures, Recipe
from training.shipped import DECODER
from vitexplorer.models.mae import MaeDecoder, choose_visible, encode_visible, sine_positions, to_patches

STEPS = 1200
ARCHITECTURE = "vit_tiny_patch16_224"
MODEL_ARGS = {"img_size": SIZE, "depth": 6, "num_heads": 3, "num_classes": 0}
DECODER_DIM, DECODER_DEPTH = 128, 2


class Mae(Learner):
    """Encoder and decoder."""

    def __init__(self):
        super().__init__()
        self.encoder = timm.create_model(ARCHITECTURE, **MODEL_ARGS)
        embed = self.encoder.patch_embed
        dim = self.encoder.embed_dim
        with torch.no_grad():
            self.encoder.pos_embed.copy_(torch.cat([torch.zeros(1, dim), sine_positions(*embed.grid_size, dim)]))
        self.encoder.pos_embed.requires_grad_(False)
        self.drawer = MaeDecoder(dim, DECODER_DIM, DECODER_DEPTH, embed.grid_size, embed.patch_size[0])

    def forward(self, scenes: Scenes, rng: np.random.Generator, step: int) -> Tensor:
        """Compute the mean squared error of the hidden patches, in standard deviations of the data."""
        images = windows(scenes, rng).to(self.encoder.pos_embed.device)
        images = (images - MEAN) / STD
        patches = to_patches(images, self.encoder.patch_embed.patch_size[0])
        generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
        visible = choose_visible(patches.shape[1], HIDDEN_SHARE, generator, len(images)).to(images.device)
        drawn = self.drawer(encode_visible(self.encoder, images, visible), visible)
        errors = (drawn.float() - patches).square().mean(-1)
        return errors.scatter(1, visible, 0).sum() / (errors.numel() - visible.numel())

    def shipped(self) -> nn.Module:
        """Return the encoder."""
        return self.encoder

    def beside(self) -> dict[str, nn.Module]:
        """Return the decoder."""
        return {DECODER: self.drawer}


def windows(scenes: Scenes, rng: np.random.Generator) -> Tensor:
    """Cut upright windows of 60 to 100 % of the side, channels in any order; (batch, 3, size, size) float 0-1."""
    images = []
    for image in scenes.images:
        side = SIZE * rng.uniform(0.6, 1)
        window = random_window(rng.uniform(side / 2, SIZE - side / 2, 2), side, rng, turn=0.0)
        images.append(cut(image, window, SIZE)[..., rng.permutation(3)])
    return tinted(images, rng)


def measure(recipe: Recipe, folder: Path) -> Figures:
    """Measure the reconstruction of hidden patches and the attention of the class token."""
    return reconstruction_figures(recipe, folder) | attention_figures(recipe, folder)


RECIPE = Recipe(
    name="scenes_mae_patch16_192",
    architecture=ARCHITECTURE,
    model_args=MODEL_ARGS,
    learner=Mae,
    schedule=Schedule(steps=STEPS, learning_rate=3e-3, warmup=100, cosine=STEPS, cooldown=200),
    num_scenes=24576,
    measure=measure,
    story="""A masked autoencoder ([arXiv 2111.06377](https://arxiv.org/abs/2111.06377)): 108 of 144 patches are hidden,
the encoder (6 blocks, 3 heads, 192 wide) sees the other 36, and a decoder of 2 blocks, 128 wide, draws all of them. The
loss is the squared error of the hidden patches' own pixels (no norm-pix), positions are fixed sines and cosines.
Windows of 60 to 100 % of the scene, mirrored, channels in any order, lighter or darker; neither labels nor masks were
read. The matrices of the blocks were trained by Muon, the rest by AdamW. The run was planned for 1600 steps; after 1000
its end was set to 1200. The decoder lies beside the encoder in `decoder.safetensors`, named as in the published
`mae_visualize_vit_*` checkpoints.""",
    limits="""It can show what a masked autoencoder makes of the patches that it does not see: what follows from the
neighbours (the ground, the run of an edge) is drawn, what does not (texture, things wholly hidden) is smooth, because
the mean of all that is possible has the least squared error. Its class token took part in training, but no loss was put
on it. It knows drawn scenes and nothing else.""",
)
