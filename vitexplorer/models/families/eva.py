"""EVA, EVA-02 (arXiv 2303.11331) and DINOv3 (arXiv 2508.10104): rotary positions, class token and registers.

The rotation is applied to q and k of the patch tokens before the attention call, so a capture sees it done.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from timm.models.eva import Eva
from torch import Tensor, nn

from vitexplorer.models.families.columnar import ColumnarFamily
from vitexplorer.types import PatchGrid
from vitexplorer.words import same


class EvaFamily(ColumnarFamily):
    """Vision transformers with rotary position embeddings."""

    key = "eva"
    title = same("EVA / DINOv3")

    def claims(self, module: nn.Module) -> bool:
        """timm's Eva."""
        return isinstance(module, Eva)

    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """The class token where there is one, then the registers."""
        names = ["cls"] if module.cls_token is not None else []
        registers = module.num_prefix_tokens - len(names)
        return (*names, *(f"reg{n}" for n in range(1, registers + 1)))

    def rotary_positions(self, module: nn.Module, grid: PatchGrid) -> Float[Tensor, "patches angles"] | None:
        """What `get_embed` hands to the blocks: sines, then cosines; heads and blocks of RoPE-mixed side by side."""
        rope = module.rope
        if rope is None:
            return None
        is_cached = hasattr(rope, "feat_shape") and not module.dynamic_img_size
        embed = rope.get_embed() if is_cached else rope.get_embed(shape=[grid.rows, grid.cols])
        sines, cosines = (
            half.detach().reshape(-1, *half.shape[-2:]).transpose(0, 1).flatten(1) for half in embed.chunk(2, -1)
        )
        return torch.cat([sines, cosines], dim=-1)


FAMILY = EvaFamily()
