"""Image half of dino.txt: a DINOv2 or DINOv3 backbone, then a head of transformer blocks trained with texts.

Jose et al. 2024, arXiv 2412.16334, section 3; sizes and order as in the released code of DINOv2 and DINOv3. The head
reads the backbone's tokens after its final norm, registers included, without positions. The image's vector is the class
token beside the mean of the patch tokens, both after the head's norm; registers are left out only here. So the first
half of a text's vector belongs to the class token, and the second to the patches.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from timm.layers import SwiGLU
from timm.models.eva import Eva
from timm.models.vision_transformer import Block, VisionTransformer
from torch import Tensor, nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite, Reading
from vitexplorer.models.checkpoints.renaming import ratio
from vitexplorer.models.families.eva import EvaFamily
from vitexplorer.models.seeding import seeded

NORM_EPS = 1e-5
"""Epsilon of the head's norms, torch's default; that of the backbone may differ"""


class VisionHead(nn.Module):
    """Blocks behind a backbone, the last norm, and a linear layer if there is one."""

    def __init__(self, width: int, heads: int, depth: int, hidden: int, projection: int | None):
        super().__init__()
        norm = partial(nn.LayerNorm, eps=NORM_EPS)
        parts = {"norm_layer": norm, "mlp_layer": SwiGLU, "act_layer": nn.SiLU, "init_values": 1e-5}
        self.blocks = nn.Sequential(*(Block(width, heads, ratio(hidden, width), **parts) for _ in range(depth)))
        self.norm = norm(width)
        self.proj = nn.Identity() if projection is None else nn.Linear(width, projection, bias=False)
        self.half = projection or width
        """Numbers of each token in the end, half those of an image's vector"""

    def forward(self, tokens: Float[Tensor, "batch tokens dim"]) -> Float[Tensor, "batch tokens half"]:
        """Return the tokens as they enter the image's vector."""
        return self.read(self.blocks(tokens))

    def read(self, tokens: Float[Tensor, "batch tokens dim"]) -> Float[Tensor, "batch tokens half"]:
        """Do what follows the last block."""
        return self.proj(self.norm(tokens))


class DinoTxt:
    """Forward pass of a timm backbone with the head behind it."""

    vision_head: VisionHead
    num_prefix_tokens: int
    head: nn.Module
    """Classifier, if the model was tuned for one"""

    def forward_features(self, x: Float[Tensor, "batch channels height width"], **masks: Any) -> Tensor:
        """Return the head's tokens; `masks` are those of timm, for the backbone's attention."""
        return self.vision_head(super().forward_features(x, **masks))

    def forward_head(self, x: Float[Tensor, "batch tokens half"], pre_logits: bool = False) -> Tensor:
        """Return the image's vector, the class token beside the mean patch, or a classifier's answer to it."""
        pooled = torch.cat([x[:, 0], x[:, self.num_prefix_tokens :].mean(1)], dim=-1)
        return pooled if pre_logits else self.head(pooled)

    def reset_classifier(self, num_classes: int, global_pool: str | None = None) -> None:
        """Put a new classifier on the image's vector; the pooling stays."""
        self.num_classes = num_classes
        self.head = nn.Linear(2 * self.vision_head.half, num_classes) if num_classes else nn.Identity()


class DinoTxtVit(DinoTxt, VisionTransformer):
    """dino.txt on DINOv2."""

    rope = None


class DinoTxtEva(DinoTxt, Eva):
    """dino.txt on DINOv3."""


_TOWERS: Mapping[type[nn.Module], type[nn.Module]] = {VisionTransformer: DinoTxtVit, Eva: DinoTxtEva}


def add_vision_head(module: nn.Module, depth: int, hidden: int, projection: int | None) -> None:
    """Turn a backbone into the image half of a dino.txt in place, with a random head.

    Args:
        module: timm's DINOv2 or DINOv3, whose class changes too: timm's builders make none but their own.
        depth: blocks of the head.
        hidden: hidden width of their gated MLPs (SwiGLU).
        projection: width of a token after the linear layer behind the last norm; None without that layer.
    """
    module.__class__ = _TOWERS[type(module)]
    with seeded(0):
        module.vision_head = VisionHead(module.embed_dim, module.blocks[0].attn.num_heads, depth, hidden, projection)


class DinoTxtFamily(EvaFamily):
    """Backbone and head as one column of blocks; without rotary positions in DINOv2 and in the head."""

    key = "dino_txt"
    title = same("dino.txt")
    of = (DinoTxtVit, DinoTxtEva)
    joins_halves = True

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List the backbone's blocks, then the head's, all on the same grid."""
        grid = self.grid(module, input_size)
        head = (BlockSite(name=f"vision_head.blocks.{i}", grid=grid) for i in range(len(module.vision_head.blocks)))
        return (*super().blocks(module, input_size), *head)

    def readings(self, module: nn.Module) -> tuple[Reading, ...]:
        """Return the module's own pooling: no single token fills both halves of the image's vector."""
        return ("own",)

    def own_reading(self, module: nn.Module) -> Reading:
        """Return "own": class token and mean patch side by side."""
        return "own"

    def final_norm(
        self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]
    ) -> Float[Tensor, "batch tokens half"]:
        """Apply the head's norm and the linear layer behind it, if there is one."""
        return module.vision_head.read(tokens)

    def embedding(self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]) -> Float[Tensor, "batch dim"]:
        """Return the image's vector, before a classifier."""
        return module.forward_head(module.vision_head.read(tokens), pre_logits=True)

    def read_each(
        self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]
    ) -> Float[Tensor, "batch tokens half"]:
        """Return the half of a vector in the joint space that each token gives."""
        return self.final_norm(module, tokens)

    def read_out(
        self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"], reading: Reading
    ) -> Float[Tensor, "batch classes"]:
        """Apply norm, pooling and the classifier, if there is one."""
        return module.forward_head(module.vision_head.read(tokens))


FAMILY = DinoTxtFamily()
