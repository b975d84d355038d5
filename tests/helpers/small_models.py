"""A small random model for every family and every geometry that a capture has to get right.

timm's own architectures, made narrow, shallow and of low resolution, with parameters drawn so that attention is far
from uniform and nothing is zero: timm's initialisation would hide a missing bias or a swapped head.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import timm
import torch
from torch import nn

from vitexplorer.capturing.capture import Capture, capture
from vitexplorer.core.types import Fit, Provenance
from vitexplorer.models.families import family_of
from vitexplorer.models.family import ModelFamily
from vitexplorer.models.loading import LoadedModel, Preprocessing
from vitexplorer.models.seeding import seeded
from vitexplorer.tracing.attention_call import view_layout
from vitexplorer.tracing.tap import AttentionTap

THIN = {"embed_dim": 48, "num_heads": 3, "depth": 3, "num_classes": 7}


@dataclass(frozen=True)
class Recipe:
    """A timm architecture and the arguments that make it small."""

    architecture: str
    prefix_tokens: tuple[str, ...]
    """Prefix tokens, by hand from the papers"""
    options: dict[str, Any] = field(default_factory=dict)
    native_size: tuple[int, int] | None = None
    """Input size, not square, for fit="native"; None if the model's size is fixed"""


def _vit(architecture: str, *prefix_tokens: str, img_size: int = 64, native: bool = True, **options: Any) -> Recipe:
    options = {**THIN, "img_size": img_size, **({"dynamic_img_size": True} if native else {}), **options}
    return Recipe(architecture, prefix_tokens, options, (img_size, img_size * 3 // 2) if native else None)


def _swin(architecture: str, native_size: tuple[int, int], **options: Any) -> Recipe:
    options = {"embed_dim": 24, "num_heads": (2, 3, 4), "num_classes": 7, "dynamic_img_size": True, **options}
    return Recipe(architecture, (), options, native_size)


REGISTERS = ("reg1", "reg2", "reg3", "reg4")

RECIPES: dict[str, Recipe] = {
    "vit": _vit("vit_tiny_patch16_224", "cls"),
    "vit_not_square": _vit("vit_tiny_patch16_224", "cls", img_size=(48, 80), native=False),
    "encoder": _vit("vit_base_patch16_224", "cls", num_classes=0, global_pool="token"),
    "deit_distilled": _vit("deit_tiny_distilled_patch16_224", "cls", "dist"),
    "deit3": _vit("deit3_small_patch16_224", "cls"),
    "dinov2_registers": _vit("vit_small_patch14_reg4_dinov2", "cls", *REGISTERS, img_size=56),
    "registers_only": _vit("vit_wee_patch16_reg1_gap_256", "reg1"),
    "clip": _vit("vit_base_patch16_clip_224", "cls"),
    "siglip": _vit("vit_base_patch16_siglip_224"),
    "uneven": _vit("vit_so400m_patch14_siglip_384", img_size=60, native=False),
    "hybrid": _vit("vit_tiny_r_s16_p8_224", "cls"),
    "hybrid_deep": _vit("vit_small_r26_s32_224", "cls", img_size=96),
    "norm_last": _vit("vit_small_patch16_36x1_224", "cls", block_fn=timm.models.vision_transformer.ResPostBlock),
    "parallel": _vit("vit_pwee_patch16_reg1_gap_256", "reg1"),
    "parallel_rms": _vit("vit_base_patch16_xp_224", "cls"),
    "rms": _vit("aimv2_large_patch14_224", img_size=56),
    "norm_inside": _vit("beit3_base_patch16_224", "cls"),
    "beit": _vit("beit_base_patch16_224", "cls", native=False),
    "beitv2": _vit("beitv2_base_patch16_224", "cls", native=False),
    "eva": _vit("eva_giant_patch14_224", "cls", img_size=56),
    "eva02": _vit("eva02_tiny_patch14_224", "cls", img_size=56),
    "eva02_norm_inside": _vit("eva02_base_patch14_224", "cls", img_size=56),
    "dinov3": _vit("vit_small_patch16_dinov3", "cls", *REGISTERS),
    "perception_encoder": _vit("vit_pe_core_tiny_patch16_384", "cls"),
    "rope_mixed": _vit("vit_small_patch16_rope_mixed_224", "cls"),
    # grids 16, 8, 4 in windows of 4, the last stage one window; native 20 x 28, 10 x 14, 5 x 7: padded in every stage
    "swin": _swin("swin_tiny_patch4_window7_224", (80, 112), img_size=64, window_size=4, depths=(2, 2, 2)),
    # grids 10, 5, 3 in windows of 4: padded, and the merging pads as well
    "swin_padded": _swin("swin_tiny_patch4_window7_224", (48, 80), img_size=40, window_size=4, depths=(2, 2, 2)),
    "swin_s3": _swin("swin_s3_tiny_224", (32, 64), img_size=64, window_size=(4, 8, 2), depths=(2, 2, 2)),
    "swinv2": _swin("swinv2_tiny_window8_256", (96, 64), img_size=64, window_size=8, depths=(2, 2, 2)),
    "swinv2_padded": _swin("swinv2_tiny_window16_256", (48, 80), img_size=40, window_size=4, depths=(2, 2, 2)),
}


CAPTURES = [(key, "squash") for key in RECIPES] + [(key, "native") for key in RECIPES if RECIPES[key].native_size]
"""Each small model at its input size and, unless its size is fixed, at one that is not square"""


@cache
def load_small(key: str) -> LoadedModel:
    """Return the small model of a recipe; it is cached, so callers must not change it."""
    recipe = RECIPES[key]
    with seeded(0):
        module = timm.create_model(recipe.architecture, **recipe.options).eval()
        roughen(module)
    return as_loaded(key, module, family_of(module, key), tuple(module.patch_embed.img_size))


def as_loaded(name: str, module: nn.Module, family: ModelFamily, size: tuple[int, int]) -> LoadedModel:
    """Describe a module with random parameters that takes images of a size."""
    return LoadedModel(
        name=name,
        module=module,
        family=family,
        provenance=Provenance(name, "random", "seed 0"),
        preprocessing=Preprocessing(size, (0.5, 0.4, 0.3), (0.2, 0.25, 0.3), "bicubic", 1.0, "center"),
    )


@cache
def capture_small(key: str, fit: Fit = "squash") -> Capture:
    """Capture `picture` with the small model of a recipe; for "native" at the recipe's other size."""
    model = load_small(key)
    size = RECIPES[key].native_size if fit == "native" else model.preprocessing.input_size
    return capture(model, picture(*size), fit=fit)


@torch.no_grad()
def roughen(module: nn.Module) -> None:
    """Add noise to every parameter: matrices at about 1 / sqrt(fan in), tokens, biases and gains at 0.3."""
    for parameter in module.parameters():
        is_matrix = parameter.ndim > 1 and len(parameter) > 1
        parameter += torch.randn_like(parameter) * (1.2 * parameter[0].numel() ** -0.5 if is_matrix else 0.3)


def picture(height: int, width: int, seed: int = 0) -> np.ndarray:
    """Draw uint8 RGB noise on a gradient, (height, width, 3); all patches differ."""
    rng = np.random.default_rng(seed)
    slope = np.linspace(0, 120, height)[:, None, None] + np.linspace(0, 60, width)[None, :, None]
    return (slope + rng.integers(0, 75, (height, width, 3))).astype(np.uint8)


@torch.no_grad()
def attention_outputs(captured: Capture) -> list[torch.Tensor]:
    """Record the attention outputs that each block's module uses, (windows, heads, queries, head dim)."""
    with AttentionTap(captured.model.block_of_parameter, keep_outputs=True, sites=captured.sites) as tap:
        captured.run(captured.input.tensor)
    return [view_layout(tap.calls[block], site)[0].output for block, site in enumerate(captured.sites)]
