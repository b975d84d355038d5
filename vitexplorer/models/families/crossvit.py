"""CrossViT (arXiv 2103.14899): two branches with patches of two sizes, whose class tokens look into the other branch.

A branch whose patches are no whole number of the input's pixels wide is left out: it reads a resized image, and its
cells cannot be drawn on the input without guessing.
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
    """Two-branch transformers: the branches that lie on the input."""

    key = "crossvit"
    title = same("CrossViT")
    of = (CrossVit,)
    left_out = Text(
        "branches whose patches are not a whole number of the input's pixels wide: they read a resized image",
        "图块宽度不是输入像素整数倍的分支：它们读取的是缩放后的图像",
    )

    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """The class token."""
        return ("cls",)

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """Each branch's own blocks, and the class tokens that look into it."""
        grids = [
            PatchGrid(size[0] // patch, size[1] // patch, input_size[0] * patch // size[0], 1)
            if input_size[0] * patch % size[0] == 0
            else None
            for size, patch in zip(module.img_size_scaled, (e.patch_size[0] for e in module.patch_embed), strict=True)
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
                into = grids[(branch + 1) % len(grids)]
                if into is not None:
                    sites.append(BlockSite(f"blocks.{i}.fusion.{branch}.attn", into, layout=class_only(into)))
        return numbered(sites)


FAMILY = CrossvitFamily()
