"""A convolutional network to hold a transformer against, up to the stage that is as coarse as its patches.

Its convolutions wrap around instead of padding with zeros: a shifted image wraps around as well, and a border of zeros
that stays where it is would be most of what random features tell.

The bundled residual network where it is there; otherwise timm's ResNet-18 with random weights from a fixed seed, which
is enough for what follows from convolution and not from training. Whoever shows it says which.
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

BUNDLED, OTHERWISE, SEED = "scenes_resnet_96", "resnet18", 0
STRIDES = (2, 4, 8, 16, 32)
"""of timm's stem and of the four stages of a ResNet"""


@dataclass(frozen=True)
class FeatureMap:
    """A CNN that ends in a map of features."""

    module: nn.Module
    provenance: Provenance
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    """what its images are normalised with"""
    stage: int = 0

    @property
    def stride(self) -> int:
        """Pixels from one cell to the next."""
        return STRIDES[self.stage]

    @torch.no_grad()
    def __call__(self, images: Float[Tensor, "batch channels height width"]) -> Float[Tensor, "batch rows cols dim"]:
        """Features of every cell, for normalised images on the processor."""
        (features,) = self.module.forward_intermediates(images, indices=[self.stage], intermediates_only=True)
        return features.permute(0, 2, 3, 1)


@cache
def feature_map(patch_size: int) -> FeatureMap:
    """The network up to the stage whose stride is the largest that is at most a patch."""
    stage = max([at for at, stride in enumerate(STRIDES) if stride <= patch_size], default=0)
    network = _network()
    return replace(network, module=_wrapping(network.module), stage=stage)


def _network() -> FeatureMap:
    if (ASSETS / "models" / BUNDLED / "model.safetensors").is_file():
        loaded = load_backbone(BUNDLED, "bundled", device="cpu")
        wanted = loaded.preprocessing
        return FeatureMap(loaded.module, loaded.provenance, wanted.mean, wanted.std)
    with seeded(SEED):
        # timm starts the last norm of each residual branch at zero, which leaves nothing of the branch
        module = timm.create_model(OTHERWISE, zero_init_last=False).eval()
    config = module.pretrained_cfg
    provenance = Provenance(OTHERWISE, "random", f"seed {SEED}")
    return FeatureMap(module, provenance, tuple(config["mean"]), tuple(config["std"]))


def _wrapping(module: nn.Module) -> nn.Module:
    """The module, which nobody else has, with convolutions that find the other side beyond an edge."""
    for part in module.modules():
        if isinstance(part, nn.Conv2d):
            part.padding_mode = "circular"
    return module
