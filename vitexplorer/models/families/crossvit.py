"""CrossViT (arXiv 2103.14899): two branches of different patch size, whose class tokens attend to the other branch.

A branch whose patches are not a whole number of the input's pixels wide is left out: it reads a resized image, and its
cells do not align with the input's pixels.
"""

from __future__ import annotations

from timm.models.crossvit import CrossVit
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import PatchGrid
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, of_class, over_grid


class CrossvitFamily(AttentionOnlyFamily):
    """Two-branch transformers; only the branches whose cells align with the input."""

    title = same("CrossViT")
    of = (CrossVit,)
    left_out = Text(
        "branches whose patches are not a whole number of the input's pixels wide: they read a resized image",
        "图块宽度不是输入像素整数倍的分支：它们读取的是缩放后的图像",
    )

    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """Name the class token, of which each branch has its own."""
        return ("cls",)

    def sites(self, module: nn.Module, input_size: tuple[int, int]) -> Sites:
        """Yield each branch's own blocks, and the class attention from the other branch."""
        grids = [
            _branch_grid(input_size[0], size, embed.patch_size[0])
            for size, embed in zip(module.img_size_scaled, module.patch_embed, strict=True)
        ]
        for i, block in enumerate(module.blocks):
            for branch, layers in enumerate(block.blocks):
                if grids[branch] is not None:
                    for j in range(len(layers)):
                        yield over_grid(f"blocks.{i}.blocks.{branch}.{j}.attn", grids[branch])
            for branch in range(len(block.fusion)):
                other = grids[(branch + 1) % len(grids)]
                if other is not None:
                    yield of_class(f"blocks.{i}.fusion.{branch}.attn", other)


def _branch_grid(height: int, scaled: tuple[int, int], patch: int) -> PatchGrid | None:
    """Return the grid of patches in an image scaled to this size; None if they are not whole pixels of the input."""
    cell, rest = divmod(height * patch, scaled[0])
    return None if rest else PatchGrid(scaled[0] // patch, scaled[1] // patch, cell, 1)


FAMILY = CrossvitFamily()
