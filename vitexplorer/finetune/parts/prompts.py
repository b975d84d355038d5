"""Prompt tokens in the sequence of a model with global attention.

They follow the prefix tokens, enter before the first block and leave after the last, so that norm, pooling and
classifier see the usual sequence. Learned and rotary positions do not apply to them; a relative position bias (BEiT)
gets rows and columns of 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vitexplorer.models.family import with_tokens, without_tokens
from vitexplorer.models.loading import LoadedModel


class Prompts(nn.Module):
    """`count` learned tokens, drawn from U(-v, v), v = sqrt(6 / (3 P^2 + D)) (VPT, arXiv 2203.12119, and its code)."""

    def __init__(self, count: int, width: int, patch_size: int, dropout: float = 0.0):
        super().__init__()
        bound = math.sqrt(6 / (3 * patch_size**2 + width))
        self.tokens = nn.Parameter(torch.empty(1, count, width).uniform_(-bound, bound))
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: int) -> Float[Tensor, "batch prompts dim"]:
        """Repeat the tokens for every image of a batch."""
        return self.dropout(self.tokens.expand(batch, -1, -1))


def prompt_sequence(model: LoadedModel, count: int, deep: bool, dropout: float) -> LoadedModel:
    """Insert prompts into the sequence of `model` at the first block or, if `deep`, new ones at every block."""
    module = model.module
    prefix = len(model.prefix_tokens)
    sites = model.blocks(model.preprocessing.input_size)
    blocks = [module.get_submodule(site.name) for site in sites]
    for place, block in enumerate(blocks):
        if deep or place == 0:
            block.add_module("prompts", Prompts(count, module.embed_dim, sites[place].grid.patch_size, dropout))
            block.register_forward_pre_hook(partial(_enter, prefix, count if place else 0))
        _make_room(block, prefix, count)
    blocks[-1].register_forward_hook(partial(_leave, prefix, count))
    if getattr(module, "rel_pos_bias", None) is not None:
        module.rel_pos_bias.register_forward_hook(partial(_widen, prefix, count))
    names = [f"prompt{number}" for number in range(1, count + 1)]
    return replace(model, family=with_tokens(model.family, *names, renewed=deep))


def _enter(prefix: int, replaced: int, block: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
    tokens, *others = args
    prompts = block.prompts(len(tokens))
    return torch.cat([tokens[:, :prefix], prompts, tokens[:, prefix + replaced :]], dim=1), *others


def _leave(prefix: int, count: int, block: nn.Module, args: tuple[Any, ...], tokens: Tensor) -> Tensor:
    return without_tokens(tokens, prefix, count)


def _make_room(block: nn.Module, prefix: int, count: int) -> None:
    """Adapt a block's attention to tokens without a place in the image."""
    attention = getattr(block, "attn", None)
    if hasattr(attention, "num_prefix_tokens"):  # tokens that rotary positions skip
        attention.num_prefix_tokens += count
    if getattr(attention, "relative_position_bias_table", None) is not None:
        widen_table(attention, prefix, count)


def widen_table(attention: nn.Module, at: int, count: int) -> None:
    """Insert rows and columns of 0 into the relative position bias that `attention` looks up in its table."""
    attention._get_rel_pos_bias = partial(_widened_bias, attention._get_rel_pos_bias, at, count)


def _widened_bias(bias: Callable[[], Tensor], at: int, count: int) -> Tensor:
    return widened(bias(), at, count)


def _widen(at: int, count: int, module: nn.Module, args: tuple[Any, ...], bias: Tensor) -> Tensor:
    return widened(bias, at, count)


def widened(bias: Float[Tensor, "*any tokens tokens"], at: int, count: int) -> Float[Tensor, "*any more more"]:
    """Insert `count` rows and columns of 0 at index `at`."""
    for dim in (-2, -1):
        before, after = bias.split([at, bias.shape[dim] - at], dim)
        shape = list(bias.shape)
        shape[dim] = count
        bias = torch.cat([before, bias.new_zeros(shape), after], dim)
    return bias
