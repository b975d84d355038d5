"""ViT and other models of timm's class: DeiT, DeiT III, DINO, DINOv2, CLIP, SigLIP, MAE encoder, hybrids.

Dosovitskiy et al. 2021, arXiv 2010.11929. The class token is first, DeiT's distillation token second
(arXiv 2012.12877), registers follow the class token (arXiv 2309.16588); SigLIP has no prefix tokens.
"""

from __future__ import annotations

from timm.models.vision_transformer import VisionTransformer
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import Reading
from vitexplorer.models.families.columnar import ColumnarFamily


class VitFamily(ColumnarFamily):
    """Plain vision transformers."""

    title = same("ViT")
    of = (VisionTransformer,)

    def own_reading(self, module: nn.Module) -> Reading:
        """Return the columnar reading, or "own" for a distilled DeiT, which averages its two classifiers' outputs."""
        return "own" if "dist" in self.prefix_tokens(module) else super().own_reading(module)


FAMILY = VitFamily()
