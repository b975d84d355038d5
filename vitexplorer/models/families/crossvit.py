"""CrossViT (arXiv 2103.14899): two branches of different patch size, whose class tokens attend to the other branch.

A branch whose patches are not a whole number of the input's pixels wide is left out: it reads a resized image, and its
cells do not align with the input's pixels.
"""

from __future__ import annotations

from timm.models.crossvit import CrossVit
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import BlockSite, PatchGrid
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    between,
    class_only,
    numbered,
)


class CrossvitFamily(AttentionOnlyFamily):
    """Two-branch transformers; only the branches whose cells align with the input."""

    key = "crossvit"
    title = same("CrossViT")
    of = (CrossVit,)
    left_out = Text(
        "branches whose patches are not a whole number of the input's pixels wide: they read a resized image",
        "图块宽度不是输入像素整数倍的分支：它们读取的是缩放后的图像",
    )

    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """Name the class token."""
        return ("cls",)

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List each branch's own blocks, and the class attention from the other branch."""
        grids = [
            PatchGrid(size[0] // patch, size[1] // patch, input_size[0] * patch // size[0], 1)
            if input_size[0] * patch % size[0] == 0
            else None
            for size, patch in zip(
                module.img_size_scaled, (embed.patch_size[0] for embed in module.patch_embed), strict=True
            )
        ]
        sites = []
        for i, block in enumerate(module.blocks):
            for branch, layers in enumerate(block.blocks):
                if grids[branch] is not None:
                    layout = between(grids[branch], grids[branch])
                    sites += [
                        BlockSite(f"blocks.{i}.blocks.{branch}.{j}.attn", grids[branch], layout=layout)
                        for j in range(len(layers))
                    ]
            for branch in range(len(block.fusion)):
                other = grids[(branch + 1) % len(grids)]
                if other is not None:
                    sites.append(BlockSite(f"blocks.{i}.fusion.{branch}.attn", other, layout=class_only(other)))
        return numbered(sites)


FAMILY = CrossvitFamily()
