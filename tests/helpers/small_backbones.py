"""Small backbones for fine-tuning: those of `small_models`, and convolutional networks."""

from __future__ import annotations

from functools import cache

import timm
import torch

from tests.helpers.meta_models import outline_of
from tests.helpers.small_models import as_loaded, load_small, roughen
from vitexplorer.models.convolutional import family_of_backbone
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.seeding import seeded

CONVOLUTIONAL = {"resnet": "test_resnet", "efficientnet": "test_efficientnet"}
TRANSFORMERS = (
    "vit",
    "deit_distilled",
    "dinov2_registers",
    "clip",
    "siglip",
    "hybrid",
    "norm_last",
    "parallel",
    "rms",
    "beit",
    "eva02",
    "eva02_norm_inside",
    "dinov3",
    "perception_encoder",
    "swin",
    "swin_padded",
    "swinv2",
    "swinv2_padded",
)


@cache
def load_backbone(key: str) -> LoadedModel:
    """Return a small backbone; it is cached, so callers must not change it."""
    if key not in CONVOLUTIONAL:
        return load_small(key)
    with seeded(0):
        module = timm.create_model(CONVOLUTIONAL[key], num_classes=7).eval()
        roughen(module)
    return as_loaded(key, module, family_of_backbone(module, key), (64, 64))


def pixels(model: LoadedModel, count: int = 3, seed: int = 0) -> torch.Tensor:
    """Draw normalised images, (count, 3, height, width)."""
    return torch.randn(count, 3, *model.preprocessing.input_size, generator=torch.Generator().manual_seed(seed))


def on_meta(architecture: str, **options: object) -> LoadedModel:
    """Make a whole architecture without parameter values, for counting."""
    module = outline_of(architecture, **options)
    size = getattr(getattr(module, "patch_embed", None), "img_size", (224, 224))
    return as_loaded(architecture, module, family_of_backbone(module, architecture), tuple(size))
