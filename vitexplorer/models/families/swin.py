"""Swin and Swin V2 (arXiv 2103.14030, 2111.09883): attention in windows that shift, on a grid that halves.

No prefix token. Block i belongs to a stage; every stage after the first begins by merging 2 x 2 patches.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from timm.models.swin_transformer import SwinTransformer
from timm.models.swin_transformer_v2 import SwinTransformerV2
from torch import Tensor, nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite, PatchGrid, Reading, WindowLayout
from vitexplorer.models.family import ModelFamily


class SwinFamily(ModelFamily):
    """Hierarchical transformers with shifted windows."""

    title = same("Swin")
    of = (SwinTransformer, SwinTransformerV2)

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List the blocks of all stages; each block has its own window size, smaller on small grids."""
        rows, cols = module.patch_embed.dynamic_feat_size(input_size)
        cell_size = module.patch_embed.patch_size[0]
        sites = []
        for s, stage in enumerate(module.layers):
            if s > 0:
                rows, cols = -(-rows // 2), -(-cols // 2)
                cell_size *= 2
            for b, block in enumerate(stage.blocks):
                sites.append(
                    BlockSite(
                        name=f"layers.{s}.blocks.{b}",
                        grid=PatchGrid(rows, cols, cell_size),
                        windows=WindowLayout(tuple(block.window_size), tuple(block.shift_size)),
                    )
                )
        return tuple(sites)

    def size_multiple(self, module: nn.Module) -> tuple[int, int] | None:
        """Return the cell size of the last stage, so that no merging has to pad."""
        return self.size_step(module) if module.dynamic_img_size else None

    def size_step(self, module: nn.Module) -> tuple[int, int] | None:
        """Return the cell size of the last stage, whether the windows keep their size or grow with the grid."""
        height, width = module.patch_embed.patch_size
        return height * 2 ** (len(module.layers) - 1), width * 2 ** (len(module.layers) - 1)

    def relative_bias(self, module: nn.Module, block: int) -> Float[Tensor, "heads row_offsets col_offsets"] | None:
        """Return Swin's table; in Swin V2 compute 16 sigmoid(MLP(log-spaced offsets))."""
        attn = _blocks(module)[block].attn
        if isinstance(module, SwinTransformer):
            rows, cols = (2 * side - 1 for side in attn.window_size)
            table = attn.relative_position_bias_table
        else:
            rows, cols = attn.relative_coords_table.shape[1:3]
            table = 16 * attn.cpb_mlp(attn.relative_coords_table).sigmoid().flatten(0, -2)
        table = table.detach()[: rows * cols]  # prompts add one more row
        return table.reshape(rows, cols, -1).permute(2, 0, 1)

    def without_positions(self, module: nn.Module) -> tuple[tuple[Tensor, Tensor], ...]:
        """Return Swin's tables replaced by zeros; in Swin V2 zero offsets, so that all pairs get the same bias."""
        name = "relative_position_bias_table" if isinstance(module, SwinTransformer) else "relative_coords_table"
        tables = [getattr(block.attn, name) for block in _blocks(module)]
        return tuple((table, torch.zeros_like(table)) for table in tables)

    def temperature(self, module: nn.Module, block: int) -> Float[Tensor, " heads"] | None:
        """Return Swin V2's factor of the cosine, at most 100 (arXiv 2111.09883, section 3.2); None for Swin."""
        if isinstance(module, SwinTransformer):
            return None
        return _blocks(module)[block].attn.logit_scale.detach().clamp(max=math.log(100)).exp().flatten()

    def readings(self, module: nn.Module) -> tuple[Reading, ...]:
        """Return the mean over patches, and the module's own pooling if it differs."""
        return ("mean",) if self.own_reading(module) == "mean" else ("mean", "own")

    def own_reading(self, module: nn.Module) -> Reading:
        """Return the mean over patches unless the module was built with another pooling."""
        return "mean" if module.global_pool == "avg" else "own"

    def final_norm(
        self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]
    ) -> Float[Tensor, "batch tokens dim"]:
        """Apply the norm after the last stage; tokens of earlier stages are too narrow for it."""
        return module.norm(tokens)

    def embedding(self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]) -> Float[Tensor, "batch dim"]:
        """Apply norm and pooling to tokens of the last stage."""
        return module.forward_head(self.final_norm(module, tokens)[:, None], pre_logits=True)

    def read_each(
        self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]
    ) -> Float[Tensor, "batch tokens classes"]:
        """Apply the final norm and the classifier."""
        return module.head.fc(self.final_norm(module, tokens))

    def read_out(
        self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"], reading: Reading
    ) -> Float[Tensor, "batch classes"]:
        """Apply norm, pooling and classifier to tokens of the last stage."""
        normed = self.final_norm(module, tokens)
        if reading == "own":
            return module.head(normed[:, None])  # as a grid of one row
        return module.head.fc(normed.mean(1))


def _blocks(module: nn.Module) -> list[nn.Module]:
    return [block for stage in module.layers for block in stage.blocks]


FAMILY = SwinFamily()
