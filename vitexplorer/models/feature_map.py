"""Convolutional feature map for comparison with a transformer, up to the stage that is as coarse as its patches.

The network is the bundled ResNet. Its convolutions pad circularly instead of with zeros, as shifted images wrap around.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vitexplorer.core.types import Provenance
from vitexplorer.models.loading import load_backbone

BUNDLED = "scenes_resnet_96"
STRIDES = (2, 4, 8, 16, 32)
"""Strides of timm's stem and of the four stages of a ResNet, in pixels"""


@dataclass(frozen=True)
class FeatureMap:
    """Convolutional network that ends in a map of features."""

    module: nn.Module
    provenance: Provenance
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    """Mean and standard deviation that normalise the images"""
    stage: int

    @property
    def stride(self) -> int:
        """Pixels from one cell to the next."""
        return STRIDES[self.stage]

    @torch.no_grad()
    def __call__(self, images: Float[Tensor, "batch channels height width"]) -> Float[Tensor, "batch rows cols dim"]:
        """Compute the features of every cell, for normalised images on the CPU."""
        (features,) = self.module.forward_intermediates(images, indices=[self.stage], intermediates_only=True)
        return features.permute(0, 2, 3, 1)


@cache
def feature_map(patch_size: int) -> FeatureMap:
    """Return the network up to the stage with the largest stride that is at most `patch_size`."""
    stage = max([at for at, stride in enumerate(STRIDES) if stride <= patch_size], default=0)
    loaded = load_backbone(BUNDLED, device="cpu")
    for part in loaded.module.modules():
        if isinstance(part, nn.Conv2d):
            part.padding_mode = "circular"  # in place: nothing else shares the module
    mean, std = loaded.preprocessing.mean, loaded.preprocessing.std
    return FeatureMap(loaded.module, loaded.provenance, mean, std, stage)
