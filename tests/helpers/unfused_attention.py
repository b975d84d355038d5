"""Attention computed by timm itself without fused kernels, recorded by hooks on a copy of the module.

The other way to see attention: slower, in a changed model, and independent of the package.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Explicit:
    """One forward pass, block by block."""

    output: Tensor
    attention: list[Tensor]
    """Output of the module's own softmax, (windows, heads, T, T)"""
    product: list[Tensor]
    """Attention @ values as used by the module, heads concatenated, (windows, T, dim)"""
    residual: list[Tensor]
    """Input of each block, (1, tokens, dim) or (1, rows, cols, dim)"""
    residual_after: list[Tensor]
    """Output of each block, in the same layout"""


def blocks_of(module: nn.Module) -> list[nn.Module]:
    """Return all blocks in order, across stages if there are any."""
    return list(module.blocks) if hasattr(module, "blocks") else [b for stage in module.layers for b in stage.blocks]


def with_fused_attention(module: nn.Module, fused: bool) -> nn.Module:
    """Copy a module with fused attention or an explicit softmax, wherever timm has both."""
    twin = copy.deepcopy(module)
    for part in twin.modules():
        if hasattr(part, "fused_attn"):
            part.fused_attn = fused
    return twin


@lru_cache(maxsize=32)
@torch.no_grad()
def run_explicitly(module: nn.Module, pixels: Tensor) -> Explicit:
    """Run a copy without fused attention; record what passes its softmax, its output projection and its blocks.

    Views are compared with the same pass, so the last ones are kept; tests must not change what they get.
    """
    twin = with_fused_attention(module, False)
    attention, product, residual, residual_after = [], [], [], []
    for block in blocks_of(twin):
        part = getattr(block, "attn", block)
        if hasattr(part, "attn_out_proj"):  # attention and MLP in parallel
            after = part.attn_out_proj
        else:
            after = getattr(part, "norm", part.proj)  # timm's optional norm between product and projection
        part.attn_drop.register_forward_pre_hook(_append_input_to(attention))
        after.register_forward_pre_hook(_append_input_to(product))
        block.register_forward_pre_hook(_append_input_to(residual))
        block.register_forward_hook(lambda _, inputs, output: residual_after.append(output))
    return Explicit(twin(pixels), attention, product, residual, residual_after)


def _append_input_to(seen: list[Tensor]):
    def hook(_, inputs: tuple[Tensor, ...]) -> None:
        seen.append(inputs[0])

    return hook
