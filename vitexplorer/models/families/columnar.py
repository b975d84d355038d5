"""Base of families whose tokens keep one patch grid from the first block to the last."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from timm.layers import resample_abs_pos_embed
from torch import Tensor, nn

from vitexplorer.core.types import BlockSite, PatchGrid, Reading
from vitexplorer.models.family import ModelFamily


class ColumnarFamily(ModelFamily):
    """Family in which every block attends over all tokens: prefix tokens first, then the patches row by row."""

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List one site for each block, all on the same grid."""
        grid = self.grid(module, input_size)
        return tuple(BlockSite(name=f"blocks.{i}", grid=grid) for i in range(len(module.blocks)))

    def grid(self, module: nn.Module, input_size: tuple[int, int]) -> PatchGrid:
        """Return the patch grid of an input of (height, width) pixels.

        Pixels beyond the last whole patch are cut off: SigLIP so400m reads 384 pixels as 27 patches of 14.
        """
        rows, cols = module.patch_embed.dynamic_feat_size(input_size)
        return PatchGrid(rows, cols, module.patch_embed.feat_ratio(), len(self.prefix_tokens(module)))

    def size_multiple(self, module: nn.Module) -> tuple[int, int] | None:
        """Return the patch size if position embeddings are resampled in each pass, otherwise None."""
        if not getattr(module, "dynamic_img_size", False):
            return None
        return tuple(module.patch_embed.feat_ratio(as_scalar=False))

    def size_step(self, module: nn.Module) -> tuple[int, int] | None:
        """Return the patch size: positions are resampled in each pass, or once by timm."""
        return tuple(module.patch_embed.feat_ratio(as_scalar=False))

    def learned_grid(self, module: nn.Module) -> tuple[int, int] | None:
        """Return the patch grid that the module was built for."""
        return None if module.pos_embed is None else tuple(module.patch_embed.grid_size)

    def learned_positions(self, module: nn.Module, grid: PatchGrid) -> Float[Tensor, "patches dim"] | None:
        """Return the patches' part of `pos_embed`, resampled by timm's function for another grid."""
        old = self.learned_grid(module)
        if old is None:
            return None
        num_prefix = module.pos_embed.shape[1] - old[0] * old[1]  # may be 0 in models with prefix tokens
        resampled = resample_abs_pos_embed(
            module.pos_embed.detach(), new_size=[grid.rows, grid.cols], old_size=list(old), num_prefix_tokens=num_prefix
        )
        return resampled[0, num_prefix:]

    def without_positions(self, module: nn.Module) -> tuple[tuple[Tensor, Tensor], ...]:
        """Return the learned embedding, with the prefix tokens' rows, replaced by zeros."""
        return () if module.pos_embed is None else ((module.pos_embed, torch.zeros_like(module.pos_embed)),)

    def shuffled_positions(self, module: nn.Module, order: Int[Tensor, " patches"]) -> tuple[Tensor, Tensor] | None:
        """Return `pos_embed` and a copy with the patches' rows in another order; prefix tokens keep theirs."""
        if module.pos_embed is None:
            return None
        table = module.pos_embed.detach()
        num_prefix = table.shape[1] - len(order)
        return module.pos_embed, torch.cat([table[:, :num_prefix], table[:, num_prefix:][:, order]], dim=1)

    def readings(self, module: nn.Module) -> tuple[Reading, ...]:
        """Return the class and distillation token if present, the mean over patches, and the module's own pooling."""
        named = [name for name in ("cls", "dist") if name in self.prefix_tokens(module)]
        own = self.own_reading(module)
        return (*named, "mean", *(("own",) if own == "own" else ()))

    def own_reading(self, module: nn.Module) -> Reading:
        """Return the class token or the patches' mean; "own" for attention pooling, maxima and means with prefix."""
        if getattr(module, "attn_pool", None) is not None or getattr(module, "pool_include_prefix", False):
            return "own"
        if module.global_pool == "token" and "cls" in self.prefix_tokens(module):
            return "cls"
        return "mean" if module.global_pool == "avg" else "own"

    def final_norm(
        self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]
    ) -> Float[Tensor, "batch tokens dim"]:
        """Apply `norm` or, in models that pool first, `fc_norm`; timm makes the other one an identity."""
        return module.fc_norm(module.norm(tokens))

    def embedding(self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]) -> Float[Tensor, "batch dim"]:
        """Apply norm, the module's own pooling and the norm after it; a distilled DeiT averages both tokens."""
        return module.forward_head(module.norm(tokens), pre_logits=True)

    def read_each(
        self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]
    ) -> Float[Tensor, "batch tokens classes"]:
        """Apply the final norm and the classifier; of two classifiers, the class token's."""
        return module.head(self.final_norm(module, tokens))

    def read_out(
        self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"], reading: Reading
    ) -> Float[Tensor, "batch classes"]:
        """Apply norm, pooling, the norm after it and the classifier; the distillation token has its own classifier."""
        normed = module.norm(tokens)
        if reading == "own":
            return module.forward_head(normed)
        prefix_tokens = self.prefix_tokens(module)
        if reading == "mean":
            pooled = normed[:, len(prefix_tokens) :].mean(1)
        else:
            pooled = normed[:, prefix_tokens.index(reading)]
        classifier = module.head_dist if reading == "dist" else module.head
        return classifier(module.fc_norm(pooled))
