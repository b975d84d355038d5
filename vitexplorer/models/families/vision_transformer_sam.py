"""Image encoder of Segment Anything (arXiv 2304.02643): plain blocks in padded windows, some of them global."""

from __future__ import annotations

from collections.abc import Callable

from timm.models.vision_transformer_sam import VisionTransformerSAM
from torch import Tensor, nn

from vitexplorer.core.text import same
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, embedded, in_windows, over_grid


class VisionTransformerSamFamily(AttentionOnlyFamily):
    """Plain transformers with windows."""

    title = same("ViT (SAM)")
    of = (VisionTransformerSAM,)
    any_size = True

    def sites(self, module: nn.Module, input_size: tuple[int, int]) -> Sites:
        """Yield all blocks; padding is not masked and receives attention."""
        grid = embedded(module.patch_embed, input_size)
        for i, block in enumerate(module.blocks):
            name, arrange = f"blocks.{i}.attn", _by_heads(block.attn.num_heads)
            if block.window_size > 0:
                yield in_windows(name, grid, (block.window_size,) * 2, arrange=arrange)
            else:
                yield over_grid(name, grid, arrange=arrange)


def _by_heads(num_heads: int) -> Callable[[Tensor], Tensor]:
    """Make a function that rearranges (windows x heads, tokens, dim) to (windows, heads, tokens, dim)."""
    return lambda tensor: tensor.unflatten(0, (-1, num_heads))


FAMILY = VisionTransformerSamFamily()
