"""Changed networks the slow way: a copy of the module, its parameters overwritten and its softmax corrected by hooks.

Everything is done to the weights after the softmax, where the package works on the scores before it: dropping keys is
setting their weights to zero and dividing each row by its sum. Nothing here looks at the package.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from tests.helpers.unfused_attention import blocks_of, with_fused_attention

WeightEdit = Callable[[int, np.ndarray], np.ndarray]
"""(block, weights (windows, heads, queries, keys)) -> weights"""


@torch.no_grad()
def run_changed(
    module: nn.Module, pixels: Tensor, weights: WeightEdit | None = None, off: frozenset[tuple[int, int]] = frozenset()
) -> Tensor:
    """Run a copy whose softmax is corrected by `weights` and whose heads `off`, (block, head), output zeros."""
    twin = with_fused_attention(module, False)
    for number, block in enumerate(blocks_of(twin)):
        part = getattr(block, "attn", block)
        if weights:
            part.attn_drop.register_forward_hook(_corrected(number, weights))
        after = part.attn_out_proj if hasattr(part, "attn_out_proj") else getattr(part, "norm", part.proj)
        after.register_forward_pre_hook(_zeroed([head for of, head in off if of == number], part.num_heads))
    return twin(pixels)


def _corrected(number: int, weights: WeightEdit):
    return lambda _, inputs, out: torch.from_numpy(weights(number, out.numpy().astype(float))).to(out)


def _zeroed(heads: list[int], num_heads: int):
    def hook(_, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        side_by_side = inputs[0].clone()  # (..., heads x head dim)
        wide = side_by_side.shape[-1] // num_heads
        for head in heads:
            side_by_side[..., head * wide : (head + 1) * wide] = 0
        return (side_by_side, *inputs[1:])

    return hook


# ------------------------------------------------------------------------------------------------ what is done to rows


def only_top(row: np.ndarray, k: int) -> np.ndarray:
    """Keep the k largest weights of a row, ties with the last included, as a distribution."""
    smallest = sorted(row, reverse=True)[:k][-1]
    largest = np.array([weight if weight >= smallest else 0.0 for weight in row])
    return largest / largest.sum()


def each_row(change: Callable[[np.ndarray, int], np.ndarray]) -> WeightEdit:
    """Return an edit that applies `change`, a function of query and row, to every row of every block."""

    def edit(_: int, weights: np.ndarray) -> np.ndarray:
        out = weights.copy()
        for window, head, query in np.ndindex(weights.shape[:3]):
            out[window, head, query] = change(weights[window, head, query], query)
        return out

    return edit


def without_keys(hidden: set[int]) -> WeightEdit:
    """Return an edit by which only hidden tokens attend to themselves."""

    def change(row: np.ndarray, query: int) -> np.ndarray:
        visible = np.array([0.0 if key in hidden and key != query else weight for key, weight in enumerate(row)])
        return visible / visible.sum()

    return each_row(change)


def averaged_heads(heads: set[tuple[int, int]]) -> WeightEdit:
    """Return an edit that gives every query of these heads their mean attention."""

    def edit(block: int, weights: np.ndarray) -> np.ndarray:
        out = weights.copy()
        for window, head in np.ndindex(weights.shape[:2]):
            if (block, head) in heads:
                out[window, head] = sum(weights[window, head]) / weights.shape[2]
        return out

    return edit


# ------------------------------------------------------------------------------------------------ positions


@torch.no_grad()
def without_positions(module: nn.Module) -> nn.Module:
    """Copy the model without its position information."""
    twin = copy.deepcopy(module)
    if getattr(twin, "rope", None) is not None:
        twin.rope = None
    for name, parameter in twin.named_parameters():
        if name == "pos_embed" or name.endswith("relative_position_bias_table"):
            parameter.zero_()
    for name, part in twin.named_modules():
        if name.endswith("cpb_mlp"):  # Swin V2: the same bias for every offset
            part.register_forward_hook(lambda _, inputs, out: torch.zeros_like(out))
    return twin
