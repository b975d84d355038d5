"""Convolutional feature map for comparison with a transformer, up to the stage that is as coarse as its patches.

The convolutions pad circularly instead of with zeros: shifted images wrap around as well, and a fixed border of zeros
would dominate random features.

The network is the bundled ResNet if it is installed, otherwise timm's ResNet-18 with random weights from a fixed seed.
That is enough to show effects of convolution rather than of training; `provenance` says which one it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import timm
import torch
from jaxtyping import Float
from torch import Tensor, nn

from vitexplorer.core.settings import ASSETS
from vitexplorer.core.types import Provenance
from vitexplorer.models.loading import load_backbone
from vitexplorer.models.seeding import seeded

BUNDLED, FALLBACK, SEED = "scenes_resnet_96", "resnet18", 0
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
    stage: int = 0

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
    network = _network()
    return replace(network, module=_pad_circularly(network.module), stage=stage)


def _network() -> FeatureMap:
    if (ASSETS / "models" / BUNDLED / "model.safetensors").is_file():
        loaded = load_backbone(BUNDLED, "bundled", device="cpu")
        return FeatureMap(loaded.module, loaded.provenance, loaded.preprocessing.mean, loaded.preprocessing.std)
    with seeded(SEED):
        # timm initialises the last norm of each residual branch to zero, which would switch the branch off
        module = timm.create_model(FALLBACK, zero_init_last=False).eval()
    config = module.pretrained_cfg
    provenance = Provenance(FALLBACK, "random", f"seed {SEED}")
    return FeatureMap(module, provenance, tuple(config["mean"]), tuple(config["std"]))


def _pad_circularly(module: nn.Module) -> nn.Module:
    """Switch every convolution of `module` to circular padding, in place; nothing else shares the module."""
    for part in module.modules():
        if isinstance(part, nn.Conv2d):
            part.padding_mode = "circular"
    return module
