"""EVA, EVA-02 (arXiv 2303.11331) and DINOv3 (arXiv 2508.10104): rotary positions, class token and registers.

The rotation is applied to q and k of the patch tokens before the attention call, so a capture contains it.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from timm.models.eva import Eva
from torch import Tensor, nn

from vitexplorer.core.text import same
from vitexplorer.core.types import PatchGrid
from vitexplorer.models.families.columnar import ColumnarFamily


class EvaFamily(ColumnarFamily):
    """Vision transformers with rotary position embeddings."""

    title = same("EVA / DINOv3")
    of = (Eva,)

    def rotary_positions(self, module: nn.Module, grid: PatchGrid) -> Float[Tensor, "patches angles"] | None:
        """Return the angles of `get_embed`: sines, then cosines; RoPE-mixed has one set for each block and head."""
        rope = module.rope
        if rope is None:
            return None
        is_cached = hasattr(rope, "feat_shape") and not module.dynamic_img_size
        embed = rope.get_embed() if is_cached else rope.get_embed(shape=[grid.rows, grid.cols])
        sines, cosines = (
            half.detach().reshape(-1, *half.shape[-2:]).transpose(0, 1).flatten(1) for half in embed.chunk(2, -1)
        )
        return torch.cat([sines, cosines], dim=-1)

    def without_positions(self, module: nn.Module) -> tuple[tuple[Tensor, Tensor], ...]:
        """Return the position embedding replaced by zeros, and every rotation by an angle of zero."""
        named = {} if module.rope is None else dict([*module.rope.named_buffers(), *module.rope.named_parameters()])
        rotations = tuple(
            (tensor, _without_rotation(name, tensor)) for name, tensor in named.items() if name in _NO_ROTATION
        )
        return (*super().without_positions(module), *rotations)


_NO_ROTATION = {
    "bands": 0.0,
    "freqs": 0.0,
    "inv_freq": 0.0,
    "periods": math.inf,
    "pos_embed_sin": 0.0,
    "pos_embed_cos": 1.0,
    "pos_embed": None,
    "pos_embed_cached": None,
}
"""Values without rotation of timm's tensors that define or cache the angles; None for cached sines, then cosines"""


def _without_rotation(name: str, tensor: Tensor) -> Tensor:
    value = _NO_ROTATION[name]
    if value is not None:
        return torch.full_like(tensor, value)
    sines, cosines = tensor.detach().chunk(2, -1)
    return torch.cat([torch.zeros_like(sines), torch.ones_like(cosines)], dim=-1)


FAMILY = EvaFamily()
